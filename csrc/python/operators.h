// Tensor's operators: Python's number protocol over the bound functions. The slots are filled by generated code
// (python/operators.cpp) for the ops that the build holds.
#pragma once
#include "autograd/numbers.h"
#include "python/fast.h"
#include "python/types.h"

namespace taeda::python::operators {

// A TypeError means that the other operand may know better.
inline PyObject* or_not_implemented(PyObject* result) {
  if (result || !PyErr_ExceptionMatches(PyExc_TypeError)) return result;
  PyErr_Clear();
  return Py_NewRef(Py_NotImplemented);
}

// The full parser for an operator.
inline PyObject* parse_operator(const Name& name, PyObject* const* args, Py_ssize_t n) {
  return or_not_implemented(parse_and_call(name, args, n, nullptr, true));
}

// Likewise for a tensor on the left. Python asks both operands of different types, but not twice the same slot.
inline PyObject* parse_left(const Name& name, const char* reflected, PyObject* const* args) {
  PyObject* result = parse_operator(name, args, 2);
  if (result != Py_NotImplemented || !is_tensor(args[1])) return result;
  Py_DECREF(result);
  return or_not_implemented(ask_right_operand(reflected, args[0], args[1]));
}

// The straight path of an op that the build leaves out: the parser says so.
inline PyObject* no_fast(PyObject* const*, Py_ssize_t) noexcept { return nullptr; }

template <Fast fast, const Name& name>
PyObject* unary(PyObject* self) {
  if (fast_path_blockers == 0) [[likely]] {
    PyObject* result = fast(&self, 1);
    if (result || PyErr_Occurred()) return result;
  }
  return parse_and_call(name, &self, 1, nullptr, true);
}

// ~x, which is for integers and bools: TypeError, as for Python's own floats.
template <Fast fast, const Name& name>
PyObject* invert(PyObject* self) {
  if (!is_quick(self) || category(unwrap(self).dtype()) <= Category::Integral) return unary<fast, name>(self);
  PyErr_SetString(PyExc_TypeError, "~ is for tensors of integers and bools, not of floating-point or complex numbers");
  return nullptr;
}

// array / tensor, the one operator that PyTorch has for a NumPy array on the left; else `result`.
PyObject* array_first(const Name& name, PyObject* array, PyObject* tensor, PyObject* result);

// `reflected` serves number - tensor; its first argument is the tensor. `method` is its name in Python.
template <const char* method, Fast fast, const Name& name, Fast reflected, const Name& reflected_name>
PyObject* binary(PyObject* left, PyObject* right) {
  PyObject* args[] = {left, right};
  if (fast_path_blockers == 0) [[likely]] {
    PyObject* result = fast(args, 2);
    if (result || PyErr_Occurred()) return result;
  }
  if (is_tensor(left)) return parse_left(name, method, args);
  PyObject* swapped[] = {right, left};
  return parse_operator(reflected_name, swapped, 2);
}

template <Fast fast, const Name& name>
PyObject* inplace(PyObject* left, PyObject* right) {
  PyObject* args[] = {left, right};
  if (fast_path_blockers == 0) [[likely]] {
    PyObject* result = fast(args, 2);
    if (result || PyErr_Occurred()) return result;
  }
  return parse_operator(name, args, 2);
}

template <Fast fast, const Name& name>
PyObject* compare_with(PyObject* left, PyObject* right) {
  PyObject* args[] = {left, right};
  if (fast_path_blockers == 0) [[likely]] {
    PyObject* result = fast(args, 2);
    if (result || PyErr_Occurred()) return result;
  }
  return parse_operator(name, args, 2);
}

// By Python's comparison codes Py_LT to Py_GE; null where the build lacks the op.
using Compare = PyObject* (*)(PyObject*, PyObject*);
extern const Compare comparisons[6];
PyObject* compare(PyObject* left, PyObject* right, int op);

// A number as a tensor that promotes as a number; NotImplemented for anything else.
PyObject* number_operand(PyObject* object);

// number op tensor for ops that have no reflected twin.
template <const Name& name>
PyObject* number_first(PyObject* const* swapped) {
  PyObject* left = number_operand(swapped[1]);
  if (!left || left == Py_NotImplemented) return left;
  PyObject* args[] = {left, swapped[0]};
  PyObject* result = parse_operator(name, args, 2);
  Py_DECREF(left);
  return result;
}

template <const char* method, Fast fast, const Name& name>
PyObject* binary_function(PyObject* left, PyObject* right) {
  PyObject* args[] = {left, right};
  if (fast_path_blockers == 0) [[likely]] {
    PyObject* result = fast(args, 2);
    if (result || PyErr_Occurred()) return result;
  }
  if (is_tensor(left)) return parse_left(name, method, args);
  PyObject* swapped[] = {right, left};
  return array_first(name, left, right, number_first<name>(swapped));
}

template <const char* method, Fast fast, const Name& name>
PyObject* power(PyObject* base, PyObject* exponent, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary_function<method, fast, name>(base, exponent);
}

template <Fast fast, const Name& name>
PyObject* inplace_power(PyObject* base, PyObject* exponent, PyObject*) {
  return inplace<fast, name>(base, exponent);
}

}  // namespace taeda::python::operators
