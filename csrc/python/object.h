// Between Python objects and the core's handles. Everything in this folder holds the GIL unless it says so.
#pragma once
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "taeda/core/generator.h"
#include "taeda/core/tensor.h"
#include "taeda/dispatch/value.h"

namespace taeda::python {

// A Python tensor. While Python refers to it, it owns one reference to the impl; when only C++ is left, the impl owns
// the object instead (tensor_object.cpp), so that identity, subclass and attributes survive.
struct TensorObject {
  PyObject_HEAD
  TensorImpl* impl;
  PyObject* dict;
  PyObject* weakrefs;
  PyObject* backward_hooks;  // the OrderedDict of Tensor.register_hook, null until used
};

extern PyTypeObject* tensor_base_type;  // _C.TensorBase
extern PyTypeObject* tensor_type;       // taeda.Tensor, once _tensor.py has made it
extern PyTypeObject* size_type;         // taeda.Size

inline bool is_plain_tensor(PyObject* object) { return Py_TYPE(object) == tensor_type; }
inline bool is_tensor(PyObject* object) {
  return Py_TYPE(object) == tensor_type || PyType_IsSubtype(Py_TYPE(object), tensor_base_type);
}
// Requires is_tensor. The handle borrows the object's impl without counting it.
inline const Tensor& unwrap(PyObject* object) {
  static_assert(sizeof(Tensor) == sizeof(TensorImpl*));
  return *reinterpret_cast<const Tensor*>(&reinterpret_cast<TensorObject*>(object)->impl);
}
// A new reference: the object this tensor already has, or a new taeda.Tensor; None for an undefined tensor.
PyObject* wrap(Tensor&& tensor);
inline PyObject* wrap(const Tensor& tensor) { return wrap(Tensor(tensor)); }
// A new object of the given subclass over a tensor that has no Python object yet.
PyObject* wrap_as(PyTypeObject* type, Tensor tensor);

PyObject* wrap(DType dtype);  // the one object of each dtype
PyObject* wrap(Device device);
PyObject* wrap(Layout layout);
PyObject* wrap(MemoryFormat format);
PyObject* wrap(const Scalar& scalar);
PyObject* wrap(const Ref<Generator>& generator);
PyObject* wrap(const Storage& storage);
PyObject* wrap(const Value& value);  // lists become Python lists of wrapped elements
PyObject* wrap_size(IntList sizes);  // taeda.Size

bool is_dtype(PyObject* object);
bool is_device(PyObject* object);
bool is_layout(PyObject* object);
bool is_memory_format(PyObject* object);
bool is_generator(PyObject* object);
bool is_storage(PyObject* object);
DType to_dtype(PyObject* object);    // also float, int, bool, complex (the Python types)
Device to_device(PyObject* object);  // a device, a string or an index
Device to_place(PyObject* object);   // the same for a tensor to lie on: 'cpu:0' is the CPU
Layout to_layout(PyObject* object);
MemoryFormat to_memory_format(PyObject* object);
Ref<Generator> to_generator(PyObject* object);
Storage to_storage(PyObject* object);
// The storage, or a typed one's, of whose elements `wanted` must be the dtype; null for other objects.
Storage storage_argument(PyObject* object, std::optional<DType> wanted);

// Whether the interpreter ends or has ended.
inline bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

// An owned PyObject*.
class Owned {
 public:
  Owned() = default;
  explicit Owned(PyObject* object) : object_(object) {}
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() {
    if (object_ && !cut_off()) Py_DECREF(object_);
  }
  static Owned borrow(PyObject* object) {
    Py_XINCREF(object);
    return Owned(object);
  }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  // CPython unwinds a thread that asks for the GIL while the interpreter ends: its frames go without holding it.
  static bool cut_off() { return is_finalizing() && !PyGILState_Check(); }
  PyObject* object_ = nullptr;
};

}  // namespace taeda::python
