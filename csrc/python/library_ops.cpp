// One Python object per op, made when someone first asks for it: taeda.ops.aten.add.Tensor.
#include <unordered_map>

#include "python/convert_value.h"
#include "python/items.h"
#include "python/op_objects.h"
#include "python/parser.h"
#include "python/types.h"
#include "taeda/dispatch/library.h"

// after Python.h
#include <structmember.h>

namespace taeda::python {

namespace {

struct OpObject {
  PyObject_HEAD
  const Op* op;
  vectorcallfunc call;
};
const Op& op_of(PyObject* self) { return *reinterpret_cast<OpObject*>(self)->op; }

PyTypeObject g_type = static_type("taeda._C._OpBase", sizeof(OpObject));
PyTypeObject* g_class = nullptr;  // taeda._library.ops.OpOverload

// Ops are never freed, nor are their objects.
std::unordered_map<const Op*, PyObject*>& objects() {
  static auto* table = new std::unordered_map<const Op*, PyObject*>;
  return *table;
}

// A Python subclass of Tensor, or an active mode, may take over calls of op objects as of any function.
bool wants_torch_function(PyObject* const* args, Py_ssize_t count, Overloaded& overloaded) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (is_quick(args[i])) continue;
    overloaded.note(args[i]);
    if (!PyTuple_Check(args[i]) && !PyList_Check(args[i])) continue;
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(args[i]); ++k) overloaded.note(item_at(args[i], k).get());
  }
  return overloaded.must_dispatch();
}

PyObject* call(PyObject* self, PyObject* const* args, size_t flags, PyObject* names) {
  Py_ssize_t n = PyVectorcall_NARGS(flags);
  Overloaded overloaded;
  if (wants_torch_function(args, n + (names ? PyTuple_GET_SIZE(names) : 0), overloaded))
    return guarded(op_of(self).info().name, [&] { return call_torch_function(self, overloaded, args, n, names); });
  return call_op(op_of(self), args, n, names);
}

PyObject* redispatch(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  return guarded("redispatch", [&] {
    TAEDA_CHECK_TYPE(n > 0, "takes the key set to go on with as its first argument");
    KeySet keys = to_key_set(args[0]);
    return call_op(op_of(self), args + 1, n - 1, names, &keys);
  });
}

// A kernel that stays what it is when another takes its place.
struct PinnedKernel {
  const Op* op;
  uintptr_t slot;
  std::shared_ptr<Kernel> registered;  // null for a built-in one
};
constexpr const char* kPinned = "taeda.kernel";

std::shared_ptr<Kernel> registered_at(const Op& op, const void* address) {
  for (int slot = 0; slot < kRegistrationSlots; ++slot)
    if (std::shared_ptr<Kernel> kernel = op.kernel_at(slot); kernel.get() == address) return kernel;
  TAEDA_FAIL(Runtime, op.qualified_name(), " is served there by a fallback for all ops, which is no kernel of its own");
}

PyObject* kernel_for(PyObject* self, PyObject* keys) {
  return guarded("library.get_kernel", [&] {
    const Op& op = op_of(self);
    KeySet wanted = to_key_set(keys);
    auto pinned = std::make_unique<PinnedKernel>(PinnedKernel{&op, op.resolve(wanted), nullptr});
    if (pinned->slot & kBoxedBit)
      pinned->registered = registered_at(op, reinterpret_cast<const void*>(pinned->slot & ~kSlotBits));
    return check(PyCapsule_New(pinned.release(), kPinned, [](PyObject* capsule) {
      delete static_cast<PinnedKernel*>(PyCapsule_GetPointer(capsule, kPinned));
    }));
  });
}

PyObject* call_kernel(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  return guarded("call_boxed", [&] {
    auto* pinned = static_cast<PinnedKernel*>(n ? PyCapsule_GetPointer(args[0], kPinned) : nullptr);
    TAEDA_CHECK_TYPE(pinned && n > 1, "takes the key set first");
    KeySet keys = to_key_set(args[1]);
    return call_op(*pinned->op, args + 2, n - 2, names, &keys, pinned->slot);
  });
}

