#include "python/operators.h"

#include "python/error.h"
#include "python/parser.h"

namespace taeda::python::operators {

PyObject* compare(PyObject* left, PyObject* right, int op) {
  if (Compare function = comparisons[op]) return function(left, right);
  Py_RETURN_NOTIMPLEMENTED;
}

PyObject* number_operand(PyObject* object) {
  return guarded("operator", [&]() -> PyObject* {
    Scalar number;
    if (PySequence_Check(object) || !read_number(object, number)) Py_RETURN_NOTIMPLEMENTED;
    return wrap(autograd::number_tensor(number));
  });
}

}  // namespace taeda::python::operators
