// The object fields that __slots__ of Python classes made below a class of ours.
#pragma once
#include "python/types.h"
// after Python.h
#include <structmember.h>

namespace taeda::python {

// Calls `visit` with the address of each; stops when it returns other than 0, and returns that.
template <class F>
int for_each_slot(PyObject* self, const PyTypeObject* base, F&& visit) {
  for (PyTypeObject* type = Py_TYPE(self); type && type != base; type = type->tp_base) {
    for (Py_ssize_t i = 0, n = type->tp_flags & Py_TPFLAGS_HEAPTYPE ? Py_SIZE(type) : 0; i < n; ++i) {
      const PyMemberDef& member = type->tp_members[i];
      if (member.type != T_OBJECT_EX || member.flags & READONLY) continue;
      PyObject** slot = reinterpret_cast<PyObject**>(reinterpret_cast<char*>(self) + member.offset);
      if (int stop = visit(slot)) return stop;
    }
  }
  return 0;
}

inline void clear_slots(PyObject* self, const PyTypeObject* base) {
  for_each_slot(self, base, [](PyObject** slot) {
    Py_CLEAR(*slot);
    return 0;
  });
}

inline int visit_slots(PyObject* self, const PyTypeObject* base, visitproc visit, void* arg) {
  return for_each_slot(self, base, [&](PyObject** slot) {
    Py_VISIT(*slot);
    return 0;
  });
}

}  // namespace taeda::python
