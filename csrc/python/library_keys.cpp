// DispatchKeySet, and the context managers that say which layers a thread's calls see.
#include "python/op_objects.h"
#include "python/types.h"
#include "taeda/core/thread_state.h"
#include "taeda/dispatch/library.h"

namespace taeda::python {

namespace {

struct KeySetObject {
  PyObject_HEAD
  KeySet keys;
};
PyTypeObject g_type = static_type("taeda._C.DispatchKeySet", sizeof(KeySetObject));
KeySet keys_of(PyObject* self) { return reinterpret_cast<KeySetObject*>(self)->keys; }

// The bits that a key's name stands for: "CPU", "AutogradCPU", "Autograd", "Python", ...
KeySet keys_named(PyObject* key) {
  int slot = parse_dispatch_key(to_text(key, "key"));
  if (slot == kAutogradSlot) return Functionality::Autograd;
  TAEDA_CHECK(slot < kSlots, "'", dispatch_key_name(slot), "' stands for many keys and cannot be in a set");
  for (int f = 0; f < kFunctionalities; ++f)
    for (int b = 0; b < kDeviceTypes; ++b) {
      auto functionality = static_cast<Functionality>(f);
      auto backend = static_cast<DeviceType>(b);
      if (slot_of(functionality, backend) != slot) continue;
      return is_per_backend(functionality) ? KeySet(functionality) | backend : KeySet(functionality);
    }
  return {};
}

KeySet either(PyObject* object) { return PyObject_TypeCheck(object, &g_type) ? keys_of(object) : keys_named(object); }

// The names of what the set holds, outermost first, without the layers that every tensor has for bookkeeping.
std::vector<std::string> names_of(KeySet keys) {
  std::vector<std::string> names;
  for (int f = static_cast<int>(Functionality::Recorder); f-- > 0;) {
    auto functionality = static_cast<Functionality>(f);
    if (!keys.has(functionality)) continue;
    if (!is_per_backend(functionality)) {
      names.push_back(dispatch_key_name(slot_of(functionality, DeviceType::CPU)));
      continue;
    }
    for (int b = kDeviceTypes; b-- > 0;)
      if (keys.has(static_cast<DeviceType>(b)))
        names.push_back(dispatch_key_name(slot_of(functionality, static_cast<DeviceType>(b))));
  }
  return names;
}

PyObject* repr(PyObject* self) {
  return guarded("DispatchKeySet", [&] {
    std::string text = "DispatchKeySet(";
    for (const std::string& name : names_of(keys_of(self))) text += str(text.back() == '(' ? "" : ", ", name);
    return PyUnicode_FromString((text + ")").c_str());
  });
}
PyObject* has(PyObject* self, PyObject* key) {
  return guarded("DispatchKeySet.has", [&] {
    KeySet wanted = keys_named(key);
    return PyBool_FromLong((keys_of(self) & wanted) == wanted);
  });
}
PyObject* add(PyObject* self, PyObject* key) {
  return guarded("DispatchKeySet.add", [&] { return wrap(keys_of(self) | keys_named(key)); });
}
// Of a key that is per backend only the functionality goes: other keys of the set share the backend.
PyObject* remove(PyObject* self, PyObject* key) {
  return guarded("DispatchKeySet.remove",
                 [&] { return wrap(keys_of(self) - (keys_named(key) & KeySet(~uint64_t{0xff}))); });
}
PyObject* highest(PyObject* self, PyObject*) {
  return guarded("DispatchKeySet.highestPriorityTypeId", [&] {
    return PyUnicode_FromString(dispatch_key_name(slot_of(keys_of(self) - KeySet(Functionality::Recorder))).c_str());
  });
}
template <KeySet (KeySet::*combine)(KeySet) const>
PyObject* binary(PyObject* a, PyObject* b) {
  return guarded("DispatchKeySet", [&] { return wrap((either(a).*combine)(either(b))); });
}
PyObject* compare(PyObject* a, PyObject* b, int op) {
  if (!PyObject_TypeCheck(b, &g_type) || (op != Py_EQ && op != Py_NE)) return Py_NewRef(Py_NotImplemented);
  return PyBool_FromLong((keys_of(a) == keys_of(b)) == (op == Py_EQ));
}
PyObject* new_key_set(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject* key;
  if (!PyArg_ParseTuple(args, "O", &key)) return nullptr;
  return guarded("DispatchKeySet", [&] {
    KeySet keys = either(key);
    PyObject* self = check(type->tp_alloc(type, 0));
    reinterpret_cast<KeySetObject*>(self)->keys = keys;
    return self;
  });
}

PyNumberMethods g_number{};
PyMethodDef g_methods[] = {{"has", has, METH_O, "has($self, key)\n--\n\nWhether the key of this name is in the set."},
                           {"add", add, METH_O, "add($self, key)\n--\n\nThe set with one key more."},
                           {"remove", remove, METH_O, "remove($self, key)\n--\n\nThe set without a key."},
                           {"highestPriorityTypeId", highest, METH_NOARGS,
                            "highestPriorityTypeId($self)\n--\n\nThe name of the key that sees a call first."},
                           {}};

PyObject* keys_of_tensor(PyObject*, PyObject* tensor) {
  return guarded("_dispatch_keys", [&] {
    TAEDA_CHECK_TYPE(is_tensor(tensor), "takes a tensor; got ", Py_TYPE(tensor)->tp_name);
    return wrap(unwrap(tensor).keys());
  });
}
PyObject* included(PyObject*, PyObject*) {
  return guarded("_dispatch_tls_local_include_set", [] { return wrap(t_state.include); });
}
PyObject* excluded(PyObject*, PyObject*) {
  return guarded("_dispatch_tls_local_exclude_set", [] { return wrap(t_state.exclude); });
}
PyMethodDef g_functions[] = {
    {"_dispatch_keys", keys_of_tensor, METH_O, "The key set of a tensor."},
    {"_dispatch_tls_local_include_set", included, METH_NOARGS, "What this thread adds to each call's key set."},
    {"_dispatch_tls_local_exclude_set", excluded, METH_NOARGS, "What this thread takes from each call's key set."},
    {}};

int add_keys(PyObject* module, const char* name, KeySet keys) {
  Owned object(guarded(name, [&] { return wrap(keys); }));
  return object ? PyModule_AddObjectRef(module, name, object.get()) : -1;
}

}  // namespace

PyObject* wrap(KeySet keys) {
  PyObject* self = check(g_type.tp_alloc(&g_type, 0));
  reinterpret_cast<KeySetObject*>(self)->keys = keys;
  return self;
}

KeySet to_key_set(PyObject* object) {
  TAEDA_CHECK_TYPE(PyObject_TypeCheck(object, &g_type), "a DispatchKeySet was expected; got ",
                   Py_TYPE(object)->tp_name);
  return keys_of(object);
}

int init_key_sets(PyObject* module) {
  g_number.nb_or = binary<&KeySet::operator| >;
  g_number.nb_and = binary<&KeySet::operator&>;
  g_number.nb_subtract = binary<&KeySet::operator- >;
  g_type.tp_doc = "DispatchKeySet(key)\n--\n\nWhich layers and backends a call may reach.";
  g_type.tp_new = new_key_set;
  g_type.tp_repr = repr;
  g_type.tp_richcompare = compare;
  g_type.tp_as_number = &g_number;
  g_type.tp_methods = g_methods;
  bool good = add_type(module, g_type) == 0 && PyModule_AddFunctions(module, g_functions) == 0 &&
              add_keys(module, "_after_autograd_keyset", KeySet::below(Functionality::Autograd)) == 0 &&
              add_keys(module, "_after_ADInplaceOrView_keyset", KeySet::below(Functionality::ADInplaceOrView)) == 0;
  return good ? 0 : -1;
}

// --- guards: `with _C._IncludeDispatchKeyGuard(keys):` and the like

namespace {

struct GuardObject {
  PyObject_HEAD
  KeySet include, exclude;  // what the scope adds
  ThreadState before;
  bool is_on;
};
GuardObject* guard_of(PyObject* self) { return reinterpret_cast<GuardObject*>(self); }

PyTypeObject g_below_autograd = static_type("taeda._C._AutoDispatchBelowAutograd", sizeof(GuardObject));
PyTypeObject g_below_views = static_type("taeda._C._AutoDispatchBelowADInplaceOrView", sizeof(GuardObject));
PyTypeObject g_exclude = static_type("taeda._C._ExcludeDispatchKeyGuard", sizeof(GuardObject));
PyTypeObject g_include = static_type("taeda._C._IncludeDispatchKeyGuard", sizeof(GuardObject));
PyTypeObject g_no_dispatch = static_type("taeda._C._DisableTorchDispatch", sizeof(GuardObject));

PyObject* new_guard(PyTypeObject* type, KeySet include, KeySet exclude) {
  PyObject* self = check(type->tp_alloc(type, 0));
  guard_of(self)->include = include;
  guard_of(self)->exclude = exclude;
  return self;
}
template <bool is_include>
PyObject* new_of_keys(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject* keys;
  if (!PyArg_ParseTuple(args, "O", &keys)) return nullptr;
  return guarded(type->tp_name, [&] {
    KeySet given = either(keys);
    if (!is_include) given = given & KeySet(~uint64_t{0xff});  // backends are shared by layers
    return is_include ? new_guard(type, given, {}) : new_guard(type, {}, given);
  });
}
PyObject* enter(PyObject* self, PyObject*) {
  GuardObject& guard = *guard_of(self);
  if (!guard.is_on) {
    guard.before = t_state;
    t_state.include = t_state.include | guard.include;
    t_state.exclude = (t_state.exclude - guard.include) | guard.exclude;
  }
  guard.is_on = true;
  return Py_NewRef(self);
}
void end(GuardObject& guard) {
  if (!std::exchange(guard.is_on, false)) return;
  t_state.include = guard.before.include;
  t_state.exclude = guard.before.exclude;
}
PyObject* leave(PyObject* self, PyObject* const*, Py_ssize_t) {
  end(*guard_of(self));
  Py_RETURN_NONE;
}
void deallocate(PyObject* self) {
  end(*guard_of(self));
  Py_TYPE(self)->tp_free(self);
}

// On from its making until it dies, if no `with` ends it before.
template <uint64_t excluded>
PyObject* new_without(PyTypeObject* type, PyObject*, PyObject*) {
  return guarded(type->tp_name, [&] {
    Owned guard(new_guard(type, {}, KeySet(excluded)));
    return enter(guard.get(), nullptr);
  });
}

PyMethodDef g_guard_methods[] = {
    {"__enter__", enter, METH_NOARGS, nullptr}, {"__exit__", as_method(leave), METH_FASTCALL, nullptr}, {}};

int add_guard(PyObject* module, PyTypeObject& type, newfunc make, const char* doc) {
  type.tp_new = make;
  type.tp_dealloc = deallocate;
  type.tp_methods = g_guard_methods;
  type.tp_doc = doc;
  return add_type(module, type);
}

}  // namespace

int init_guards(PyObject* module) {
  bool good =
      add_guard(module, g_below_autograd, new_without<KeySet(Functionality::Autograd).bits()>,
                "Calls in this scope go below autograd.") == 0 &&
      add_guard(module, g_below_views, new_without<kAutogradKeys.bits()>,
                "Calls in this scope go below autograd and below the tracking of views and versions.") == 0 &&
      add_guard(module, g_exclude, new_of_keys<false>, "Calls in this scope skip the layers of the keys.") == 0 &&
      add_guard(module, g_include, new_of_keys<true>, "Calls in this scope see the layers of the keys.") == 0 &&
      add_guard(module, g_no_dispatch, new_without<kPythonKeys.bits()>,
                "Calls in this scope skip __torch_dispatch__.") == 0;
  return good ? 0 : -1;
}

}  // namespace taeda::python
