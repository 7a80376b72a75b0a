// Grad mode and inference mode: functions, and context managers that also decorate.
#include "python/autograd/init.h"
#include "python/types.h"
#include "taeda/core/tensor.h"
#include "taeda/core/thread_state.h"

namespace taeda::python {
namespace {

constexpr KeySet kWrites = Functionality::ADInplaceOrView;

struct Modes {
  KeySet include, exclude;
  bool grad, inference, forward;
  static Modes now() {
    return {t_state.include, t_state.exclude, t_state.grad_mode, t_state.inference_mode, t_state.forward_grad};
  }
  void put() const {
    // Only what these modes set: others may have been entered since.
    t_state.include = (t_state.include - kWrites) | (include & kWrites);
    t_state.exclude = (t_state.exclude - Functionality::Autograd) | (exclude & KeySet(Functionality::Autograd));
    t_state.grad_mode = grad;
    t_state.inference_mode = inference;
    t_state.forward_grad = forward;
  }
};

// One object serves one `with` at a time; decorated functions take a clone for each call.
struct ModeObject {
  PyObject_HEAD
  PyObject* dict;
  bool mode;         // what the constructor was given
  bool is_function;  // set_grad_enabled: in force since it was called
  Modes before;
};
ModeObject* cast(PyObject* self) { return reinterpret_cast<ModeObject*>(self); }

PyTypeObject g_base = static_type("taeda._C._autograd.GradMode", sizeof(ModeObject));
PyTypeObject g_no_grad = static_type("taeda.autograd.grad_mode.no_grad", sizeof(ModeObject));
PyTypeObject g_enable_grad = static_type("taeda.autograd.grad_mode.enable_grad", sizeof(ModeObject));
PyTypeObject g_set_grad_enabled = static_type("taeda.autograd.grad_mode.set_grad_enabled", sizeof(ModeObject));
PyTypeObject g_inference_mode = static_type("taeda.autograd.grad_mode.inference_mode", sizeof(ModeObject));

void put_grad_mode(bool grad) { t_state.grad_mode = grad; }
void put_inference_mode(bool on) {
  t_state.inference_mode = on;
  t_state.include = on ? t_state.include - kWrites : t_state.include | kWrites;
  // Even enable_grad() inside of it records nothing.
  t_state.exclude = on ? t_state.exclude | Functionality::Autograd : t_state.exclude - Functionality::Autograd;
  // Leaving inference mode inside of it gives ordinary recording back.
  t_state.grad_mode = !on;
  if (on) t_state.forward_grad = false;
}

// Wraps the function so that its body runs in the mode of `context`.
PyObject* decorated(PyObject* context, PyObject* function) {
  static PyObject* decorate;
  if (!decorate) {
    Owned module(PyImport_ImportModule("taeda.autograd._decorate"));
    if (!module || !(decorate = PyObject_GetAttrString(module.get(), "decorate"))) return nullptr;
  }
  PyObject* args[] = {context, function};
  return PyObject_Vectorcall(decorate, args, 2, nullptr);
}

PyObject* new_mode(PyTypeObject* type, bool mode) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self) cast(self)->mode = mode;
  return self;
}

// no_grad() and enable_grad(); also @no_grad without parentheses.
template <bool mode>
PyObject* new_plain(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* function = nullptr;
  static const char* names[] = {"orig_func", nullptr};
  if (PyTuple_GET_SIZE(args) || (kwargs && PyDict_GET_SIZE(kwargs))) {
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", const_cast<char**>(names), &function)) return nullptr;
  }
  Owned self(new_mode(type, mode));
  if (!self || !function || function == Py_None) return self.release();
  if (!PyCallable_Check(function))
    return PyErr_Format(PyExc_TypeError, "%s decorates functions; got %s", type->tp_name, Py_TYPE(function)->tp_name);
  return decorated(self.get(), function);
}

PyObject* new_set_grad_enabled(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  int mode;
  static const char* names[] = {"mode", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "p:set_grad_enabled", const_cast<char**>(names), &mode))
    return nullptr;
  PyObject* self = new_mode(type, mode);
  if (!self) return nullptr;
  cast(self)->before = Modes::now();
  cast(self)->is_function = true;
  put_grad_mode(mode);
  return self;
}

PyObject* new_inference_mode(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* mode = Py_True;
  static const char* names[] = {"mode", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:inference_mode", const_cast<char**>(names), &mode)) return nullptr;
  if (!PyBool_Check(mode) && PyCallable_Check(mode)) {
    Owned self(new_mode(type, true));
    return self ? decorated(self.get(), mode) : nullptr;
  }
  int truth = PyObject_IsTrue(mode);
  return truth < 0 ? nullptr : new_mode(type, truth);
}

int ignore_arguments(PyObject*, PyObject*, PyObject*) { return 0; }

PyObject* enter(PyObject* self, PyObject*) {
  ModeObject* context = cast(self);
  if (context->is_function) Py_RETURN_NONE;
  context->before = Modes::now();
  if (PyType_IsSubtype(Py_TYPE(self), &g_inference_mode))
    put_inference_mode(context->mode);
  else
    put_grad_mode(context->mode);
  Py_RETURN_NONE;
}

PyObject* exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  cast(self)->before.put();
  Py_RETURN_NONE;
}

