// What explain is made of: the hops of a call, foretold from a key set or told as they happen.
#include "python/op_objects.h"
#include "python/types.h"
#include "taeda/core/thread_state.h"
#include "taeda/dispatch/library.h"

namespace taeda::python {

namespace {

// "Dense" for the kernel of one device, whatever its layout; else the name of what serves every device.
const char* kind_name(const StaticKernel& kernel) {
  if (kernel.functionality == kComposite) return "Composite";
  if (kernel.functionality == Functionality::Autograd) return "Autograd";
  if (kernel.functionality == Functionality::ADInplaceOrView) return "InplaceOrView";
  if (kernel.functionality == Functionality::Autocast) return "Autocast";
  if (kernel.device != kEveryDevice) return "Dense";
  constexpr const char* kByLayout[] = {"AnyDevice", "Quantized", "Sparse", "SparseCsr", "Nested"};
  return kByLayout[static_cast<int>(kernel.functionality)];
}

std::shared_ptr<Kernel> find_registered(const Op& op, int index, uintptr_t slot) {
  void* address = reinterpret_cast<void*>(slot & ~kSlotBits);
  auto serves = [&](const std::shared_ptr<Kernel>& kernel) {
    return kernel && (slot & kBoxedBit ? kernel.get() == address : kernel->unboxed == address);
  };
  for (int at : {index, static_cast<int>(kCompositeExplicitSlot), static_cast<int>(kCompositeImplicitSlot),
                 static_cast<int>(kAutogradSlot)})
    if (std::shared_ptr<Kernel> kernel = op.kernel_at(at); serves(kernel)) return kernel;
  std::shared_ptr<Kernel> fallback = fallback_at(index);
  return serves(fallback) ? fallback : nullptr;
}

// (op, "CPU", kind, where): the kernel that fills a slot. `kind` is "Dense", "Autograd", ... for a built-in one, and
// "Lazy" for the one of conjugates and negatives, "registered" or "fallback" for one that came at run time: these have
// a `where`.
PyObject* describe(const Op& op, int index, uintptr_t slot) {
  Owned object(op_object(op));
  std::string key = dispatch_key_name(index);
  for (int i = 0; i < op.info().kernel_count; ++i) {
    const StaticKernel& kernel = op.info().kernels[i];
    if (!(slot & kBoxedBit) && kernel.function == reinterpret_cast<void*>(slot & ~kSlotBits))
      return check(Py_BuildValue("Ossz", object.get(), key.c_str(), kind_name(kernel), nullptr));
  }
  if (slot == (reinterpret_cast<uintptr_t>(&lazy_kernel) | kBoxedBit))
    return check(Py_BuildValue("Osss", object.get(), key.c_str(), "Lazy", lazy_kernel.where.c_str()));
  std::shared_ptr<Kernel> kernel = find_registered(op, index, slot);
  const char* kind = kernel && kernel == fallback_at(index) ? "fallback" : "registered";
  return check(Py_BuildValue("Ossz", object.get(), key.c_str(), kind, kernel ? kernel->where.c_str() : ""));
}

struct PythonRecorder final : CallRecorder {
  Ref<HeldObject> function;
  bool busy = false;

  void hop(const Op& op, KeySet, int slot_index) override {
    if (busy) return;  // what the function itself calls
    uintptr_t slot = op.slot(slot_index);
    WithGil locked;
    Scoped quiet(busy, true);
    Owned arguments(describe(op, slot_index, slot));
    Owned(check(PyObject_Call(function->object, arguments.get(), nullptr)));
  }
};
thread_local std::unique_ptr<PythonRecorder> t_recorder;

PyObject* set_function(PyObject*, PyObject* function) {
  return guarded("explain_calls", [&] {
    Owned before(Py_NewRef(t_recorder ? t_recorder->function->object : Py_None));
    std::unique_ptr<PythonRecorder> made;
    if (function != Py_None) {
      made = std::make_unique<PythonRecorder>();
      made->function = make_ref<HeldObject>(function);
    }
    set_recorder(made.get());
    t_recorder = std::move(made);
    return before.release();
  });
}

// Which backend a call on this device has, and how its data is laid out.
KeySet keys_for(Device device, Layout layout) {
  constexpr Functionality kByLayout[] = {Functionality::Dense,     Functionality::Sparse,    Functionality::SparseCsr,
                                         Functionality::SparseCsr, Functionality::SparseCsr, Functionality::SparseCsr};
  KeySet keys = dense_keys(device.type) - KeySet(Functionality::Dense);
  return keys | kByLayout[static_cast<int>(layout)];
}

// The hops of a call on such tensors, down to the kernel.
PyObject* foretell(PyObject*, PyObject* args) {
  PyObject *object, *device, *layout;
  if (!PyArg_ParseTuple(args, "OOO", &object, &device, &layout)) return nullptr;
  return guarded("explain", [&] {
    TAEDA_CHECK_TYPE(is_op_object(object), "takes an op object; got ", Py_TYPE(object)->tp_name);
    const Op& op = to_op(object);
    Owned list(check(PyList_New(0)));
    KeySet rest = effective(keys_for(to_device(device), to_layout(layout))) - KeySet(Functionality::Recorder);
    while (true) {
      rest = rest - op.skipped();
      uintptr_t slot = op.resolve(rest);
      Owned hop(describe(op, slot_of(rest), slot));
      check(PyList_Append(list.get(), hop.get()));
      std::string_view kind = PyUnicode_AsUTF8(PyTuple_GET_ITEM(hop.get(), 2));
      if (rest.top() <= Functionality::Memoryless || kind == "Composite") return list.release();
      rest = rest & KeySet::below(rest.top());
    }
  });
}

PyMethodDef g_functions[] = {
    {"_set_call_recorder", set_function, METH_O,
     "Makes a function hear of every hop in this thread; returns the one before."},
    {"_foretell", foretell, METH_VARARGS, "_foretell(op, device, layout): the hops of a call on such tensors."},
    {}};

}  // namespace

int init_recorder(PyObject* module) { return PyModule_AddFunctions(module, g_functions); }

}  // namespace taeda::python
