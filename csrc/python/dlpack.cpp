// DLPack in capsules, both ways: https://dmlc.github.io/dlpack/latest/python_spec.html
#include "taeda/core/dlpack.h"

#include "python/member.h"
#include "python/storage_object.h"

namespace taeda::python {

namespace {
using Unversioned = DLManagedTensor;
using Versioned = DLManagedTensorVersioned;

template <class Managed>
constexpr const char* kName = nullptr;
template <>
constexpr const char* kName<Unversioned> = "dltensor";
template <>
constexpr const char* kName<Versioned> = "dltensor_versioned";
template <class Managed>
constexpr const char* kUsedName = nullptr;
template <>
constexpr const char* kUsedName<Unversioned> = "used_dltensor";
template <>
constexpr const char* kUsedName<Versioned> = "used_dltensor_versioned";

[[noreturn]] void fail_buffer(const std::string& why) {
  PyErr_Format(PyExc_BufferError, "taeda.Tensor.__dlpack__: %s", why.c_str());
  throw PythonError();
}

// --- out
// Whoever takes the tensor renames the capsule; one that still has its first name was never used.
template <class Managed>
void drop_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, kName<Managed>)) return;
  release_dlpack<Managed>(PyCapsule_GetPointer(capsule, kName<Managed>));
}

template <class Managed>
PyObject* make_capsule(const Tensor& t, bool copied) {
  Managed* managed = ::taeda::to_dlpack<Managed>(t, copied ? DLPACK_FLAG_BITMASK_IS_COPIED : 0);
  PyObject* capsule = PyCapsule_New(managed, kName<Managed>, drop_capsule<Managed>);
  if (!capsule) managed->deleter(managed);
  return check(capsule);
}

void check_exportable(const Tensor& t) {
  if (t.device().type != DeviceType::CPU && t.device().type != DeviceType::CUDA)
    fail_buffer(str("a tensor on ", t.device(), " cannot be exported"));
  if (hooks.requires_grad(t)) fail_buffer("a tensor that requires grad cannot be exported; use detach()");
  if (t->is_conj() || t->is_neg())
    fail_buffer("the tensor is lazily conjugated or negated; use resolve_conj() or resolve_neg()");
  if (t->layout() != Layout::Strided || !t->storage()) fail_buffer("only a strided tensor with memory can be exported");
}

bool is_given(PyObject* object) { return object && object != Py_None; }

bool wants_versioned(PyObject* max_version) {
  if (!is_given(max_version)) return false;
  Owned major(check(PySequence_GetItem(max_version, 0)));
  return to_int(major.get(), "max_version") >= DLPACK_MAJOR_VERSION;
}

Device wanted_device(PyObject* pair) {
  int type, id;
  if (!PyArg_ParseTuple(pair, "ii", &type, &id)) throw PythonError();
  return ::taeda::from_dlpack(DLDevice{static_cast<DLDeviceType>(type), id});
}

PyObject* to_dlpack(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  constexpr const char* kNames[] = {"stream", "max_version", "dl_device", "copy"};
  PyObject* given[4];
  read_arguments(kNames, 0, args, count, names, given, 0);
  Tensor t = unwrap(self);
  check_exportable(t);
  TAEDA_CHECK_TYPE(!is_given(given[0]) || PyLong_Check(given[0]), "'stream' must be an int or None; got ",
                   Py_TYPE(given[0])->tp_name);
  TAEDA_CHECK_KIND(Assertion, !t.is_cpu() || !is_given(given[0]),
                   "a tensor on the CPU has no stream; pass stream=None");
  bool copied = to_flag(given[3], false);
  if (is_given(given[2])) {
    Device device = wanted_device(given[2]);
    if (device.type != t.device().type) {
      TAEDA_CHECK_VALUE(given[3] != Py_False, "a tensor on ", t.device(), " cannot be exported to ", device,
                        " without a copy");
      TAEDA_CHECK_KIND(NotImplemented, hooks.to_device, "cannot copy to ", device);
      t = hooks.to_device(t, device);
      copied = true;
    }
  }
  if (copied && t.is(unwrap(self))) t = hooks.clone(t);
  return wants_versioned(given[1]) ? make_capsule<Versioned>(t, copied) : make_capsule<Unversioned>(t, copied);
}

