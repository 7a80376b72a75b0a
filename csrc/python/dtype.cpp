#include "python/types.h"

#include "shape/complex_half.h"

namespace taeda::python {

namespace {
struct DTypeObject {
  PyObject_HEAD
  DType dtype;
};
DType dtype_of_object(PyObject* self) { return reinterpret_cast<DTypeObject*>(self)->dtype; }

PyTypeObject g_type = static_type("taeda.dtype", sizeof(DTypeObject));
PyObject* g_objects[kDTypes];

// The second names that programs use.
constexpr std::pair<const char*, DType> kAliases[] = {
    {"float", DType::Float32},    {"double", DType::Float64},     {"half", DType::Float16},
    {"short", DType::Int16},      {"int", DType::Int32},          {"long", DType::Int64},
    {"cfloat", DType::Complex64}, {"cdouble", DType::Complex128}, {"chalf", DType::Complex32},
};

PyObject* repr(PyObject* self) { return PyUnicode_FromString(str("torch.", name(dtype_of_object(self))).c_str()); }
// pickle looks the name up in the object's __module__.
PyObject* reduce(PyObject* self, PyObject*) {
  return PyUnicode_FromString(std::string(name(dtype_of_object(self))).c_str());
}
PyObject* to_complex_method(PyObject* self, PyObject*) {
  return guarded("dtype.to_complex", [&] {
    TAEDA_CHECK(is_differentiable(dtype_of_object(self)), dtype_of_object(self), " has no complex counterpart");
    DType dtype = dtype_of_object(self);
    return wrap(shape::with_imaginary(dtype));
  });
}
PyObject* to_real_method(PyObject* self, PyObject*) { return wrap(to_real(dtype_of_object(self))); }

PyObject* get_is_floating(PyObject* self, void*) {
  return PyBool_FromLong(category(dtype_of_object(self)) == Category::Floating);
}
PyObject* get_is_complex(PyObject* self, void*) { return PyBool_FromLong(is_complex(dtype_of_object(self))); }
PyObject* get_is_signed(PyObject* self, void*) {
  return guarded("dtype.is_signed", [&] {
    DType dtype = dtype_of_object(self);
    TAEDA_CHECK(!is_quantized(dtype), "is for plain dtypes; the values of ", dtype, " depend on the scale");
    return PyBool_FromLong(info(dtype).is_signed);
  });
}
PyObject* get_itemsize(PyObject* self, void*) { return PyLong_FromLong(info(dtype_of_object(self)).size); }

PyGetSetDef g_getset[] = {
    {"is_floating_point", get_is_floating, nullptr, "Whether elements are real floating-point numbers.", nullptr},
    {"is_complex", get_is_complex, nullptr, "Whether elements are complex numbers.", nullptr},
    {"is_signed", get_is_signed, nullptr, "Whether elements can be negative.", nullptr},
    {"itemsize", get_itemsize, nullptr, "Bytes per element.", nullptr},
    {}};
PyMethodDef g_methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {"to_complex", to_complex_method, METH_NOARGS,
     "to_complex($self)\n--\n\nThe complex dtype whose parts have this dtype."},
    {"to_real", to_real_method, METH_NOARGS, "to_real($self)\n--\n\nThe dtype of the real part."},
    {}};

int make_objects(PyObject* module) {
  for (int i = 0; i < kDTypes; ++i) {
    DTypeObject* object = PyObject_New(DTypeObject, &g_type);
    if (!object) return -1;
    object->dtype = static_cast<DType>(i);
    g_objects[i] = reinterpret_cast<PyObject*>(object);
    if (PyModule_AddObjectRef(module, name(object->dtype).data(), g_objects[i]) < 0) return -1;
  }
  for (auto [alias, dtype] : kAliases)
    if (PyModule_AddObjectRef(module, alias, wrap(dtype)) < 0) return -1;
  return 0;
}
}  // namespace

PyObject* wrap(DType dtype) {
  return Py_NewRef(dtype == DType::Undefined ? Py_None : g_objects[static_cast<int>(dtype)]);
}

bool is_dtype(PyObject* object) { return Py_TYPE(object) == &g_type; }

DType to_dtype(PyObject* object) {
  if (is_dtype(object)) return dtype_of_object(object);
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::Float64;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::Int64;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::Bool;
  if (object == reinterpret_cast<PyObject*>(&PyComplex_Type)) return DType::Complex128;
  TAEDA_FAIL(Type, "expected a dtype; got ", Py_TYPE(object)->tp_name);
}

int init_dtype(PyObject* module) {
  g_type.tp_doc = "The type of a tensor's elements, e.g. ``float32``.";
  g_type.tp_flags |= Py_TPFLAGS_DISALLOW_INSTANTIATION;
  g_type.tp_repr = repr;
  g_type.tp_methods = g_methods;
  g_type.tp_getset = g_getset;
  if (add_type(module, g_type) < 0) return -1;
  Owned where(PyUnicode_InternFromString("taeda"));
  if (!where || PyDict_SetItemString(g_type.tp_dict, "__module__", where.get()) < 0) return -1;
  PyType_Modified(&g_type);
  return make_objects(module);
}

}  // namespace taeda::python
