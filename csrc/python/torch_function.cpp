#include "python/torch_function.h"

#include <algorithm>
#include <utility>

#include "python/exceptions.h"
#include "python/items.h"
#include "python/types.h"
#include "taeda/core/warn.h"

namespace taeda::python {

PyTypeObject* parameter_type = nullptr;
int fast_path_blockers = 0;

namespace {

PyObject* g_name;             // "__torch_function__"
PyObject* g_inherited;        // what Tensor's own lookup gives
PyObject* g_disabled;         // _C._disabled_torch_function_impl
thread_local int t_disabled;  // depth of DisableTorchFunction
thread_local int t_subclass_disabled;
thread_local std::vector<PyObject*>* t_modes;
thread_local bool t_skip_next;  // the next call that someone would take over is made instead
// What skip_one_hop called: a native function of the same public name, which it is written in terms of, is it, too.
thread_local PyObject* t_redispatched;

std::vector<PyObject*>& modes() {
  if (!t_modes) t_modes = new std::vector<PyObject*>();
  return *t_modes;
}
bool modes_active() { return t_modes && !t_modes->empty() && t_disabled == 0; }

}  // namespace

Protocol protocol_of(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type == tensor_type) return Protocol::Plain;
  bool tensor = PyType_IsSubtype(type, tensor_base_type);
  if (!tensor && (type == &PyFloat_Type || type == &PyLong_Type || type == &PyTuple_Type || type == &PyList_Type ||
                  type == &PyUnicode_Type || type == &PyBool_Type || object == Py_None))
    return Protocol::None;
  PyObject* found = _PyType_Lookup(type, g_name);
  if (!found) return tensor ? Protocol::Plain : Protocol::None;
  if (found == g_inherited) return Protocol::Subclass;
  if (found == g_disabled) return Protocol::Disabled;
  return Protocol::Custom;
}

void Overloaded::note(PyObject* object) {
  Protocol protocol = protocol_of(object);
  if (protocol == Protocol::Subclass && modes_active()) protocol = Protocol::Custom;  // modes are told of its type
  if (t_disabled > 0 || t_subclass_disabled > 0) return;
  if (protocol == Protocol::Subclass) {
    PyTypeObject* type = Py_TYPE(object);
    if (!subclass || PyType_IsSubtype(type, subclass)) {
      subclass = type;
      first_of_subclass_ = object;
    } else if (!unrelated_ && !PyType_IsSubtype(subclass, type)) {
      unrelated_ = true;
      note_custom(first_of_subclass_);
    }
  }
  if (protocol == Protocol::Custom || (protocol == Protocol::Subclass && unrelated_)) note_custom(object);
}

void Overloaded::note_custom(PyObject* object) {
  auto same_type = [&](const Owned& other) { return Py_TYPE(other.get()) == Py_TYPE(object); };
  if (std::ranges::any_of(custom, same_type)) return;
  auto base = std::ranges::find_if(
      custom, [&](const Owned& other) { return PyType_IsSubtype(Py_TYPE(object), Py_TYPE(other.get())); });
  custom.insert(base, Owned::borrow(object));
}

void Overloaded::note_all(PyObject* const* args, Py_ssize_t n) {
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (is_quick(args[i])) continue;
    note(args[i]);
    if (!PyTuple_Check(args[i]) && !PyList_Check(args[i])) continue;
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(args[i]); ++k) {
      Owned item = item_at(args[i], k);
      if (PyLong_CheckExact(item.get())) break;
      note(item.get());
    }
  }
}

bool Overloaded::is_wanted() const { return !custom.empty() || modes_active(); }

bool Overloaded::must_dispatch(PyObject* function) const {
  if (!is_wanted() || std::exchange(t_skip_next, false)) return false;
  if (!function || function != t_redispatched) return true;
  t_redispatched = nullptr;
  return false;
}

