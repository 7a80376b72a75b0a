// __torch_dispatch__: modes and tensor subclasses that answer ops below autograd.
#include <algorithm>
#include <cstring>
#include <optional>

#include "python/op_objects.h"
#include "python/torch_function.h"
#include "python/types.h"
#include "taeda/core/thread_state.h"
#include "taeda/dispatch/library.h"

namespace taeda::python {

namespace {

PyObject* g_rules;      // {(op, class): function}
PyObject* g_name;       // "__torch_dispatch__"
PyObject* g_outermost;  // the class that is asked before all others: batches, whose values may be of any class
PyObject* g_disabled;   // what Tensor itself has

// This thread's modes, innermost last; while there are any, every call sees the Python layer.
thread_local std::vector<PyObject*>* t_modes;
std::vector<PyObject*>& modes() {
  if (!t_modes) t_modes = new std::vector<PyObject*>();
  return *t_modes;
}
void push(PyObject* owned) {
  enable_torch_dispatch();
  modes().push_back(owned);
  t_state.include = t_state.include | kPythonKeys;
}
PyObject* pop() {
  PyObject* mode = modes().back();
  modes().pop_back();
  if (modes().empty()) t_state.include = t_state.include - kPythonKeys;
  return mode;
}

// What a thread's outermost call under the Python layer saw, before autograd shut itself off.
struct Snapshot {
  KeySet include, exclude;
};
thread_local std::optional<Snapshot> t_snapshot;

// --- who answers

// The tensors among the arguments whose class has its own __torch_dispatch__, one of each class, subclasses first.
struct Handlers {
  std::vector<PyObject*> objects;  // borrowed from the arguments

  void note(PyObject* object) {
    if (PyTuple_Check(object) || PyList_Check(object)) {
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) note(PySequence_Fast_GET_ITEM(object, i));
      return;
    }
    if (!is_tensor(object) || !unwrap(object).keys().has(Functionality::Python)) return;
    auto same = [&](PyObject* other) { return Py_TYPE(other) == Py_TYPE(object); };
    if (std::ranges::any_of(objects, same)) return;
    if (reinterpret_cast<PyObject*>(Py_TYPE(object)) == g_outermost)
      return void(objects.insert(objects.begin(), object));
    auto base = std::ranges::find_if(
        objects, [&](PyObject* other) { return PyType_IsSubtype(Py_TYPE(object), Py_TYPE(other)); });
    objects.insert(base, object);
  }
  void note_all(const PythonArguments& arguments) {
    note(arguments.positional.get());
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(arguments.keywords.get(), &at, &key, &value);) note(value);
  }
  PyObject* types() const {
    Owned tuple(check(PyTuple_New(static_cast<Py_ssize_t>(objects.size()))));
    for (size_t i = 0; i < objects.size(); ++i)
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                       Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(objects[i]))));
    return tuple.release();
  }
};

// What a program registered for one op and one class of modes or tensors; null where nothing.
PyObject* rule_for(PyObject* op, PyObject* handler) {
  if (PyDict_GET_SIZE(g_rules) == 0) return nullptr;
  PyObject* cls = PyType_Check(handler) ? handler : reinterpret_cast<PyObject*>(Py_TYPE(handler));
  Owned key(check(PyTuple_Pack(2, op, cls)));
  return PyDict_GetItemWithError(g_rules, key.get());
}

struct Question {
  PyObject *op, *types, *args, *kwargs;
  PyObject* ask(PyObject* handler) const {
    if (PyObject* rule = rule_for(op, handler)) {
      PyObject* arguments[] = {handler, op, types, args, kwargs};
      return call_python([&] { return PyObject_Vectorcall(rule, arguments, 5, nullptr); }).release();
    }
    Owned method(check(PyObject_GetAttr(handler, g_name)));
    PyObject* arguments[] = {op, types, args, kwargs};
    return call_python([&] { return PyObject_Vectorcall(method.get(), arguments, 4, nullptr); }).release();
  }
};

// The innermost mode is off while it answers, so that it may call what it was asked.
PyObject* ask_mode(const Question& question) {
  struct Off {
    PyObject* mode = pop();
    ~Off() { push(mode); }
  } off;
  return question.ask(off.mode);
}

PyObject* answer(const Question& question, const Handlers& handlers) {
  if (!modes().empty()) {
    Owned result(ask_mode(question));
    if (result.get() != Py_NotImplemented) return result.release();
  }
  for (PyObject* object : handlers.objects) {
    Owned result(question.ask(reinterpret_cast<PyObject*>(Py_TYPE(object))));
    if (result.get() != Py_NotImplemented) return result.release();
  }
  return nullptr;
}

