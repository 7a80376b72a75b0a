// Tensors of Python subclasses: _make_subclass, _make_wrapper_subclass, as_subclass.
#include "python/op_objects.h"
#include "python/types.h"

namespace taeda::python {

namespace {
Tensor shallow_alias(const Tensor& t) {
  Tensor alias(t->shallow_copy());
  alias->share_versions_of(*t.impl());
  return alias;
}
bool flagged_requires_grad(const Tensor& t) { return t->has_grad_flag(); }
void refuse_grad(const Tensor&, bool) {
  TAEDA_FAIL(Runtime, "gradients need the autograd library, which is not loaded");
}
}  // namespace

Hooks hooks{.detach = shallow_alias,
            .alias = shallow_alias,
            .requires_grad = flagged_requires_grad,
            .set_requires_grad = refuse_grad};

PyTypeObject* check_tensor_class(PyObject* cls) {
  TAEDA_CHECK_TYPE(PyType_Check(cls) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), tensor_base_type),
                   "takes a class that derives from Tensor; got ",
                   PyType_Check(cls) ? reinterpret_cast<PyTypeObject*>(cls)->tp_name : Py_TYPE(cls)->tp_name);
  return reinterpret_cast<PyTypeObject*>(cls);
}

namespace {
// Whether the class has a __torch_dispatch__ of its own.
bool wants_dispatch(PyTypeObject* cls) {
  constexpr const char* kName = "__torch_dispatch__";
  Owned own(PyObject_GetAttrString(reinterpret_cast<PyObject*>(cls), kName));
  if (!own) {
    PyErr_Clear();
    return false;
  }
  Owned inherited(PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), kName));
  if (!inherited) PyErr_Clear();
  return own.get() != inherited.get();
}

// Fits a fresh tensor out as an instance of the class.
PyObject* finish(PyTypeObject* cls, Tensor tensor, bool requires_grad) {
  if (wants_dispatch(cls)) {
    enable_torch_dispatch();
    tensor->set_keys(tensor.keys() | kPythonKeys);
  }
  if (requires_grad) {
    TAEDA_CHECK(is_differentiable(tensor.dtype()),
                "only floating-point and complex tensors can require gradients; got ", tensor.dtype());
    hooks.set_requires_grad(tensor, true);
  }
  return wrap_as(cls, std::move(tensor));
}

const Tensor& to_tensor(PyObject* object, const char* name) {
  TAEDA_CHECK_TYPE(is_tensor(object), "'", name, "' must be a tensor; got ", Py_TYPE(object)->tp_name);
  return unwrap(object);
}

// As whose tensor it shows itself: the elements are elsewhere, so the class must answer the ops.
void show_on(PyTypeObject* cls, const Tensor& tensor, Device device) {
  TAEDA_CHECK_TYPE(wants_dispatch(cls), cls->tp_name,
                   " must define __torch_dispatch__ to show itself on another device");
  KeySet rest = tensor.keys() - KeySet(tensor.device().type);
  if (rest.has(Functionality::Dense)) rest = (rest - Functionality::Dense) | Functionality::Memoryless;
  tensor->set_keys(rest | KeySet(device.type));
  tensor->set_device(device);
}

bool is_given(PyObject* object) { return object && object != Py_None; }

PyObject* make_subclass(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("Tensor._make_subclass", [&] {
    constexpr const char* kNames[] = {"cls",
                                      "data",
                                      "require_grad",
                                      "dispatch_sizes_strides_policy",
                                      "dispatch_device",
                                      "dispatch_layout",
                                      "device_for_backend_keys"};
    PyObject* given[7];
    read_arguments(kNames, 2, args, count, names, given, 3);
    PyTypeObject* cls = check_tensor_class(given[0]);
    Tensor alias = hooks.detach(to_tensor(given[1], "data"));
    if (is_given(given[6])) show_on(cls, alias, to_device(given[6]));
    return finish(cls, std::move(alias), to_flag(given[2], false));
  });
}

struct WrapperOptions {
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
  DType dtype = default_dtype();
  Device device;
};