namespace {

// What `method` is bound to; null if to nothing.
PyObject* bound_to(const Owned& method) {
  return PyMethod_Check(method.get()) ? PyMethod_GET_SELF(method.get()) : nullptr;
}

PyObject* ask(const Owned& method, PyObject* function, PyObject* types, PyObject* args, PyObject* kwargs) {
  PyObject* arguments[] = {function, types, args, kwargs};
  return check(PyObject_Vectorcall(method.get(), arguments, 4, nullptr));
}

PyObject* ask_argument(PyObject* object, PyObject* function, PyObject* types, PyObject* args, PyObject* kwargs) {
  Owned method(check(PyObject_GetAttr(object, g_name)));
  if (bound_to(method) == object)
    warn(str(Py_TYPE(object)->tp_name, ".__torch_function__ as a plain method is deprecated; make it a classmethod"));
  return ask(method, function, types, args, kwargs);
}

// Innermost mode first; while it runs, it is off the stack.
PyObject* ask_mode(PyObject* function, PyObject* types, PyObject* args, PyObject* kwargs) {
  PyObject* mode = modes().back();
  modes().pop_back();
  struct Restore {
    PyObject* mode;
    ~Restore() { modes().push_back(mode); }
  } restore{mode};
  Owned method(check(PyObject_GetAttr(mode, g_name)));
  PyObject* owner = bound_to(method);
  TAEDA_CHECK(!owner || !PyType_Check(owner), Py_TYPE(mode)->tp_name,
              ".__torch_function__ of a mode must be a plain method; it is a classmethod");
  return ask(method, function, types, args, kwargs);
}

}  // namespace

PyObject* call_torch_function(PyObject* function, const Overloaded& overloaded, PyObject* const* args, Py_ssize_t n,
                              PyObject* names) {
  Owned positional(check(PyTuple_New(n)));
  for (Py_ssize_t i = 0; i < n; ++i) PyTuple_SET_ITEM(positional.get(), i, Py_NewRef(args[i]));
  Owned keywords(check(PyDict_New()));
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i)
    check(PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(names, i), args[n + i]));
  Owned types(check(PyTuple_New(static_cast<Py_ssize_t>(overloaded.custom.size()))));
  for (size_t i = 0; i < overloaded.custom.size(); ++i)
    PyTuple_SET_ITEM(types.get(), static_cast<Py_ssize_t>(i),
                     Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(overloaded.custom[i].get()))));

  if (modes_active()) {
    Owned result(ask_mode(function, types.get(), positional.get(), keywords.get()));
    if (result.get() != Py_NotImplemented) return result.release();
  }
  for (const Owned& object : overloaded.custom) {
    Owned result(ask_argument(object.get(), function, types.get(), positional.get(), keywords.get()));
    if (result.get() != Py_NotImplemented) return result.release();
  }
  std::string list;
  for (const Owned& object : overloaded.custom) list += str(list.empty() ? "" : ", ", Py_TYPE(object.get())->tp_name);
  TAEDA_FAIL(Type, "every __torch_function__ of its arguments' types (", list, ") returned NotImplemented");
}

PyObject* ask_right_operand(const char* name, PyObject* left, PyObject* right) {
  if (Py_TYPE(left) == Py_TYPE(right) || protocol_of(right) != Protocol::Custom) return Py_NewRef(Py_NotImplemented);
  Overloaded overloaded;
  PyObject* args[] = {right, left};
  overloaded.note_all(args, 2);
  if (!overloaded.must_dispatch()) return Py_NewRef(Py_NotImplemented);
  return guarded(name, [&] {
    Owned function(check(PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), name)));
    return call_torch_function(function.get(), overloaded, args, 2, nullptr);
  });
}

PyObject* convert_results(PyObject* result, PyTypeObject* type) {
  Owned held(result);
  if (is_tensor(result)) {
    if (Py_TYPE(result) != tensor_type) return held.release();
    if (Py_REFCNT(result) == 1) {
      Tensor tensor = unwrap(result);
      held = Owned();
      if (!tensor->python_object) return wrap_as(type, std::move(tensor));
      return wrap(std::move(tensor));
    }
    return held.release();
  }
  bool named =
      PyTuple_Check(result) && PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(result)), "n_fields");
  if (PyTuple_CheckExact(result) || PyList_CheckExact(result) || named) {
    Py_ssize_t n = PySequence_Fast_GET_SIZE(result);
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject** items = PySequence_Fast_ITEMS(result);
      PyObject* item = items[i];
      items[i] = Py_NewRef(Py_None);
      Py_DECREF(Py_None);
      items[i] = check(convert_results(item, type));
    }
  }
  return held.release();
}

