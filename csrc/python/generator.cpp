#include <cstring>

#include "python/types.h"
#include "taeda/core/device_hooks.h"

namespace taeda::python {

namespace {
struct GeneratorObject {
  PyObject_HEAD
  Ref<Generator> generator;
};
const Ref<Generator>& generator_of(PyObject* self) { return reinterpret_cast<GeneratorObject*>(self)->generator; }
// Locks the generator; other threads may be drawing from it without the GIL.
template <class F>
auto locked(PyObject* self, F&& body) {
  Generator& generator = *generator_of(self);
  std::unique_lock lock(generator.mutex(), std::try_to_lock);
  if (!lock) {  // its holder may be waiting for the GIL
    NoGil unlocked;
    lock.lock();
  }
  return body(generator);
}

// Called with each generator that the program names to an op, before that draws; null where nobody watches.
thread_local PyObject* t_watcher TAEDA_TLS = nullptr;

PyObject* watch(PyObject*, PyObject* watcher) {
  PyObject* before = std::exchange(t_watcher, watcher == Py_None ? nullptr : Py_NewRef(watcher));
  return before ? before : Py_NewRef(Py_None);
}
PyMethodDef functions[] = {
    {"_watch_generators", watch, METH_O,
     "_watch_generators(watcher)\n--\n\nCalls it with each Generator that an op is given in this thread; returns "
     "whom it replaces. None: nobody."},
    {}};

PyTypeObject g_type = static_type("taeda._C.Generator", sizeof(GeneratorObject));

PyObject* new_object(PyTypeObject* type, Ref<Generator> generator) {
  PyObject* self = check(type->tp_alloc(type, 0));
  new (&reinterpret_cast<GeneratorObject*>(self)->generator) Ref<Generator>(std::move(generator));
  return self;
}
void deallocate(PyObject* self) {
  reinterpret_cast<GeneratorObject*>(self)->generator.~Ref();
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) Py_DECREF(type);
}

PyObject* new_generator(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded("Generator", [&]() -> PyObject* {
    constexpr const char* kNames[] = {"device"};
    PyObject* device_object;
    read_arguments(kNames, 0, args, kwargs, &device_object);
    Device device = device_object && device_object != Py_None ? to_device(device_object) : Device{};
    switch (device.type) {
      case DeviceType::CPU:
        return new_object(type, make_ref<CPUGenerator>());
      case DeviceType::CUDA:
        return new_object(type, make_ref<PhiloxGenerator>(kDefaultSeed, device));
      default:
        if (const DeviceHooks* hooks = device_hooks(device.type))
          return new_object(type, hooks->new_generator(device.index));
        TAEDA_FAIL(Runtime, "there is no generator for the device ", device, "; pass 'cpu' or 'cuda'");
    }
  });
}

PyObject* manual_seed(PyObject* self, PyObject* seed) {
  return guarded("Generator.manual_seed", [&] {
    TAEDA_CHECK(PyIndex_Check(seed), "the seed must be an int; got ", Py_TYPE(seed)->tp_name);
    Owned number(check(PyNumber_Index(seed)));
    int overflow;
    long long low = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
    uint64_t value = static_cast<uint64_t>(low);
    if (overflow > 0) {
      value = PyLong_AsUnsignedLongLong(number.get());
      if (PyErr_Occurred()) {
        PyErr_Clear();
        overflow = -1;
      }
    }
    TAEDA_CHECK_VALUE(overflow >= 0, "the seed must be from -2**63 to 2**64 - 1");
    locked(self, [&](Generator& g) { g.manual_seed(value); });
    return Py_NewRef(self);
  });
}
PyObject* seed(PyObject* self, PyObject*) {
  return guarded("Generator.seed",
                 [&] { return PyLong_FromUnsignedLongLong(locked(self, [](Generator& g) { return g.seed(); })); });
}
PyObject* initial_seed(PyObject* self, PyObject*) {
  return guarded("Generator.initial_seed", [&] {
    return PyLong_FromUnsignedLongLong(locked(self, [](Generator& g) { return g.initial_seed(); }));
  });
}

Tensor state_tensor(PyObject* self) {
  std::vector<uint8_t> bytes = locked(self, [](Generator& g) { return g.get_state(); });
  const int64_t sizes[] = {static_cast<int64_t>(bytes.size())};
  Tensor state = new_tensor(sizes, DType::UInt8);
  std::memcpy(state.data(), bytes.data(), bytes.size());
  return state;
}
PyObject* get_state(PyObject* self, PyObject*) {
  return guarded("Generator.get_state", [&] { return wrap(state_tensor(self)); });
}
PyObject* set_state(PyObject* self, PyObject* object) {
  return guarded("Generator.set_state", [&] {
    TAEDA_CHECK_TYPE(is_tensor(object), "takes a uint8 tensor on the CPU; got ", Py_TYPE(object)->tp_name);
    const Tensor& state = unwrap(object);
    TAEDA_CHECK_TYPE(state.dtype() == DType::UInt8 && state.is_cpu() && state.is_contiguous(),
                     "takes a contiguous uint8 tensor on the CPU; got ", state.dtype(), " on ", state.device());
    std::span<const uint8_t> bytes(state.data<uint8_t>(), static_cast<size_t>(state.numel()));
    locked(self, [&](Generator& g) { g.set_state(bytes); });
    return Py_NewRef(self);
  });
}
PyObject* clone_state(PyObject* self, PyObject*) {
  return guarded("Generator.clone_state",
                 [&] { return new_object(Py_TYPE(self), locked(self, [](Generator& g) { return g.clone(); })); });
}

PhiloxGenerator& counter_based(PyObject* self) {
  auto* philox = dynamic_cast<PhiloxGenerator*>(generator_of(self).get());
  TAEDA_CHECK(philox, "only a counter-based generator has an offset; this one, on ", generator_of(self)->device(),
              ", is an MT19937");
  return *philox;
}
PyObject* get_offset(PyObject* self, PyObject*) {
  return guarded("Generator.get_offset", [&] {
    return PyLong_FromUnsignedLongLong(locked(self, [&](Generator&) { return counter_based(self).offset(); }));
  });
}
PyObject* set_offset(PyObject* self, PyObject* words) {
  return guarded("Generator.set_offset", [&] {
    int64_t offset = to_int(words, "offset");
    TAEDA_CHECK_VALUE(offset >= 0, "the offset must not be negative; got ", offset);
    locked(self, [&](Generator&) { counter_based(self).set_offset(static_cast<uint64_t>(offset)); });
    return Py_NewRef(self);
  });
}

// (class, (device,), (seed, state's bytes))
PyObject* reduce(PyObject* self, PyObject*) {
  return guarded("Generator.__reduce__", [&] {
    Owned device(wrap(generator_of(self)->device()));
    unsigned long long seed = locked(self, [](Generator& g) { return g.initial_seed(); });
    std::vector<uint8_t> state = locked(self, [](Generator& g) { return g.get_state(); });
    return Py_BuildValue("O(O)(Ky#)", Py_TYPE(self), device.get(), seed, reinterpret_cast<const char*>(state.data()),
                         static_cast<Py_ssize_t>(state.size()));
  });
}
PyObject* setstate(PyObject* self, PyObject* parts) {
  return guarded("Generator.__setstate__", [&] {
    unsigned long long seed;
    const uint8_t* bytes;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(parts, "Ky#", &seed, &bytes, &size)) throw PythonError();
    locked(self, [&](Generator& g) {
      g.manual_seed(seed);
      g.set_state({bytes, static_cast<size_t>(size)});
    });
    return Py_NewRef(Py_None);
  });
}

