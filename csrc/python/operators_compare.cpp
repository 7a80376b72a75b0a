#include "python/operators.h"

namespace taeda::python::operators {

PyObject* compare(PyObject* left, PyObject* right, int op) {
  if (Compare function = comparisons[op]) return function(left, right);
  Py_RETURN_NOTIMPLEMENTED;
}

}  // namespace taeda::python::operators
