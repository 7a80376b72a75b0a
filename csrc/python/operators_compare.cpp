#include "python/operators.h"

#include <cstring>

#include "python/convert_value.h"
#include "python/exceptions.h"
#include "python/parser.h"

namespace taeda::python::operators {

namespace {

// An array as a tensor; null without an error where it has no such elements.
PyObject* from_array(PyObject* array) {
  Owned core(check(PyImport_ImportModule("taeda._C")));
  PyObject* tensor = PyObject_CallMethod(core.get(), "as_tensor", "O", array);
  if (!tensor && PyErr_ExceptionMatches(PyExc_TypeError)) PyErr_Clear();
  return tensor;
}
}  // namespace

PyObject* compare(PyObject* left, PyObject* right, int op) {
  Compare function = comparisons[op];
  if (!function) Py_RETURN_NOTIMPLEMENTED;
  PyObject* result = function(left, right);
  // Python would compare the objects' identities next.
  bool with_array = (op == Py_EQ || op == Py_NE) && is_numpy_array(right);
  if (result != Py_NotImplemented || !with_array) return result;
  Owned tensor(from_array(right));
  if (!tensor.get()) return PyErr_Occurred() ? nullptr : result;
  return function(left, tensor.get());
}

PyObject* array_first(const Name& name, PyObject* array, PyObject* tensor, PyObject* result) {
  if (result != Py_NotImplemented || !is_numpy_array(array) || strcmp(name.name, "div") != 0) return result;
  Py_DECREF(result);
  Owned inverse(PyObject_CallMethod(tensor, "reciprocal", nullptr));
  return inverse ? PyNumber_Multiply(inverse.get(), array) : nullptr;
}

PyObject* number_operand(PyObject* object) {
  return guarded("operator", [&]() -> PyObject* {
    Scalar number;
    if (PySequence_Check(object) || !read_number(object, number)) Py_RETURN_NOTIMPLEMENTED;
    return wrap(autograd::number_tensor(number));
  });
}

}  // namespace taeda::python::operators