PyObject* get_device(PyObject* self, void*) {
  return guarded("Generator.device", [&] { return wrap(generator_of(self)->device()); });
}
Py_hash_t hash(PyObject* self) { return _Py_HashPointer(generator_of(self).get()); }
PyObject* compare(PyObject* self, PyObject* other, int op) {
  if (!is_generator(other) || (op != Py_EQ && op != Py_NE)) return Py_NewRef(Py_NotImplemented);
  return PyBool_FromLong((generator_of(self) == generator_of(other)) == (op == Py_EQ));
}

PyGetSetDef g_getset[] = {{"device", get_device, nullptr, "Where the numbers are drawn.", nullptr}, {}};
PyMethodDef g_methods[] = {
    {"manual_seed", manual_seed, METH_O,
     "manual_seed($self, seed)\n--\n\nRestarts the stream from ``seed``; returns self."},
    {"seed", seed, METH_NOARGS, "seed($self)\n--\n\nSeeds from the system's entropy and returns the seed."},
    {"initial_seed", initial_seed, METH_NOARGS,
     "initial_seed($self)\n--\n\nThe seed that the stream was started from."},
    {"get_state", get_state, METH_NOARGS, "get_state($self)\n--\n\nThe state as a uint8 tensor."},
    {"set_state", set_state, METH_O,
     "set_state($self, new_state)\n--\n\nContinues from a state that ``get_state`` gave."},
    {"clone_state", clone_state, METH_NOARGS,
     "clone_state($self)\n--\n\nA generator of its own that continues as this one would."},
    {"get_offset", get_offset, METH_NOARGS,
     "get_offset($self)\n--\n\nHow many words a counter-based generator has drawn."},
    {"set_offset", set_offset, METH_O, "set_offset($self, offset)\n--\n\nMoves a counter-based generator."},
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {"__setstate__", setstate, METH_O, nullptr},
    {}};
}  // namespace

PyObject* wrap(const Ref<Generator>& generator) {
  return generator ? new_object(&g_type, generator) : Py_NewRef(Py_None);
}
bool is_generator(PyObject* object) { return PyObject_TypeCheck(object, &g_type); }
Ref<Generator> to_generator(PyObject* object) {
  if (object == Py_None) return {};
  TAEDA_CHECK_TYPE(is_generator(object), "expected a Generator; got ", Py_TYPE(object)->tp_name);
  if (t_watcher) call_python([&] { return PyObject_CallOneArg(t_watcher, object); });
  return generator_of(object);
}

int init_generator(PyObject* module) {
  g_type.tp_doc = "Generator(device='cpu')\n--\n\nA stream of random numbers.";
  g_type.tp_flags |= Py_TPFLAGS_BASETYPE;
  g_type.tp_new = new_generator;
  g_type.tp_dealloc = deallocate;
  g_type.tp_hash = hash;
  g_type.tp_richcompare = compare;
  g_type.tp_getset = g_getset;
  g_type.tp_methods = g_methods;
  if (add_type(module, g_type) < 0 || PyModule_AddFunctions(module, functions) < 0) return -1;
  try {
    Owned generator(wrap(default_cpu_generator()));
    return PyModule_AddObjectRef(module, "default_generator", generator.get());
  } catch (...) {
    translate_exception("Generator");
    return -1;
  }
}

}  // namespace taeda::python