Given::Given(PyObject* args, PyObject* kwargs) {
  static const char* kNames[] = {"func", "types", "args", "kwargs", nullptr};
  PyObject *list = nullptr, *given = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO", const_cast<char**>(kNames), &function, &types, &list, &given))
    throw PythonError();
  if (list == Py_None) list = nullptr;
  TAEDA_CHECK_TYPE(!list || PyTuple_Check(list) || PyList_Check(list), "args must be a tuple or a list; got ",
                   Py_TYPE(list)->tp_name);
  positional = Owned(check(list ? PySequence_Tuple(list) : PyTuple_New(0)));
  keywords = given == Py_None ? nullptr : given;
  TAEDA_CHECK_TYPE(!keywords || PyDict_Check(keywords), "kwargs must be a dict; got ", Py_TYPE(given)->tp_name);
}

namespace {

PyObject* without_subclasses(const Given& given) {
  struct Off {
    Off() { disable_torch_function(false, 1); }
    ~Off() { disable_torch_function(false, -1); }
  } off;
  return given.call();
}

// Tensor.__torch_function__: runs the function with the protocol off for subclasses, and makes results the class.
PyObject* default_torch_function(PyObject* cls, PyObject* args, PyObject* kwargs) {
  return guarded("Tensor.__torch_function__", [&]() -> PyObject* {
    const Given given(args, kwargs);
    Owned items(check(PyObject_GetIter(given.types)));  // it may have no end: each type is looked at as it comes
    while (PyObject* next = PyIter_Next(items.get())) {
      Owned type(next);
      int related = PyObject_IsSubclass(cls, next);
      check(related);
      if (!related) return Py_NewRef(Py_NotImplemented);
    }
    if (PyErr_Occurred()) throw PythonError();
    PyObject* result = without_subclasses(given);
    auto* type = reinterpret_cast<PyTypeObject*>(cls);
    return type == tensor_type ? result : convert_results(result, type);
  });
}

PyObject* disabled_torch_function(PyObject*, PyObject* args, PyObject* kwargs) {
  return guarded("_disabled_torch_function_impl", [&] { return without_subclasses(Given(args, kwargs)); });
}

PyObject* skip_one_hop(PyObject*, PyObject* arguments) {
  return guarded("_skip_one_hop_torch_function", [&] {
    const Given given(arguments, nullptr);
    Scoped skip(t_skip_next, true);
    Scoped redispatched(t_redispatched, given.function);
    return given.call();
  });
}

PyObject* take_skip(PyObject*, PyObject*) { return PyBool_FromLong(std::exchange(t_skip_next, false)); }

PyObject* push_mode(PyObject*, PyObject* mode) {
  modes().push_back(Py_NewRef(mode));
  ++fast_path_blockers;
  Py_RETURN_NONE;
}

PyObject* pop_mode(PyObject*, PyObject*) {
  if (modes().empty()) {
    PyErr_SetString(PyExc_RuntimeError, "taeda.overrides: there is no function mode to leave");
    return nullptr;
  }
  PyObject* mode = modes().back();
  modes().pop_back();
  --fast_path_blockers;
  return mode;
}

PyObject* mode_count(PyObject*, PyObject*) { return PyLong_FromSize_t(modes().size()); }

PyObject* mode_at(PyObject*, PyObject* index) {
  Py_ssize_t i = PyLong_AsSsize_t(index);
  if (i < 0 || i >= static_cast<Py_ssize_t>(modes().size())) {
    PyErr_SetString(PyExc_IndexError, "taeda.overrides: no such function mode");
    return nullptr;
  }
  return Py_NewRef(modes()[static_cast<size_t>(i)]);
}

// enter(all) / leave(all): DisableTorchFunction (all) and DisableTorchFunctionSubclass.
PyObject* disable_enter(PyObject*, PyObject* all) {
  disable_torch_function(PyObject_IsTrue(all), 1);
  Py_RETURN_NONE;
}
PyObject* disable_leave(PyObject*, PyObject* all) {
  disable_torch_function(PyObject_IsTrue(all), -1);
  Py_RETURN_NONE;
}
// Calls see all of __torch_function__ as long as such an object lives.
struct EnabledObject {
  PyObject_HEAD
  int all, subclasses;  // the depths that it set to zero
};
PyTypeObject g_enabled = static_type("taeda._C._EnableTorchFunction", sizeof(EnabledObject));

PyObject* enabled_new(PyTypeObject* type, PyObject*, PyObject*) {
  auto* self = reinterpret_cast<EnabledObject*>(type->tp_alloc(type, 0));
  if (!self) return nullptr;
  self->all = t_disabled;
  self->subclasses = t_subclass_disabled;
  disable_torch_function(true, -self->all);
  disable_torch_function(false, -self->subclasses);
  return reinterpret_cast<PyObject*>(self);
}

void enabled_deallocate(PyObject* object) {
  auto* self = reinterpret_cast<EnabledObject*>(object);
  disable_torch_function(true, self->all);
  disable_torch_function(false, self->subclasses);
  Py_TYPE(object)->tp_free(object);
}

PyObject* is_all_disabled(PyObject*, PyObject*) { return PyBool_FromLong(t_disabled > 0); }
PyObject* is_enabled(PyObject*, PyObject*) { return PyBool_FromLong(t_disabled == 0 && t_subclass_disabled == 0); }

// Whether any argument has a protocol of its own, or a mode is active: what Python-level functions ask who then call
// a native one, which asks again.
PyObject* has_torch_function(PyObject*, PyObject* relevant) {
  Overloaded overloaded;
  Owned items(PySequence_Tuple(relevant));
  if (!items) return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) overloaded.note(PyTuple_GET_ITEM(items.get(), i));
  return PyBool_FromLong(overloaded.is_wanted() && !t_skip_next);
}