PyObject* takes(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  return guarded(op_of(self).info().name,
                 [&] { return PyBool_FromLong(takes_arguments(op_of(self), args, n, names)); });
}

// {"CPU": "file:line", ...} of the kernels that were registered while the program ran.
PyObject* registered(PyObject* self, PyObject*) {
  return guarded("_OpBase._registered", [&] {
    Owned dict(check(PyDict_New()));
    for (int slot = 0; slot < kRegistrationSlots; ++slot) {
      std::shared_ptr<Kernel> kernel = op_of(self).kernel_at(slot);
      if (!kernel) continue;
      Owned where(check(PyUnicode_FromString(kernel->fallthrough ? "falls through" : kernel->where.c_str())));
      check(PyDict_SetItemString(dict.get(), dispatch_key_name(slot).c_str(), where.get()));
    }
    return dict.release();
  });
}

// Where a kernel would stand that came at run time; no slot's number for other layers'.
int slot_of_static(const StaticKernel& kernel) {
  if (kernel.functionality == kComposite) return kCompositeImplicitSlot;
  if (kernel.functionality == Functionality::Autograd) return kAutogradSlot;
  if (kernel.functionality > Functionality::Memoryless) return kRegistrationSlots;
  return kernel.device == kEveryDevice ? static_cast<int>(kCompositeExplicitSlot)
                                       : slot_of(kernel.functionality, kernel.device);
}

PyObject* has_kernel(PyObject* self, PyObject* key) {
  return guarded("_OpBase.has_kernel_for_dispatch_key", [&] {
    int slot = parse_dispatch_key(to_text(key, "key"));
    if (op_of(self).kernel_at(slot)) return Py_NewRef(Py_True);
    const OpInfo& info = op_of(self).info();
    for (int i = 0; i < info.kernel_count; ++i) {
      const StaticKernel& kernel = info.kernels[i];
      if (slot == slot_of_static(kernel)) return Py_NewRef(Py_True);
    }
    return Py_NewRef(Py_False);
  });
}

PyObject* get_name(PyObject* self, void*) { return PyUnicode_FromString(op_of(self).info().name); }
PyObject* get_overload(PyObject* self, void*) { return PyUnicode_FromString(op_of(self).info().overload); }
PyObject* get_schema(PyObject* self, void*) { return PyUnicode_FromString(op_of(self).info().schema); }
PyObject* get_where(PyObject* self, void*) {
  const OpInfo& info = op_of(self).info();
  return PyUnicode_FromFormat("%s:%d", info.file, static_cast<int>(info.line));
}
PyObject* get_tags(PyObject* self, void*) { return PyLong_FromLong(op_of(self).info().tags); }

PyMethodDef g_methods[] = {
    {"redispatch", as_method(redispatch), METH_FASTCALL | METH_KEYWORDS,
     "redispatch(keyset, *args, **kwargs)\n--\n\nCalls the kernel that serves the key set, which a kernel registered "
     "``with_keyset`` was given."},
    {"_takes", as_method(takes), METH_FASTCALL | METH_KEYWORDS, "Whether the arguments fit the schema."},
    {"_kernel_for", kernel_for, METH_O, nullptr},
    {"_registered", registered, METH_NOARGS, nullptr},
    {"has_kernel_for_dispatch_key", has_kernel, METH_O,
     "has_kernel_for_dispatch_key(key)\n--\n\nWhether a kernel is registered under exactly this key."},
    {}};
PyGetSetDef g_getset[] = {{"_qualified_name", get_name, nullptr, "``namespace::name``.", nullptr},
                          {"_overloadname", get_overload, nullptr, "Empty for the plain overload.", nullptr},
                          {"_schema_text", get_schema, nullptr, "The schema as declared.", nullptr},
                          {"_where", get_where, nullptr, "``file:line`` of the declaration.", nullptr},
                          {"_tag_bits", get_tags, nullptr, nullptr, nullptr},
                          {}};

