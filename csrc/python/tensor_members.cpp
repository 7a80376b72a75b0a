// What a tensor says about itself.
#include "python/member.h"
#include "python/storage_object.h"
#include "python/symbols.h"

namespace taeda::python {

PyObject* ask_protocol(PyObject* self, const char* name, bool is_getter, PyObject* const* args, Py_ssize_t count,
                       PyObject* keyword_names) {
  return guarded(name, [&]() -> PyObject* {
    Overloaded overloaded;
    overloaded.note(self);
    if (!overloaded.must_dispatch()) return nullptr;
    Owned callable(check(PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), name)));
    if (is_getter) callable = Owned(check(PyObject_GetAttrString(callable.get(), "__get__")));
    Py_ssize_t keywords = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
    std::vector<PyObject*> all{self};
    if (args) all.insert(all.end(), args, args + count + keywords);
    return call_torch_function(callable.get(), overloaded, all.data(), count + 1, keyword_names);
  });
}

PyObject* convert_property(PyObject* self, const char* name, PyObject* result) {
  Overloaded overloaded;
  overloaded.note(self);
  std::string_view called = name;
  if (!result || !overloaded.subclass || called == "grad" || called == "_grad" || called == "_base") return result;
  return guarded(name, [&] { return convert_results(result, overloaded.subclass); });
}

