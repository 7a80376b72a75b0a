// Functions written in Python that __torch_function__ takes over as it does the generated ones.
#include "python/exceptions.h"
#include "python/torch_function.h"
#include "python/types.h"

namespace taeda::python {

namespace {

// Looks like the function that it calls: whatever attribute it has not itself is the function's.
struct Overridable {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject* function;
  PyObject* weakrefs;
};
PyObject*& function_of(PyObject* self) { return reinterpret_cast<Overridable*>(self)->function; }

PyObject* take_over(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  Owned module(check(PyImport_ImportModule("taeda.overrides")));
  Owned handler(check(PyObject_GetAttrString(module.get(), "_take_over")));
  std::vector<PyObject*> all{self};
  all.insert(all.end(), args, args + n + (names ? PyTuple_GET_SIZE(names) : 0));
  return check(PyObject_Vectorcall(handler.get(), all.data(), static_cast<size_t>(n) + 1, names));
}

// What a function written in Python says of an argument that is no tensor, where it went on to ask it something.
void name_argument(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  PythonError raised;
  Owned module(check(PyImport_ImportModule("taeda._main.wrong_argument")));
  Owned finder(check(PyObject_GetAttrString(module.get(), "wrong_argument")));
  std::vector<PyObject*> all{function_of(self)};
  all.insert(all.end(), args, args + n + (names ? PyTuple_GET_SIZE(names) : 0));
  Owned message(check(PyObject_Vectorcall(finder.get(), all.data(), static_cast<size_t>(n) + 1, names)));
  if (message.get() == Py_None)
    raised.restore();
  else
    PyErr_SetObject(PyExc_AttributeError, message.get());
}

PyObject* call(PyObject* self, PyObject* const* args, size_t flags, PyObject* names) {
  return guarded("__torch_function__", [&] {
    const Py_ssize_t n = PyVectorcall_NARGS(flags);
    Overloaded overloaded;
    overloaded.note_all(args, n + (names ? PyTuple_GET_SIZE(names) : 0));
    if (overloaded.must_dispatch()) return take_over(self, args, n, names);
    PyObject* result = PyObject_Vectorcall(function_of(self), args, flags, names);
    if (!result && PyErr_ExceptionMatches(PyExc_AttributeError)) name_argument(self, args, n, names);
    return result;
  });
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject* function;
  if (!PyArg_ParseTuple(args, "O!:_overridable", &PyFunction_Type, &function)) return nullptr;
  PyObject* self = type->tp_alloc(type, 0);
  if (!self) return nullptr;
  reinterpret_cast<Overridable*>(self)->vectorcall = call;
  function_of(self) = Py_NewRef(function);
  return self;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(function_of(self));
  return 0;
}
int clear(PyObject* self) {
  Py_CLEAR(function_of(self));
  return 0;
}
void dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (reinterpret_cast<Overridable*>(self)->weakrefs) PyObject_ClearWeakRefs(self);
  clear(self);
  Py_TYPE(self)->tp_free(self);
}

PyObject* bind(PyObject* self, PyObject* instance, PyObject*) {
  return instance ? PyMethod_New(self, instance) : Py_NewRef(self);
}
PyObject* get(PyObject* self, PyObject* name) {
  PyObject* own = PyObject_GenericGetAttr(self, name);
  if (own || !PyErr_ExceptionMatches(PyExc_AttributeError)) return own;
  PyErr_Clear();
  return PyObject_GetAttr(function_of(self), name);
}
int set(PyObject* self, PyObject* name, PyObject* value) { return PyObject_SetAttr(function_of(self), name, value); }
PyObject* repr(PyObject* self) { return PyObject_Repr(function_of(self)); }

// Pickled by its name, and so copied as itself.
PyObject* reduce(PyObject* self, PyObject*) { return PyObject_GetAttrString(function_of(self), "__qualname__"); }
PyObject* doc(PyObject* self, void*) { return PyObject_GetAttrString(function_of(self), "__doc__"); }
PyObject* kind(PyObject*, void*) { return Py_NewRef(reinterpret_cast<PyObject*>(&PyFunction_Type)); }
PyObject* wrapped(PyObject* self, void*) { return Py_NewRef(function_of(self)); }

PyMethodDef g_methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {}};
PyGetSetDef g_members[] = {{"__class__", kind, nullptr, nullptr, nullptr},  // for inspect
                           {"__doc__", doc, nullptr, nullptr, nullptr},
                           {"__wrapped__", wrapped, nullptr, nullptr, nullptr},
                           {}};
PyTypeObject g_type = static_type("taeda._C._overridable", sizeof(Overridable));

}  // namespace

int init_overridable(PyObject* module) {
  g_type.tp_flags |= Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
  g_type.tp_vectorcall_offset = offsetof(Overridable, vectorcall);
  g_type.tp_weaklistoffset = offsetof(Overridable, weakrefs);
  g_type.tp_call = PyVectorcall_Call;
  g_type.tp_new = make;
  g_type.tp_dealloc = dealloc;
  g_type.tp_traverse = traverse;
  g_type.tp_clear = clear;
  g_type.tp_descr_get = bind;
  g_type.tp_getattro = get;
  g_type.tp_setattro = set;
  g_type.tp_repr = repr;
  g_type.tp_methods = g_methods;
  g_type.tp_getset = g_members;
  return add_type(module, g_type);
}

}  // namespace taeda::python
