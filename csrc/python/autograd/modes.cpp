// Saved-tensor hooks, anomaly mode and forward mode, and the start-up of all that records.
#include "autograd/anomaly.h"
#include "autograd/arithmetic.h"
#include "python/autograd/init.h"
#include "python/autograd/node_object.h"
#include "python/autograd/python_hooks.h"
#include "python/autograd/saved_hooks.h"
#include "python/core_hooks.h"
#include "taeda/autograd/meta.h"
#include "taeda/autograd/record.h"

namespace taeda::python {
namespace {

// --- transforms

thread_local int t_transforms TAEDA_TLS = 0;  // whose functions run, one inside the other

PyObject* set_transforms(PyObject*, PyObject* count) {
  return guarded("_set_transforms", [&] {
    return PyLong_FromLong(std::exchange(t_transforms, static_cast<int>(to_int(count, "count"))));
  });
}

// --- saved-tensor hooks

struct PythonSavedHooks final : autograd::SavedTensorHooks {
  Ref<HeldObject> pack_function, unpack_function;

  Ref<RefCounted> pack(const Tensor& tensor) override {
    WithGil locked;
    Owned argument(check(wrap(tensor)));
    Owned packed = call_python([&] { return PyObject_CallOneArg(pack_function->object, argument.get()); });
    return make_ref<HeldObject>(packed.get());
  }
  Tensor unpack(const Ref<RefCounted>& packed) override {
    WithGil locked;
    PyObject* object = static_cast<HeldObject*>(packed.get())->object;
    Owned tensor = call_python([&] { return PyObject_CallOneArg(unpack_function->object, object); });
    TAEDA_CHECK_TYPE(is_tensor(tensor.get()), "an unpack hook must return a tensor; got ",
                     Py_TYPE(tensor.get())->tp_name);
    return unwrap(tensor.get());
  }
};

PyObject* push_hooks(PyObject*, PyObject* args) {
  PyObject *pack, *unpack;
  if (!PyArg_ParseTuple(args, "OO", &pack, &unpack)) return nullptr;
  return guarded("saved_tensors_hooks", [&] {
    autograd::push_saved_tensor_hooks(make_saved_tensor_hooks(pack, unpack));
    return Py_NewRef(Py_None);
  });
}
PyObject* pop_hooks(PyObject*, PyObject*) {
  return guarded("saved_tensors_hooks", [] {
    autograd::pop_saved_tensor_hooks();
    return Py_NewRef(Py_None);
  });
}
PyObject* disable_hooks(PyObject*, PyObject* message) {
  return guarded("disable_saved_tensors_hooks", [&] {
    autograd::disable_saved_tensor_hooks(std::string(to_text(message, "error_message")));
    return Py_NewRef(Py_None);
  });
}
PyObject* enable_hooks(PyObject*, PyObject*) {
  autograd::enable_saved_tensor_hooks();
  Py_RETURN_NONE;
}
PyObject* hooks_disabled_message(PyObject*, PyObject*) {
  const std::string* message = autograd::saved_tensor_hooks_disabled();
  return message ? PyUnicode_FromString(message->c_str()) : Py_NewRef(Py_None);
}

// --- anomaly mode

Ref<RefCounted> capture_stack() {
  if (!Py_IsInitialized()) return {};
  WithGil locked;
  if (!PyEval_GetFrame()) return {};
  Owned traceback(check(PyImport_ImportModule("traceback")));
  Owned lines(check(PyObject_CallMethod(traceback.get(), "format_stack", nullptr)));
  Owned empty(check(PyUnicode_FromString("")));
  Owned text(check(PyUnicode_Join(empty.get(), lines.get())));
  return make_ref<HeldObject>(text.get());
}

void show_stack(const RefCounted* stack, std::string_view node, bool is_parent) {
  WithGil locked;
  std::string message = is_parent ? str("that call was itself recorded while the backward of ", node, " ran")
                                  : str("an error was found in ", node);
  const char* text = stack ? PyUnicode_AsUTF8(static_cast<const HeldObject*>(stack)->object) : nullptr;
  message += text ? str("; the forward call was made here:\n", text)
                  : std::string("; where the forward call was made is not known, as anomaly mode was off then");
  if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) == 0) return;
  PyErr_Clear();  // a filter makes it an error, which would hide the one that this is about
  PySys_FormatStderr("%s\n", message.c_str());
}