namespace {
PyObject* to_python(bool value) { return Py_NewRef(value ? Py_True : Py_False); }
PyObject* to_python(int64_t value) { return PyLong_FromLongLong(value); }

// --- geometry
PyObject* sizes_of(const Tensor& t) {
  if (size_recorders > 0) [[unlikely]]
    return recorded_shape(t);
  return wrap_size(t.sizes());
}
PyObject* size_at(const Tensor& t, const char* what, IntList values, int64_t dim) {
  int64_t value = values[static_cast<size_t>(dim)];
  return size_recorders > 0 ? recorded_size(t, what, dim, value) : to_python(value);
}
PyObject* whole(const Tensor& t, const char* what, int64_t value) {
  return size_recorders > 0 ? recorded_size(t, what, -1, value) : to_python(value);
}
PyObject* shape(const Tensor& t) { return sizes_of(t); }
PyObject* ndim(const Tensor& t) { return to_python(t.dim()); }
PyObject* dim(PyObject* self) { return to_python(unwrap(self).dim()); }
PyObject* numel(PyObject* self) { return whole(unwrap(self), "numel", unwrap(self).numel()); }
PyObject* storage_offset(PyObject* self) {
  return whole(unwrap(self), "storage_offset", unwrap(self).storage_offset());
}

// The one optional argument `dim`; null when absent.
PyObject* read_dim(PyObject* const* args, Py_ssize_t count, PyObject* names) {
  constexpr const char* kNames[] = {"dim"};
  PyObject* object;
  read_arguments(kNames, 0, args, count, names, &object);
  return object == Py_None ? nullptr : object;
}
int64_t checked_dim(const Tensor& t, PyObject* object) {
  int64_t index = to_int(object, "dim");
  TAEDA_CHECK_INDEX(t.dim() > 0, "a 0-dimensional tensor has no dimension ", index);
  return wrap_dim(index, t.dim());
}

PyObject* size(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const Tensor& t = unwrap(self);
  if (count == 0 && !names) return sizes_of(t);
  PyObject* object = count == 1 && !names && args[0] != Py_None ? args[0] : read_dim(args, count, names);
  return object ? size_at(t, "size", t.sizes(), checked_dim(t, object)) : sizes_of(t);
}

PyObject* stride(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const Tensor& t = unwrap(self);
  if (PyObject* object = read_dim(args, count, names)) return size_at(t, "stride", t.strides(), checked_dim(t, object));
  IntList strides = t.strides();
  Owned result(check(PyTuple_New(static_cast<Py_ssize_t>(strides.size()))));
  for (size_t i = 0; i < strides.size(); ++i)
    PyTuple_SET_ITEM(result.get(), static_cast<Py_ssize_t>(i),
                     check(size_at(t, "stride", strides, static_cast<int64_t>(i))));
  return result.release();
}

bool is_sparse(Layout layout) { return layout >= Layout::Sparse && layout <= Layout::SparseBsc; }

PyObject* is_contiguous(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (Layout layout = unwrap(self)->layout(); is_sparse(layout)) {
    TAEDA_CHECK(layout == Layout::Sparse, "elements of a tensor of layout ", kLayoutNames[static_cast<int>(layout)],
                " do not lie one after the other; its values() do");
    Py_RETURN_FALSE;
  }
  if (count == 0 && !names) return to_python(unwrap(self).is_contiguous());
  constexpr const char* kNames[] = {"memory_format"};
  PyObject* format;
  read_arguments(kNames, 0, args, count, names, &format, 0);
  return to_python(unwrap(self).is_contiguous(to_memory_format(format)));
}

PyObject* length(PyObject* self) {
  const Tensor& t = unwrap(self);
  TAEDA_CHECK_TYPE(t.dim() > 0, "a 0-dimensional tensor has no length");
  return to_python(t.sizes()[0]);
}

// --- type and place
PyObject* dtype(const Tensor& t) { return wrap(t.dtype()); }
PyObject* device(const Tensor& t) { return wrap(t.device()); }
PyObject* layout(const Tensor& t) { return wrap(t->layout()); }
PyObject* itemsize(const Tensor& t) { return to_python(t.itemsize()); }
PyObject* nbytes(const Tensor& t) { return to_python(t.itemsize() * t.numel()); }
PyObject* element_size(PyObject* self) { return to_python(unwrap(self).itemsize()); }
PyObject* get_device(PyObject* self) { return to_python(int64_t{unwrap(self).device().index}); }

template <DeviceType type>
PyObject* is_on(const Tensor& t) {
  return to_python(t.device().type == type);
}
template <Layout wanted>
PyObject* has_layout(const Tensor& t) {
  return to_python(t->layout() == wanted);
}
template <Functionality functionality>
PyObject* has_key(const Tensor& t) {
  return to_python(t.keys().has(functionality));
}
// Devices and formats of other systems, which programs ask for before they use them.
PyObject* never(const Tensor&) { return Py_NewRef(Py_False); }

PyObject* is_floating_point(PyObject* self) { return to_python(category(unwrap(self).dtype()) == Category::Floating); }
PyObject* is_complex_method(PyObject* self) { return to_python(is_complex(unwrap(self).dtype())); }
PyObject* is_signed(PyObject* self) { return to_python(info(unwrap(self).dtype()).is_signed); }
PyObject* is_conj(PyObject* self) { return to_python(unwrap(self)->is_conj()); }
PyObject* is_neg(PyObject* self) { return to_python(unwrap(self)->is_neg()); }
PyObject* is_inference(PyObject* self) { return to_python(unwrap(self)->is_inference()); }

// --- memory
const Storage& storage_behind(const Tensor& t) {
  TAEDA_CHECK_KIND(NotImplemented, t->storage(), "this tensor, of layout ", kLayoutNames[static_cast<int>(t->layout())],
                   ", has no storage");
  return t->storage();
}
PyObject* data_ptr(PyObject* self) {
  const Tensor& t = unwrap(self);
  TAEDA_CHECK(!is_sparse(t->layout()), "a tensor of layout ", kLayoutNames[static_cast<int>(t->layout())],
              " has no memory of its own; its indices and values do");
  prepare_write(t);  // whoever asks may write there
  return PyLong_FromVoidPtr(t.numel() == 0 ? nullptr : t.data());
}
PyObject* const_data_ptr(PyObject* self) {
  const Tensor& t = unwrap(self);
  return PyLong_FromVoidPtr(t.numel() == 0 ? nullptr : t.data());
}
PyObject* untyped_storage(PyObject* self) { return wrap(storage_behind(unwrap(self))); }
PyObject* typed_storage(PyObject* self) {
  Owned module(check(PyImport_ImportModule("taeda.storage")));
  Owned bytes(wrap(storage_behind(unwrap(self)))), type(wrap(unwrap(self).dtype()));
  Owned cls(check(PyObject_GetAttrString(module.get(), "TypedStorage"))), none(check(PyTuple_New(0)));
  Owned keywords(check(Py_BuildValue("{s:O,s:O}", "wrap_storage", bytes.get(), "dtype", type.get())));
  return PyObject_Call(cls.get(), none.get(), keywords.get());
}
PyObject* is_shared_method(PyObject* self) { return to_python(is_shared(*storage_behind(unwrap(self)))); }
PyObject* share_memory(PyObject* self) {
  move_to_shared_memory(*storage_behind(unwrap(self)));
  return Py_NewRef(self);
}
PyObject* is_set_to(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  constexpr const char* kNames[] = {"tensor"};
  PyObject* other;
  read_arguments(kNames, 1, args, count, names, &other);
  TAEDA_CHECK_TYPE(is_tensor(other), "'tensor' must be a tensor; got ", Py_TYPE(other)->tp_name);
  const Tensor &a = unwrap(self), &b = unwrap(other);
  return to_python(a->is_conj() == b->is_conj() && a->is_neg() == b->is_neg() && a->storage() == b->storage() &&
                   a.storage_offset() == b.storage_offset() && std::ranges::equal(a.sizes(), b.sizes()) &&
                   std::ranges::equal(a.strides(), b.strides()));
}
PyObject* cdata(const Tensor& t) { return PyLong_FromVoidPtr(t.impl()); }
PyObject* use_count(PyObject* self) { return to_python(unwrap(self)->use_count()); }
Py_ssize_t length_slot(PyObject* self) {
  PyObject* result = no_arguments<length, "__len__">(self, nullptr);
  if (!result) return -1;
  return PyLong_AsSsize_t(Owned(result).get());
}
}  // namespace

