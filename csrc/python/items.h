// Items of lists and tuples that stay alive while they are read: __index__ of one may empty the list.
#pragma once
#include "python/object.h"
#include "taeda/core/error.h"

namespace taeda::python {

inline Owned item_at(PyObject* sequence, Py_ssize_t i) {
  TAEDA_CHECK(i < PySequence_Fast_GET_SIZE(sequence), "a list changed its size while it was read");
  return Owned::borrow(PySequence_Fast_GET_ITEM(sequence, i));
}

}  // namespace taeda::python