// Arithmetic with a number goes by the name of the tensor overload, which is what programs look for.
const Op& shown_as(const Op& op) {
  constexpr std::string_view kArithmetic[] = {"add",  "sub",  "mul",  "div",  "floor_divide",
                                              "add_", "sub_", "mul_", "div_", "floor_divide_"};
  if (strcmp(op.info().overload, "Scalar") != 0 ||
      std::ranges::find(kArithmetic, op.plain_name()) == std::end(kArithmetic))
    return op;
  const Op* tensor = find_op(op.info().name, "Tensor");
  return tensor ? *tensor : op;
}

void ask_python(const Op& op, KeySet keys, Stack& stack) {
  PythonArguments arguments = to_python_arguments(op, stack);
  Handlers handlers;
  handlers.note_all(arguments);
  if (modes().empty() && handlers.objects.empty())
    return op.call_boxed(keys & KeySet::below(Functionality::Python), stack);
  Owned object(op_object(shown_as(op))), types(handlers.types());
  Owned result;
  {
    BelowAutograd below;
    result = Owned(answer({object.get(), types.get(), arguments.positional.get(), arguments.keywords.get()}, handlers));
  }
  if (!result) {
    std::string list;
    for (PyObject* handler : handlers.objects) list += str(list.empty() ? "" : ", ", Py_TYPE(handler)->tp_name);
    TAEDA_FAIL(Type, "every __torch_dispatch__ (", list.empty() ? std::string("of the modes") : list,
               ") returned NotImplemented for ", op.qualified_name());
  }
  put_results(op, result.get(), stack);
}

// The kernel of the Python layer for every op that has none of its own there.
void dispatch_to_python(const Op& op, KeySet keys, Stack& stack) {
  WithGil locked;
  held_at_exit([&] { ask_python(op, keys, stack); });
}

void take_snapshot(const Op& op, KeySet keys, Stack& stack) {
  struct Kept {
    bool first = !t_snapshot;
    Kept() {
      if (first) t_snapshot = Snapshot{t_state.include, t_state.exclude};
    }
    ~Kept() {
      if (first) t_snapshot.reset();
    }
  } kept;
  op.call_boxed(keys & KeySet::below(Functionality::PythonSnapshot), stack);
}

void set_layer(Functionality layer, void (*function)(const Op&, KeySet, Stack&)) {
  auto kernel = std::make_shared<Kernel>();
  kernel->boxed = function;
  kernel->where = __FILE__;
  set_fallback(slot_of(layer, DeviceType::CPU), std::move(kernel));
}

// --- functions of _C

PyObject* push_mode(PyObject*, PyObject* mode) {
  return guarded("_push_torch_dispatch_mode", [&] {
    push(Py_NewRef(mode));
    return Py_NewRef(Py_None);
  });
}
PyObject* pop_mode(PyObject*, PyObject*) {
  return guarded("_pop_torch_dispatch_mode", [&] {
    TAEDA_CHECK(!modes().empty(), "there is no dispatch mode to leave");
    return pop();
  });
}
PyObject* count_modes(PyObject*, PyObject*) { return PyLong_FromSize_t(modes().size()); }
PyObject* mode_at(PyObject*, PyObject* index) {
  return guarded("_get_dispatch_stack_at", [&] {
    int64_t i = to_int(index, "index"), n = static_cast<int64_t>(modes().size());
    TAEDA_CHECK_INDEX(i >= 0 && i < n, "there are ", n, " dispatch modes; got index ", i);
    return Py_NewRef(modes()[static_cast<size_t>(i)]);
  });
}

// Tensor.__torch_dispatch__: the op as it is, without asking again.
PyObject* disabled(PyObject*, PyObject* args, PyObject* kwargs) {
  return guarded("Tensor.__torch_dispatch__", [&] {
    const Given given(args, kwargs);
    Below skip(kPythonKeys);
    return given.call();
  });
}

PyObject* set_outermost(PyObject*, PyObject* cls) {
  Py_XSETREF(g_outermost, Py_NewRef(cls));
  Py_RETURN_NONE;
}

PyMethodDef g_functions[] = {{"_push_torch_dispatch_mode", push_mode, METH_O, nullptr},
                             {"_pop_torch_dispatch_mode", pop_mode, METH_NOARGS, nullptr},
                             {"_len_torch_dispatch_stack", count_modes, METH_NOARGS, nullptr},
                             {"_get_dispatch_stack_at", mode_at, METH_O, nullptr},
                             {"_set_outermost_class", set_outermost, METH_O, nullptr},
                             {"_disabled_torch_dispatch_impl", as_method(disabled), METH_VARARGS | METH_KEYWORDS,
                              "A __torch_dispatch__ that opts out: calls the op as it is."},
                             {}};