PyMappingMethods tensor_mapping{length_slot, nullptr, nullptr};

PyGetSetDef member_getset[] = {property<shape, "shape">("The sizes of the dimensions."),
                               property<ndim, "ndim">("The number of dimensions."),
                               property<dtype, "dtype">("The type of the elements."),
                               property<device, "device">("Where the memory is."),
                               property<layout, "layout">("How the elements are stored."),
                               property<itemsize, "itemsize">("Bytes per element."),
                               property<nbytes, "nbytes">("Bytes of all elements."),
                               property<is_on<DeviceType::CPU>, "is_cpu">(nullptr),
                               property<is_on<DeviceType::CUDA>, "is_cuda">(nullptr),
                               property<is_on<DeviceType::Meta>, "is_meta">(nullptr),
                               property<has_layout<Layout::Sparse>, "is_sparse">(nullptr),
                               property<has_layout<Layout::SparseCsr>, "is_sparse_csr">(nullptr),
                               property<has_key<Functionality::Quantized>, "is_quantized">(nullptr),
                               property<has_key<Functionality::Nested>, "is_nested">(nullptr),
                               property<has_key<Functionality::Python>, "_python_dispatch">(nullptr),
                               property<never, "is_mkldnn">(nullptr),
                               property<never, "is_ipu">(nullptr),
                               property<is_on<DeviceType::XPU>, "is_xpu">(nullptr),
                               property<never, "is_hpu">(nullptr),
                               property<is_on<DeviceType::MPS>, "is_mps">(nullptr),
                               property<never, "is_maia">(nullptr),
                               property<never, "is_mtia">(nullptr),
                               property<never, "is_xla">(nullptr),
                               property<never, "is_vulkan">(nullptr),
                               property<never, "_has_symbolic_sizes_strides">(nullptr),
                               property<cdata, "_cdata">(nullptr),
                               {}};

PyMethodDef member_methods[] = {
    method<size, "size">("size($self, dim=None)\n--\n\nThe sizes of the dimensions, or of one."),
    method<stride, "stride">(
        "stride($self, dim=None)\n--\n\nElements from one index to the next, by dimension or of one."),
    method<dim, "dim">("dim($self)\n--\n\nThe number of dimensions."),
    method<dim, "ndimension">("ndimension($self)\n--\n\nThe number of dimensions."),
    method<numel, "numel">("numel($self)\n--\n\nThe number of elements."),
    method<numel, "nelement">("nelement($self)\n--\n\nThe number of elements."),
    method<storage_offset, "storage_offset">(
        "storage_offset($self)\n--\n\nElements before the first one in the storage."),
    method<is_contiguous, "is_contiguous">("is_contiguous($self, memory_format=None)\n--\n\nWhether "
                                           "elements lie in this order without gaps."),
    method<element_size, "element_size">("element_size($self)\n--\n\nBytes per element."),
    method<get_device, "get_device">("get_device($self)\n--\n\nThe device's index, -1 for the CPU."),
    method<is_floating_point, "is_floating_point">(
        "is_floating_point($self)\n--\n\nWhether elements are real floating-point numbers."),
    method<is_complex_method, "is_complex">("is_complex($self)\n--\n\nWhether elements are complex numbers."),
    method<is_signed, "is_signed">("is_signed($self)\n--\n\nWhether elements can be negative."),
    method<is_conj, "is_conj">("is_conj($self)\n--\n\nWhether the elements are to be conjugated when read."),
    method<is_neg, "is_neg">("is_neg($self)\n--\n\nWhether the elements are to be negated when read."),
    method<is_inference, "is_inference">("is_inference($self)\n--\n\nWhether the tensor was made in inference mode."),
    method<data_ptr, "data_ptr">("data_ptr($self)\n--\n\nThe first element's address."),
    method<const_data_ptr, "const_data_ptr">("const_data_ptr($self)\n--\n\nThe first element's address, for reading."),
    method<untyped_storage, "untyped_storage">(
        "untyped_storage($self)\n--\n\nThe bytes beneath, shared with other tensors."),
    method<typed_storage, "storage">("storage($self)\n--\n\nThe storage beneath, seen as elements."),
    method<is_shared_method, "is_shared">("is_shared($self)\n--\n\nWhether other processes can see the memory."),
    method<share_memory, "share_memory_">(
        "share_memory_($self)\n--\n\nMoves the storage to shared memory; returns self."),
    method<is_set_to, "is_set_to">(
        "is_set_to($self, tensor)\n--\n\nWhether both are the same window on the same storage."),
    method<use_count, "_use_count">(nullptr),
    {}};

}  // namespace taeda::python