PyObject* set_parameter_type(PyObject*, PyObject* type) {
  parameter_type = reinterpret_cast<PyTypeObject*>(Py_NewRef(type));
  Py_RETURN_NONE;
}

PyMethodDef torch_function_functions[] = {
    {"_disabled_torch_function_impl",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&disabled_torch_function)),
     METH_VARARGS | METH_KEYWORDS, "A __torch_function__ that opts out: calls the function as it is."},
    {"_skip_one_hop_torch_function", skip_one_hop, METH_VARARGS, nullptr},
    {"_take_skipped_hop", take_skip, METH_NOARGS, nullptr},
    {"_push_torch_function_mode", push_mode, METH_O, nullptr},
    {"_pop_torch_function_mode", pop_mode, METH_NOARGS, nullptr},
    {"_len_torch_function_stack", mode_count, METH_NOARGS, nullptr},
    {"_get_torch_function_mode", mode_at, METH_O, nullptr},
    {"_disable_torch_function_enter", disable_enter, METH_O, nullptr},
    {"_disable_torch_function_leave", disable_leave, METH_O, nullptr},
    {"_get_function_stack_at", mode_at, METH_O, nullptr},
    {"_is_torch_function_all_disabled", is_all_disabled, METH_NOARGS, nullptr},
    {"_is_torch_function_enabled", is_enabled, METH_NOARGS, nullptr},
    {"_has_torch_function", has_torch_function, METH_O, nullptr},
    {"_set_parameter_type", set_parameter_type, METH_O, nullptr},
    {},
};

PyMethodDef inherited_method = {
    "__torch_function__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&default_torch_function)),
    METH_VARARGS | METH_KEYWORDS | METH_CLASS, "Calls ``func`` and makes its results instances of this class."};

}  // namespace

void disable_torch_function(bool all, int by) {
  fast_path_blockers += by;
  (all ? t_disabled : t_subclass_disabled) += by;
}

int init_torch_function(PyObject* module) {
  g_name = PyUnicode_InternFromString("__torch_function__");
  if (PyModule_AddFunctions(module, torch_function_functions) < 0) return -1;
  g_enabled.tp_new = enabled_new;
  g_enabled.tp_dealloc = enabled_deallocate;
  if (add_type(module, g_enabled) < 0) return -1;
  g_disabled = PyObject_GetAttrString(module, "_disabled_torch_function_impl");
  g_inherited = PyDescr_NewClassMethod(tensor_base_type, &inherited_method);
  if (!g_inherited || !g_disabled) return -1;
  int result = PyDict_SetItem(tensor_base_type->tp_dict, g_name, g_inherited);
  PyType_Modified(tensor_base_type);
  return result;
}

}  // namespace taeda::python
