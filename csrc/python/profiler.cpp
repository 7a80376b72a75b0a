// The profiler below taeda.autograd.profiler: starting, stopping and marking scopes; events leave as tuples.
#include "dispatch/profiler.h"

#include "python/op_objects.h"
#include "python/types.h"
#include "taeda/autograd/node.h"

namespace taeda::python {

namespace {

PyObject* start(PyObject*, PyObject* args) {
  int arguments, memory;
  PyObject* stack;
  if (!PyArg_ParseTuple(args, "ppO", &arguments, &memory, &stack)) return nullptr;
  return guarded("profiler", [&] {
    ProfileOptions options;
    options.arguments = arguments != 0;
    options.memory = memory != 0;
    options.sequence = autograd::next_sequence_nr;
    if (stack != Py_None)
      options.stack = [function = make_ref<HeldObject>(stack)]() -> Ref<RefCounted> {
        WithGil locked;
        Owned frames(check(PyObject_CallNoArgs(function->object)));
        return make_ref<HeldObject>(frames.get());
      };
    start_profile(std::move(options));
    return Py_NewRef(Py_None);
  });
}

template <class T, class Wrap>
Owned list_of(const T& items, Wrap&& wrap_item) {
  Owned list(check(PyList_New(0)));
  for (const auto& item : items) {
    Owned object(check(wrap_item(item)));
    check(PyList_Append(list.get(), object.get()));
  }
  return list;
}

// (sizes, dtype, value): no sizes and None for what is no tensor.
PyObject* wrap_argument(const ProfileArgument& argument) {
  Owned sizes = list_of(argument.sizes, PyLong_FromLongLong);
  Owned dtype(argument.dtype == DType::Undefined ? Py_NewRef(Py_None) : wrap(argument.dtype));
  Owned value(check(wrap(argument.value)));
  return PyTuple_Pack(3, sizes.get(), dtype.get(), value.get());
}

// (name, overload, kind, start, end, parent, sequence, bytes, arguments, stack)
PyObject* wrap_event(const ProfileEvent& event) {
  const char* overload = event.op ? event.op->info().overload : "";
  Owned arguments = list_of(event.arguments, wrap_argument);
  PyObject* stack = event.stack ? static_cast<const HeldObject*>(event.stack.get())->object : Py_None;
  return Py_BuildValue("ssiLLLLLOO", event.op ? event.op->info().name : event.name.c_str(), overload,
                       static_cast<int>(event.kind), event.start, event.end, event.parent, event.sequence, event.bytes,
                       arguments.get(), stack);
}

PyObject* stop(PyObject*, PyObject*) {
  return guarded("profiler", [] { return list_of(stop_profile(), wrap_event).release(); });
}

PyObject* enter(PyObject*, PyObject* args) {
  const char* name;
  const char* argument;
  if (!PyArg_ParseTuple(args, "sz", &name, &argument)) return nullptr;
  return guarded("record_function", [&] {
    Value value = argument ? Value(argument) : Value();
    return PyLong_FromUnsignedLongLong(begin_event(name, ProfileKind::User, -1, std::move(value)));
  });
}

PyObject* leave(PyObject*, PyObject* event) {
  uint64_t number = PyLong_AsUnsignedLongLong(event);
  if (PyErr_Occurred()) return nullptr;
  end_event(number);
  Py_RETURN_NONE;
}

PyObject* is_running(PyObject*, PyObject*) { return PyBool_FromLong(is_profiled()); }

PyMethodDef g_functions[] = {
    {"_profiler_start", start, METH_VARARGS,
     "_profiler_start(arguments, memory, stack): records this thread's calls; stack() gives what is kept of frames."},
    {"_profiler_stop", stop, METH_NOARGS, "The events since _profiler_start, as tuples."},
    {"_profiler_enter", enter, METH_VARARGS, "_profiler_enter(name, argument): begins an event; gives its number."},
    {"_profiler_leave", leave, METH_O, "_profiler_leave(number): ends it and all inside it."},
    {"_profiler_enabled", is_running, METH_NOARGS, "Whether this thread is being profiled."},
    {}};

}  // namespace

int init_profiler(PyObject* module) { return PyModule_AddFunctions(module, g_functions); }

}  // namespace taeda::python