PyObject* clone(PyObject* self, PyObject*) {
  Owned copy(new_mode(Py_TYPE(self), cast(self)->mode));
  return copy.release();
}

PyObject* call(PyObject* self, PyObject* args, PyObject* kwargs) {
  PyObject* function;
  static const char* names[] = {"func", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", const_cast<char**>(names), &function)) return nullptr;
  // @set_grad_enabled(x) says something about the function only: the switch that its evaluation made is taken back.
  if (cast(self)->is_function) cast(self)->before.put();
  return decorated(self, function);
}

PyObject* get_mode(PyObject* self, void*) { return PyBool_FromLong(cast(self)->mode); }

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(cast(self)->dict);
  return 0;
}
int clear(PyObject* self) {
  Py_CLEAR(cast(self)->dict);
  return 0;
}
void deallocate(PyObject* self) {
  PyObject_GC_UnTrack(self);
  clear(self);
  Py_TYPE(self)->tp_free(self);
}

PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, nullptr},
    {"__exit__", as_method(&exit), METH_FASTCALL, nullptr},
    {"clone", clone, METH_NOARGS, "clone($self)\n--\n\nAnother context of the same mode."},
    {},
};
PyGetSetDef getset[] = {{"mode", get_mode, nullptr, "Whether the mode is switched on.", nullptr},
                        {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                        {}};

// --- functions

PyObject* is_grad_enabled(PyObject*, PyObject*) { return PyBool_FromLong(t_state.grad_mode); }
PyObject* is_inference_mode_enabled(PyObject*, PyObject*) { return PyBool_FromLong(t_state.inference_mode); }
PyObject* is_inference(PyObject*, PyObject* tensor) {
  return guarded("is_inference", [&] {
    TAEDA_CHECK_TYPE(is_tensor(tensor), "takes a tensor; got ", Py_TYPE(tensor)->tp_name);
    return PyBool_FromLong(unwrap(tensor)->is_inference());
  });
}
PyObject* set_grad_mode(PyObject*, PyObject* value) {
  int truth = PyObject_IsTrue(value);
  if (truth < 0) return nullptr;
  t_state.grad_mode = truth;
  Py_RETURN_NONE;
}

template <bool ThreadState::* field, bool on = true>
PyObject* read_switch(PyObject*, PyObject*) {
  return PyBool_FromLong((t_state.*field) == on);
}
template <bool ThreadState::* field, bool on = true>
PyObject* write_switch(PyObject*, PyObject* value) {
  t_state.*field = (PyObject_IsTrue(value) == 1) == on;
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS,
     "is_grad_enabled()\n--\n\nWhether calls are recorded in this thread."},
    {"is_inference_mode_enabled", is_inference_mode_enabled, METH_NOARGS,
     "is_inference_mode_enabled()\n--\n\nWhether this thread is in inference mode."},
    {"is_inference", is_inference, METH_O,
     "is_inference(tensor)\n--\n\nWhether the tensor was made in inference mode."},
    {"_set_grad_enabled", set_grad_mode, METH_O, nullptr},
    {"_is_multithreading_enabled", read_switch<&ThreadState::multithreading>, METH_NOARGS, nullptr},
    {"_set_multithreading_enabled", write_switch<&ThreadState::multithreading>, METH_O, nullptr},
    {"_is_grad_layout_enforced", read_switch<&ThreadState::any_grad_layout, false>, METH_NOARGS, nullptr},
    {"_set_grad_layout_enforced", write_switch<&ThreadState::any_grad_layout, false>, METH_O, nullptr},
    {},
};

int add_mode(PyObject* module, PyTypeObject& type, newfunc make, const char* doc) {
  type.tp_base = &g_base;
  type.tp_flags |= Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  type.tp_traverse = traverse;
  type.tp_clear = clear;
  type.tp_new = make;
  type.tp_init = ignore_arguments;
  type.tp_doc = doc;
  return add_type(module, type);
}

}  // namespace

int init_grad_mode(PyObject* module) {
  g_base.tp_flags |= Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  g_base.tp_doc = "A mode of recording, as a context manager and decorator.";
  g_base.tp_dealloc = deallocate;
  g_base.tp_traverse = traverse;
  g_base.tp_clear = clear;
  g_base.tp_dictoffset = offsetof(ModeObject, dict);
  g_base.tp_methods = methods;
  g_base.tp_getset = getset;
  g_base.tp_call = call;
  if (add_type(module, g_base) < 0 ||
      add_mode(module, g_no_grad, new_plain<false>,
               "no_grad(orig_func=None)\n--\n\nCalls in this scope, or in the decorated function, are not recorded.") <
          0 ||
      add_mode(module, g_enable_grad, new_plain<true>,
               "enable_grad(orig_func=None)\n--\n\nCalls in this scope, or in the decorated function, are recorded.") <
          0 ||
      add_mode(
          module, g_set_grad_enabled, new_set_grad_enabled,
          "set_grad_enabled(mode)\n--\n\nSwitches recording at once; as a context manager, until the scope ends.") <
          0 ||
      add_mode(module, g_inference_mode, new_inference_mode,
               "inference_mode(mode=True)\n--\n\nAs no_grad, and tensors made in the scope never take part in "
               "recording, which "
               "saves their bookkeeping.") < 0)
    return -1;
  return PyModule_AddFunctions(module, functions);
}

}  // namespace taeda::python