PyObject* set_anomaly(PyObject*, PyObject* args) {
  int enabled, check_nan = true;
  if (!PyArg_ParseTuple(args, "p|p", &enabled, &check_nan)) return nullptr;
  autograd::set_anomaly_mode({.enabled = enabled != 0, .check_nan = check_nan != 0});
  Py_RETURN_NONE;
}
PyObject* is_anomaly(PyObject*, PyObject*) { return PyBool_FromLong(autograd::anomaly_mode().enabled); }
PyObject* is_anomaly_nan(PyObject*, PyObject*) { return PyBool_FromLong(autograd::anomaly_mode().check_nan); }

// --- forward mode

PyObject* enter_level(PyObject*, PyObject* args) {
  int nests = 0;
  if (!PyArg_ParseTuple(args, "|p", &nests)) return nullptr;
  return guarded("forward_ad.enter_dual_level", [&] { return PyLong_FromLong(autograd::enter_dual_level(nests)); });
}
PyObject* exit_level(PyObject*, PyObject* level) {
  return guarded("forward_ad.exit_dual_level", [&] {
    autograd::exit_dual_level(static_cast<int>(to_int(level, "level")));
    return Py_NewRef(Py_None);
  });
}
const Tensor& tensor_argument(PyObject* object, const char* name) {
  TAEDA_CHECK_TYPE(is_tensor(object), name, " must be a tensor; got ", Py_TYPE(object)->tp_name);
  return unwrap(object);
}
PyObject* get_tangent(PyObject*, PyObject* args) {
  PyObject* tensor;
  int level = 0;
  if (!PyArg_ParseTuple(args, "O|i", &tensor, &level)) return nullptr;
  return guarded("forward_ad.unpack_dual",
                 [&] { return wrap(autograd::tangent(tensor_argument(tensor, "tensor"), level)); });
}
PyObject* set_tangent(PyObject*, PyObject* args) {
  PyObject *tensor, *tangent;
  int level = 0;
  if (!PyArg_ParseTuple(args, "OO|i", &tensor, &tangent, &level)) return nullptr;
  return guarded("forward_ad.make_dual", [&] {
    autograd::set_tangent(tensor_argument(tensor, "tensor"), tensor_argument(tangent, "tangent"), level);
    return Py_NewRef(Py_None);
  });
}
PyObject* primal(PyObject*, PyObject* args) {
  PyObject* tensor;
  int level;
  if (!PyArg_ParseTuple(args, "Oi", &tensor, &level)) return nullptr;
  return guarded("forward_ad.unpack_dual",
                 [&] { return wrap(autograd::primal(tensor_argument(tensor, "tensor"), level)); });
}
PyObject* without_history(PyObject*, PyObject* tensor) {
  return guarded("_without_history",
                 [&] { return wrap(autograd::without_history(tensor_argument(tensor, "tensor"))); });
}
PyObject* see_levels(PyObject*, PyObject* count) {
  return guarded("forward_ad._see_levels", [&] {
    int before = autograd::visible_levels();
    autograd::see_levels(static_cast<int>(to_int(count, "count")));
    return PyLong_FromLong(before);
  });
}

// --- versions

PyObject* increment_version(PyObject*, PyObject* tensor) {
  return guarded("increment_version", [&] {
    const Tensor& t = tensor_argument(tensor, "tensor");
    if (!t->is_inference()) autograd::bump(t, "increment_version");
    return Py_NewRef(Py_None);
  });
}

// The node that accumulates a leaf's gradient; None if no graph leads to it.
PyObject* find_accumulator(PyObject*, PyObject* tensor) {
  return guarded("utils.swap_tensors", [&] {
    Ref<autograd::Node> node = autograd::find_accumulator(tensor_argument(tensor, "tensor"));
    return node ? wrap_node(node) : Py_NewRef(Py_None);
  });
}