PyObject* find(PyObject*, PyObject* args) {
  const char *name, *overload;
  if (!PyArg_ParseTuple(args, "ss", &name, &overload)) return nullptr;
  return guarded("ops", [&] {
    const Op* op = find_op(name, overload);
    return op ? op_object(*op) : Py_NewRef(Py_None);
  });
}

PyObject* overloads_of(PyObject*, PyObject* name) {
  return guarded("ops", [&] {
    Owned list(check(PyList_New(0)));
    for (const Op* op : ops_named(to_text(name, "name"))) {
      Owned overload(check(PyUnicode_FromString(op->info().overload)));
      check(PyList_Append(list.get(), overload.get()));
    }
    return list.release();
  });
}

PyObject* all_names(PyObject*, PyObject*) {
  return guarded("ops", [&] {
    Owned list(check(PyList_New(0)));
    for (const Op* op : all_ops()) {
      Owned name(check(PyUnicode_FromString(op->qualified_name().c_str())));
      check(PyList_Append(list.get(), name.get()));
    }
    return list.release();
  });
}

PyObject* return_type(PyObject*, PyObject* name) {
  return guarded("return_types", [&] {
    std::string text(to_text(name, "name"));
    for (const Op* op : ops_named(str("aten::", text.ends_with("_out") ? text.substr(0, text.size() - 4) : text)))
      if (PyTypeObject* type = result_type_named(text, *op)) return Py_NewRef(reinterpret_cast<PyObject*>(type));
    return Py_NewRef(Py_None);
  });
}

PyObject* set_class(PyObject*, PyObject* cls) {
  if (!PyType_Check(cls) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), &g_type)) {
    PyErr_SetString(PyExc_TypeError, "taeda._C._set_op_class: takes a class that derives from _OpBase");
    return nullptr;
  }
  g_class = reinterpret_cast<PyTypeObject*>(Py_NewRef(cls));
  Py_RETURN_NONE;
}

PyMethodDef g_functions[] = {{"_find_op", find, METH_VARARGS, nullptr},
                             {"_overloads_of", overloads_of, METH_O, nullptr},
                             {"_all_op_names", all_names, METH_NOARGS, nullptr},
                             {"_return_type", return_type, METH_O, nullptr},
                             {"_set_op_class", set_class, METH_O, nullptr},
                             {"_call_kernel", as_method(call_kernel), METH_FASTCALL | METH_KEYWORDS, nullptr},
                             {}};

}  // namespace

PyObject* op_object(const Op& op) {
  PyObject*& object = objects()[&op];
  if (!object) {
    if (!g_class) Owned(check(PyImport_ImportModule("taeda._library.ops")));
    PyObject* made = check(g_class->tp_alloc(g_class, 0));
    reinterpret_cast<OpObject*>(made)->op = &op;
    reinterpret_cast<OpObject*>(made)->call = call;
    objects()[&op] = made;  // the import may have added others
    return Py_NewRef(made);
  }
  return Py_NewRef(object);
}

bool is_op_object(PyObject* object) { return PyObject_TypeCheck(object, &g_type); }
const Op& to_op(PyObject* object) { return op_of(object); }

int init_op_objects(PyObject* module) {
  g_type.tp_flags |= Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  g_type.tp_vectorcall_offset = offsetof(OpObject, call);
  g_type.tp_call = PyVectorcall_Call;
  g_type.tp_methods = g_methods;
  g_type.tp_getset = g_getset;
  g_type.tp_doc = "An op with one overload; calling it goes through the dispatcher.";
  return add_type(module, g_type) < 0 ? -1 : PyModule_AddFunctions(module, g_functions);
}

}  // namespace taeda::python