// --- context managers without arguments

struct ScopeObject {
  PyObject_HEAD
  KeySet include, exclude;
};
PyTypeObject g_disable_all = static_type("taeda._C.DisableTorchFunction", sizeof(ScopeObject));
PyTypeObject g_disable_subclass = static_type("taeda._C.DisableTorchFunctionSubclass", sizeof(ScopeObject));
PyTypeObject g_restore = static_type("taeda._C._RestorePythonTLSSnapshot", sizeof(ScopeObject));

template <bool all>
PyObject* disable(PyObject*, PyObject*) {
  disable_torch_function(all, 1);
  Py_RETURN_NONE;
}
template <bool all>
PyObject* enable(PyObject*, PyObject* const*, Py_ssize_t) {
  disable_torch_function(all, -1);
  Py_RETURN_NONE;
}
PyObject* restore(PyObject* self, PyObject*) {
  return guarded("_RestorePythonTLSSnapshot", [&] {
    TAEDA_CHECK(t_snapshot, "there is nothing to restore outside of a __torch_dispatch__");
    auto* scope = reinterpret_cast<ScopeObject*>(self);
    scope->include =
        std::exchange(t_state.include, modes().empty() ? t_snapshot->include - kPythonKeys : t_snapshot->include);
    scope->exclude = std::exchange(t_state.exclude, t_snapshot->exclude);
    return Py_NewRef(Py_None);
  });
}
PyObject* unrestore(PyObject* self, PyObject* const*, Py_ssize_t) {
  t_state.include = reinterpret_cast<ScopeObject*>(self)->include;
  t_state.exclude = reinterpret_cast<ScopeObject*>(self)->exclude;
  Py_RETURN_NONE;
}

PyMethodDef g_all_methods[] = {{"__enter__", disable<true>, METH_NOARGS, nullptr},
                               {"__exit__", as_method(enable<true>), METH_FASTCALL, nullptr},
                               {}};
PyMethodDef g_subclass_methods[] = {{"__enter__", disable<false>, METH_NOARGS, nullptr},
                                    {"__exit__", as_method(enable<false>), METH_FASTCALL, nullptr},
                                    {}};
PyMethodDef g_restore_methods[] = {
    {"__enter__", restore, METH_NOARGS, nullptr}, {"__exit__", as_method(unrestore), METH_FASTCALL, nullptr}, {}};

int add_scope(PyObject* module, PyTypeObject& type, PyMethodDef* methods, const char* doc) {
  type.tp_new = PyType_GenericNew;
  type.tp_methods = methods;
  type.tp_doc = doc;
  return add_type(module, type);
}

}  // namespace

void enable_torch_dispatch() {
  static bool done = false;  // the GIL guards it
  if (std::exchange(done, true)) return;
  set_layer(Functionality::Python, dispatch_to_python);
  set_layer(Functionality::PythonSnapshot, take_snapshot);
}

Tensor shown_to_modes(Tensor fresh) {
  if (modes().empty() || t_state.exclude.has(Functionality::Python)) return fresh;
  const Op& op = *find_op("aten::lift_fresh", "");
  Stack stack{fresh};
  dispatch_to_python(op, fresh.keys(), stack);
  return stack.back().to_tensor();
}

int init_dispatch_mode(PyObject* module) {
  g_name = PyUnicode_InternFromString("__torch_dispatch__");
  g_rules = PyDict_New();
  if (PyModule_AddFunctions(module, g_functions) < 0 || PyModule_AddObjectRef(module, "_dispatch_rules", g_rules) < 0)
    return -1;
  g_disabled = PyObject_GetAttrString(module, "_disabled_torch_dispatch_impl");
  if (!g_disabled || PyDict_SetItem(tensor_base_type->tp_dict, g_name, g_disabled) < 0) return -1;
  PyType_Modified(tensor_base_type);
  bool good =
      add_scope(module, g_disable_all, g_all_methods,
                "DisableTorchFunction()\n--\n\nCalls in this scope ignore __torch_function__, modes included.") == 0 &&
      add_scope(module, g_disable_subclass, g_subclass_methods,
                "DisableTorchFunctionSubclass()\n--\n\nCalls in this scope ignore the __torch_function__ of tensor "
                "subclasses.") == 0 &&
      add_scope(module, g_restore, g_restore_methods,
                "Calls in this scope start at the top of the dispatcher again, autograd included.") == 0;
  return good ? 0 : -1;
}

}  // namespace taeda::python