PyObject* count_levels(PyObject*, PyObject*) { return PyLong_FromLong(autograd::visible_levels()); }

PyObject* detaches_one_level(PyObject*, PyObject*) {
  return PyBool_FromLong(autograd::arithmetic::detaches_one_level());
}

PyMethodDef functions[] = {
    {"_push_saved_tensors_hooks", push_hooks, METH_VARARGS, nullptr},
    {"_pop_saved_tensors_hooks", pop_hooks, METH_NOARGS, nullptr},
    {"_saved_tensors_hooks_disable", disable_hooks, METH_O, nullptr},
    {"_saved_tensors_hooks_enable", enable_hooks, METH_NOARGS, nullptr},
    {"_saved_tensors_hooks_disabled_message", hooks_disabled_message, METH_NOARGS, nullptr},
    {"set_anomaly_enabled", set_anomaly, METH_VARARGS, "set_anomaly_enabled(mode, check_nan=True)\n--\n\n"},
    {"is_anomaly_enabled", is_anomaly, METH_NOARGS, "is_anomaly_enabled()\n--\n\nWhether anomaly mode is on."},
    {"is_anomaly_check_nan_enabled", is_anomaly_nan, METH_NOARGS,
     "is_anomaly_check_nan_enabled()\n--\n\nWhether anomaly mode looks for NaN in gradients."},
    {"_enter_dual_level", enter_level, METH_VARARGS, "_enter_dual_level(nests=False)"},
    {"_exit_dual_level", exit_level, METH_O, nullptr},
    {"_get_tangent", get_tangent, METH_VARARGS, "_get_tangent(tensor, level=0)"},
    {"_set_tangent", set_tangent, METH_VARARGS, "_set_tangent(tensor, tangent, level=0)"},
    {"_primal", primal, METH_VARARGS, "_primal(tensor, level)"},
    {"_without_history", without_history, METH_O, "The tensor outside the graph, with tangents outside of it."},
    {"_see_dual_levels", see_levels, METH_O,
     "How many dual levels this thread's calls see from now on; gives how many before."},
    {"_detaches_one_level", detaches_one_level, METH_NOARGS,
     "Whether autograd detaches for itself: what a wrapper class wraps then stays in the graphs that it is in."},
    {"_dual_levels", count_levels, METH_NOARGS, "How many dual levels this thread's calls see."},
    {"_find_accumulator", find_accumulator, METH_O, nullptr},
    {"_increment_version", increment_version, METH_O, nullptr},
    {"_set_transforms", set_transforms, METH_O,
     "How many transforms' functions run in this thread from now on; gives how many before."},
    {},
};

}  // namespace

void refuse_in_transforms(const char* call, const char* instead) {
  TAEDA_CHECK(t_transforms == 0, call, " inside a function that a transform of taeda.func runs; ", instead);
}

Ref<autograd::SavedTensorHooks> make_saved_tensor_hooks(PyObject* pack, PyObject* unpack) {
  for (PyObject* hook : {pack, unpack})
    TAEDA_CHECK_TYPE(PyCallable_Check(hook), "saved-tensor hooks must be callable; got ", Py_TYPE(hook)->tp_name);
  auto made = make_ref<PythonSavedHooks>();
  made->pack_function = make_ref<HeldObject>(pack);
  made->unpack_function = make_ref<HeldObject>(unpack);
  return made;
}

int init_autograd(PyObject* module) {
  autograd::anomaly_hooks = {capture_stack, show_stack};
  hooks.autograd_traverse = traverse_autograd;
  PyObject* part = PyImport_AddModule("taeda._C._autograd");  // borrowed; sys.modules keeps it
  if (!part || PyModule_AddObjectRef(module, "_autograd", part) < 0) return -1;
  if (init_nodes(part) < 0 || init_function(module) < 0 || init_engine(part) < 0 || init_grad_mode(part) < 0) return -1;
  return PyModule_AddFunctions(part, functions);
}

}  // namespace taeda::python
