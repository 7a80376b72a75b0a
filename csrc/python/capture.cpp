// What export is made of: a Python function that hears of every op as the program calls it, composites whole, below
// autocast and batching and above autograd.
#include <utility>

#include "python/op_objects.h"
#include "python/types.h"
#include "taeda/core/thread_state.h"
#include "taeda/dispatch/library.h"

namespace taeda::python {

namespace {

thread_local PyObject* t_listener;

// Nobody listens to what the listener calls.
struct Off {
  PyObject* listener = std::exchange(t_listener, nullptr);
  Off() { t_state.include = t_state.include - KeySet(Functionality::Tracer); }
  ~Off() {
    t_listener = listener;
    if (listener) t_state.include = t_state.include | Functionality::Tracer;
  }
};

std::shared_ptr<Kernel> g_next;  // who had the place before, for other threads and other tracers

void go_on(const Op& op, KeySet keys, Stack& stack) {
  if (g_next && g_next->boxed) return g_next->boxed(op, keys, stack);
  op.call_boxed(keys & KeySet::below(Functionality::Tracer), stack);
}

void tell(const Op& op, KeySet keys, Stack& stack) {
  if (!t_listener) return go_on(op, keys, stack);
  WithGil locked;
  held_at_exit([&] {
    PythonArguments arguments = to_python_arguments(op, stack);
    Owned object(op_object(op)), result;
    {
      Off off;
      PyObject* values[] = {object.get(), arguments.positional.get(), arguments.keywords.get()};
      result = call_python([&] { return PyObject_Vectorcall(off.listener, values, 3, nullptr); });
    }
    put_results(op, result.get(), stack);
  });
}

void take_place() {
  int slot = slot_of(Functionality::Tracer, DeviceType::CPU);
  static std::shared_ptr<Kernel> mine;  // the GIL guards it
  std::shared_ptr<Kernel> there = fallback_at(slot);
  if (mine && there == mine) return;
  g_next = std::move(there);
  mine = std::make_shared<Kernel>();
  mine->boxed = tell;
  mine->where = __FILE__;
  set_fallback(slot, mine);
}

PyObject* set_listener(PyObject*, PyObject* wanted) {
  return guarded("_set_capture", [&] {
    PyObject* former = t_listener ? t_listener : Py_NewRef(Py_None);
    t_listener = wanted == Py_None ? nullptr : Py_NewRef(wanted);
    if (t_listener) {
      take_place();
      t_state.include = t_state.include | Functionality::Tracer;
    } else {
      t_state.include = t_state.include - KeySet(Functionality::Tracer);
    }
    return former;
  });
}

PyMethodDef g_functions[] = {
    {"_set_capture", set_listener, METH_O,
     "_set_capture(function): in this thread function(op, args, kwargs) answers every op that the program calls; None "
     "ends it. Gives the function before."},
    {}};

}  // namespace

int init_capture(PyObject* module) { return PyModule_AddFunctions(module, g_functions); }

}  // namespace taeda::python