// A tensor with a geometry but no memory: its class's __torch_dispatch__ answers every op.
Tensor memoryless(const WrapperOptions& o) {
  KeySet dense = new_tensor_keys(o.device.type);
  KeySet keys = (dense - KeySet(Functionality::Dense)) | Functionality::Memoryless | kPythonKeys;
  Tensor tensor(make_ref<TensorImpl>(Storage(), o.dtype, o.device, keys));
  tensor->set_geometry(o.sizes, o.strides, o.offset);
  return tensor;
}

PyObject* make_wrapper_subclass(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("Tensor._make_wrapper_subclass", [&] {
    enum { kClass, kSize, kStrides, kOffset, kFormat, kDType, kLayout, kDevice, kPin, kGrad, kCount = 15 };
    constexpr const char* kNames[kCount] = {"cls",
                                            "size",
                                            "strides",
                                            "storage_offset",
                                            "memory_format",
                                            "dtype",
                                            "layout",
                                            "device",
                                            "pin_memory",
                                            "requires_grad",
                                            "dispatch_sizes_strides_policy",
                                            "dispatch_device",
                                            "dispatch_layout",
                                            "_extra_dispatch_keys",
                                            "storage_size"};
    PyObject* given[kCount];
    read_arguments(kNames, 2, args, count, names, given, kCount);
    PyTypeObject* cls = check_tensor_class(given[kClass]);
    TAEDA_CHECK_TYPE(wants_dispatch(cls), cls->tp_name, " must define __torch_dispatch__, which answers its ops");
    TAEDA_CHECK(!is_given(given[kLayout]) || to_layout(given[kLayout]) == Layout::Strided, "'layout' must be strided");
    WrapperOptions o;
    o.sizes = to_sizes(given[kSize], "size");
    numel_of(o.sizes);
    MemoryFormat format = is_given(given[kFormat]) ? to_memory_format(given[kFormat]) : MemoryFormat::Contiguous;
    o.strides = is_given(given[kStrides]) ? to_sizes(given[kStrides], "strides") : contiguous_strides(o.sizes, format);
    TAEDA_CHECK(o.strides.size() == o.sizes.size(), "got ", o.sizes.size(), " sizes but ", o.strides.size(),
                " strides");
    if (is_given(given[kOffset])) o.offset = to_int(given[kOffset], "storage_offset");
    if (is_given(given[kDType])) o.dtype = to_dtype(given[kDType]);
    if (is_given(given[kDevice])) o.device = to_device(given[kDevice]);
    return finish(cls, memoryless(o), to_flag(given[kGrad], false));
  });
}

PyObject* as_subclass_method(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("Tensor.as_subclass", [&] {
    constexpr const char* kNames[] = {"cls"};
    PyObject* cls;
    read_arguments(kNames, 1, args, count, names, &cls);
    return as_subclass(unwrap(self), cls);
  });
}
}  // namespace

PyObject* as_subclass(const Tensor& tensor, PyObject* cls) {
  PyTypeObject* type = check_tensor_class(cls);
  return finish(type, hooks.alias(tensor), false);
}

PyMethodDef subclass_methods[] = {
    {"_make_subclass", as_method(make_subclass), METH_FASTCALL | METH_KEYWORDS | METH_STATIC,
     "_make_subclass(cls, data, require_grad=False, *, device_for_backend_keys=None)\n--\n\nA detached instance of "
     "``cls`` over the memory of ``data``, which shows itself on that device if one is given."},
    {"_make_wrapper_subclass", as_method(make_wrapper_subclass), METH_FASTCALL | METH_KEYWORDS | METH_STATIC,
     "_make_wrapper_subclass(cls, size, *, strides=None, storage_offset=None, dtype=None, device=None, "
     "requires_grad=False)\n--\n\nAn instance of ``cls`` with a geometry but no memory."},
    {"as_subclass", as_method(as_subclass_method), METH_FASTCALL | METH_KEYWORDS,
     "as_subclass($self, cls)\n--\n\nThis tensor as an instance of ``cls``, still part of its graph."},
    {}};

}  // namespace taeda::python
