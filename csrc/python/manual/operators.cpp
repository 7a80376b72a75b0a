// Tensor's operators: Python's number protocol over the bound functions.
#include "python/bound.h"
#include "python/types.h"

namespace taeda::python {

namespace {

// The full parser for an operator; a TypeError means that the other operand may know better.
PyObject* parse_operator(const Name& name, PyObject* const* args, Py_ssize_t n) {
  PyObject* result = parse_and_call(name, args, n, nullptr, true);
  if (result || !PyErr_ExceptionMatches(PyExc_TypeError)) return result;
  PyErr_Clear();
  return Py_NewRef(Py_NotImplemented);
}

template <Fast fast, const Name& name>
PyObject* unary(PyObject* self) {
  if (fast_path_blockers == 0) [[likely]] {
    PyObject* result = fast(&self, 1);
    if (result || PyErr_Occurred()) return result;
  }
  return parse_and_call(name, &self, 1, nullptr, true);
}

// `reflected` serves number - tensor; its first argument is the tensor.
template <Fast fast, const Name& name, Fast reflected, const Name& reflected_name>
PyObject* binary(PyObject* left, PyObject* right) {
  PyObject* args[] = {left, right};
  if (fast_path_blockers == 0) [[likely]] {
    PyObject* result = fast(args, 2);
    if (result || PyErr_Occurred()) return result;
  }
  if (is_tensor(left)) return parse_operator(name, args, 2);
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

PyObject* power(PyObject* base, PyObject* exponent, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  PyObject* args[] = {base, exponent};
  if (fast_path_blockers == 0) [[likely]] {
    PyObject* result = bound::pow(args, 2);
    if (result || PyErr_Occurred()) return result;
  }
  if (is_tensor(base)) return parse_operator(bound::pow_name, args, 2);
  PyObject* result = parse_and_call(bound::pow_name, args, 2, nullptr, false);
  if (result || !PyErr_ExceptionMatches(PyExc_TypeError)) return result;
  PyErr_Clear();
  Py_RETURN_NOTIMPLEMENTED;
}

PyObject* inplace_power(PyObject* base, PyObject* exponent, PyObject*) {
  return inplace<bound::pow_, bound::pow__name>(base, exponent);
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

PyObject* compare(PyObject* left, PyObject* right, int op) {
  switch (op) {
    case Py_LT:
      return compare_with<bound::lt, bound::lt_name>(left, right);
    case Py_LE:
      return compare_with<bound::le, bound::le_name>(left, right);
    case Py_EQ:
      return compare_with<bound::eq, bound::eq_name>(left, right);
    case Py_NE:
      return compare_with<bound::ne, bound::ne_name>(left, right);
    case Py_GT:
      return compare_with<bound::gt, bound::gt_name>(left, right);
    default:
      return compare_with<bound::ge, bound::ge_name>(left, right);
  }
}

// number op tensor for ops that have no reflected twin: through the function, which takes a number first.
template <const Name& name>
PyObject* number_first(PyObject* const* swapped, Py_ssize_t) {
  PyObject* args[] = {swapped[1], swapped[0]};
  PyObject* result = parse_and_call(name, args, 2, nullptr, false);
  if (result || !PyErr_ExceptionMatches(PyExc_TypeError)) return result;
  PyErr_Clear();
  return Py_NewRef(Py_NotImplemented);
}

template <Fast fast, const Name& name>
PyObject* binary_function(PyObject* left, PyObject* right) {
  PyObject* args[] = {left, right};
  if (fast_path_blockers == 0) [[likely]] {
    PyObject* result = fast(args, 2);
    if (result || PyErr_Occurred()) return result;
  }
  if (is_tensor(left)) return parse_operator(name, args, 2);
  PyObject* swapped[] = {right, left};
  return number_first<name>(swapped, 2);
}

}  // namespace

void fill_operators(PyTypeObject& type) {
  using namespace bound;
  tensor_number.nb_add = binary<add, add_name, add, add_name>;
  tensor_number.nb_subtract = binary<sub, sub_name, rsub, rsub_name>;
  tensor_number.nb_multiply = binary<mul, mul_name, mul, mul_name>;
  tensor_number.nb_true_divide = binary_function<div, div_name>;
  tensor_number.nb_floor_divide = binary_function<floor_divide, floor_divide_name>;
  tensor_number.nb_remainder = binary_function<remainder, remainder_name>;
  tensor_number.nb_power = power;
  tensor_number.nb_matrix_multiply = binary_function<matmul, matmul_name>;
  tensor_number.nb_and = binary<bitwise_and, bitwise_and_name, bitwise_and, bitwise_and_name>;
  tensor_number.nb_or = binary<bitwise_or, bitwise_or_name, bitwise_or, bitwise_or_name>;
  tensor_number.nb_xor = binary<bitwise_xor, bitwise_xor_name, bitwise_xor, bitwise_xor_name>;
  tensor_number.nb_lshift = binary_function<bitwise_left_shift, bitwise_left_shift_name>;
  tensor_number.nb_rshift = binary_function<bitwise_right_shift, bitwise_right_shift_name>;
  tensor_number.nb_negative = unary<neg, neg_name>;
  tensor_number.nb_positive = unary<positive, positive_name>;
  tensor_number.nb_absolute = unary<abs, abs_name>;
  tensor_number.nb_invert = unary<bitwise_not, bitwise_not_name>;
  tensor_number.nb_inplace_add = inplace<add_, add__name>;
  tensor_number.nb_inplace_subtract = inplace<sub_, sub__name>;
  tensor_number.nb_inplace_multiply = inplace<mul_, mul__name>;
  tensor_number.nb_inplace_true_divide = inplace<div_, div__name>;
  tensor_number.nb_inplace_floor_divide = inplace<floor_divide_, floor_divide__name>;
  tensor_number.nb_inplace_remainder = inplace<remainder_, remainder__name>;
  tensor_number.nb_inplace_power = inplace_power;
  tensor_number.nb_inplace_and = inplace<bitwise_and_, bitwise_and__name>;
  tensor_number.nb_inplace_or = inplace<bitwise_or_, bitwise_or__name>;
  tensor_number.nb_inplace_xor = inplace<bitwise_xor_, bitwise_xor__name>;
  tensor_number.nb_inplace_lshift = inplace<bitwise_left_shift_, bitwise_left_shift__name>;
  tensor_number.nb_inplace_rshift = inplace<bitwise_right_shift_, bitwise_right_shift__name>;
  type.tp_richcompare = compare;
}

}  // namespace taeda::python