PyObject* dlpack_device(PyObject* self) {
  DLDevice device = ::taeda::to_dlpack(unwrap(self).device());
  return Py_BuildValue("ii", static_cast<int>(device.device_type), device.device_id);
}

// --- in
template <class Managed>
Tensor take(PyObject* capsule) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kName<Managed>));
  if (!managed) throw PythonError();
  Tensor t = ::taeda::from_dlpack(managed, [](void* taken) {
    WithGil gil;  // producers in Python drop references
    release_dlpack<Managed>(taken);
  });
  check(PyCapsule_SetName(capsule, kUsedName<Managed>));
  return t;
}

Tensor take_any(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kName<Versioned>)) return take<Versioned>(capsule);
  TAEDA_CHECK(PyCapsule_IsValid(capsule, kName<Unversioned>),
              "takes an object with __dlpack__ or a capsule that nobody "
              "has used yet; got ",
              Py_TYPE(capsule)->tp_name);
  return take<Unversioned>(capsule);
}

// What the producer gives for the newest protocol that it knows.
Owned ask_capsule(PyObject* source, PyObject* device, PyObject* copy) {
  Owned method(check(PyObject_GetAttrString(source, "__dlpack__")));
  Owned none(check(PyTuple_New(0))), keywords(check(Py_BuildValue("{s:(ii)}", "max_version", 1, 0)));
  if (is_given(copy)) check(PyDict_SetItemString(keywords.get(), "copy", copy));
  if (is_given(device)) {
    DLDevice wanted = ::taeda::to_dlpack(to_device(device));
    Owned pair(check(Py_BuildValue("ii", static_cast<int>(wanted.device_type), wanted.device_id)));
    check(PyDict_SetItemString(keywords.get(), "dl_device", pair.get()));
  }
  PyObject* capsule = PyObject_Call(method.get(), none.get(), keywords.get());
  if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError) && !is_given(copy) && !is_given(device)) {
    PyErr_Clear();  // from before the versioned protocol
    capsule = PyObject_CallNoArgs(method.get());
  }
  return Owned(check(capsule));
}

PyObject* from_dlpack(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("from_dlpack", [&] {
    constexpr const char* kNames[] = {"ext_tensor", "device", "copy"};
    PyObject* given[3];
    read_arguments(kNames, 1, args, count, names, given, 1);
    if (!PyCapsule_CheckExact(given[0]) && PyObject_HasAttrString(given[0], "__dlpack__"))
      return wrap(take_any(ask_capsule(given[0], given[1], given[2]).get()));
    return wrap(take_any(given[0]));
  });
}
PyObject* to_dlpack_function(PyObject*, PyObject* object) {
  return guarded("utils.dlpack.to_dlpack", [&] {
    TAEDA_CHECK_TYPE(is_tensor(object), "takes a tensor; got ", Py_TYPE(object)->tp_name);
    return to_dlpack(object, nullptr, 0, nullptr);
  });
}

PyMethodDef g_functions[] = {
    {"from_dlpack", as_method(from_dlpack), METH_FASTCALL | METH_KEYWORDS,
     "from_dlpack(ext_tensor, *, device=None, copy=None)\n--\n\nA tensor over the memory of another library's."},
    {"_to_dlpack", to_dlpack_function, METH_O, "_to_dlpack(tensor)\n--\n\nAn unversioned capsule."},
    {}};
}  // namespace

PyMethodDef dlpack_methods[] = {
    method<to_dlpack, "__dlpack__">(nullptr),
    method<dlpack_device, "__dlpack_device__">(
        "__dlpack_device__($self)\n--\n\nThe kind and number of the device, as DLPack counts them."),
    {}};

int init_dlpack(PyObject* module) { return PyModule_AddFunctions(module, g_functions); }

}  // namespace taeda::python
