// Process-wide settings that Python reads and sets: default dtype and device, threads, memory.
#include <cstring>

#include "backend/cpu/engine/isa.h"
#include "backend/cpu/libraries/onednn_cache.h"
#include "core/guard_pages.h"
#include "core/uninitialized.h"
#include "core/warn_once.h"
#include "python/core_hooks.h"
#include "python/module_parts.h"
#include "python/types.h"
#include "taeda/autograd/meta.h"
#include "taeda/autograd/undifferentiated.h"
#include "taeda/core/determinism.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/view.h"

namespace taeda::python {
namespace {

PyObject* get_default_dtype(PyObject*, PyObject*) { return wrap(default_dtype()); }

PyObject* set_default_dtype_(PyObject*, PyObject* dtype) {
  return guarded("set_default_dtype", [&] {
    TAEDA_CHECK_TYPE(is_dtype(dtype), "takes a dtype, got ", Py_TYPE(dtype)->tp_name);
    set_default_dtype(to_dtype(dtype));
    return Py_NewRef(Py_None);
  });
}

PyObject* get_default_device(PyObject*, PyObject*) { return wrap(default_device()); }

PyObject* set_default_device_(PyObject*, PyObject* device) {
  return guarded("set_default_device", [&] {
    set_default_device(device == Py_None ? Device() : to_device(device));
    return Py_NewRef(Py_None);
  });
}

PyObject* get_num_threads(PyObject*, PyObject*) { return PyLong_FromLong(num_threads()); }

PyObject* set_num_threads_(PyObject*, PyObject* count) {
  return guarded("set_num_threads", [&] {
    int64_t n = to_int(count, "the number of threads");
    TAEDA_CHECK(n > 0, "expects a positive number of threads, got ", n);
    set_num_threads(static_cast<int>(n));
    return Py_NewRef(Py_None);
  });
}

PyObject* set_flush_denormal_(PyObject*, PyObject* mode) {
  return guarded("set_flush_denormal", [&] {
    TAEDA_CHECK(PyBool_Check(mode), "takes a bool, got ", Py_TYPE(mode)->tp_name);
    return PyBool_FromLong(set_flush_denormal(mode == Py_True));
  });
}

PyObject* memory_stats(PyObject*, PyObject*) {
  MemoryStats s = cpu_memory_stats();
  return Py_BuildValue("{sKsKsKsKsKsK}", "allocated", s.allocated, "peak_allocated", s.peak_allocated, "cached",
                       s.cached, "allocations", s.allocations, "system_allocations", s.system_allocations, "limit",
                       s.limit);
}

PyObject* empty_cache(PyObject*, PyObject*) {
  cpu_empty_cache();
  Py_RETURN_NONE;
}

PyObject* reset_peak(PyObject*, PyObject*) {
  cpu_reset_peak();
  Py_RETURN_NONE;
}

PyObject* set_memory_limit(PyObject*, PyObject* bytes) {
  return guarded("cpu.set_memory_limit", [&] {
    int64_t limit = bytes == Py_None ? 0 : to_int(bytes, "the limit");
    TAEDA_CHECK_VALUE(limit >= 0, "expects a number of bytes, 0 or None for no limit; got ", limit);
    cpu_set_memory_limit(static_cast<uint64_t>(limit));
    return Py_NewRef(Py_None);
  });
}

PyObject* guard_pages(PyObject*, PyObject*) {
  cpu_guard_pages();
  Py_RETURN_NONE;
}

PyObject* onednn_cache_stats(PyObject*, PyObject*) {
  cpu::onednn::CacheStats s = cpu::onednn::cache_stats();
  return Py_BuildValue("{sLsLsLsL}", "capacity", s.capacity, "size", s.size, "hits", s.hits, "misses", s.misses);
}

PyObject* set_onednn_cache_capacity(PyObject*, PyObject* count) {
  return guarded("backends.mkldnn.primitive_cache", [&] {
    cpu::onednn::set_cache_capacity(to_int(count, "the capacity"));
    return Py_NewRef(Py_None);
  });
}

PyObject* rename_privateuse_backend(PyObject*, PyObject* args) {
  int slot = 1;
  const char* name;
  if (!PyArg_ParseTuple(args, "s|i", &name, &slot)) return nullptr;
  return guarded("utils.rename_privateuse1_backend", [&] {
    rename_privateuse(slot, name);
    return Py_NewRef(Py_None);
  });
}

PyObject* promote_types(PyObject*, PyObject* args) {
  PyObject *a, *b;
  if (!PyArg_ParseTuple(args, "OO", &a, &b)) return nullptr;
  return guarded("promote_types", [&] {
    TAEDA_CHECK_TYPE(is_dtype(a) && is_dtype(b), "takes two dtypes");
    return wrap(promote(to_dtype(a), to_dtype(b)));
  });
}

PyObject* can_cast_(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* kNames[] = {"from_", "to", nullptr};
  PyObject *from, *to;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO", const_cast<char**>(kNames), &from, &to)) return nullptr;
  return guarded("can_cast", [&] {
    TAEDA_CHECK_TYPE(is_dtype(from) && is_dtype(to), "takes two dtypes");
    return PyBool_FromLong(can_cast(to_dtype(from), to_dtype(to)));
  });
}

// Of a type that C makes, whose name Python cannot set: what it is called, module and all. Some have an attribute, too,
// where pickle finds their objects.
PyObject* set_type_module(PyObject*, PyObject* args) {
  PyTypeObject* type;
  const char* module;
  if (!PyArg_ParseTuple(args, "O!s:_set_type_module", &PyType_Type, &type, &module)) return nullptr;
  Owned where(PyUnicode_FromString(module));
  if (!where) return nullptr;
  bool tells = PyDict_GetItemString(type->tp_dict, "__module__");
  if (tells && PyDict_SetItemString(type->tp_dict, "__module__", where.get()) < 0) return nullptr;
  const char* last = std::strrchr(type->tp_name, '.');
  type->tp_name = strdup(str(module, last ? last : str(".", type->tp_name)).c_str());  // as long as the process
  PyType_Modified(type);
  Py_RETURN_NONE;
}

PyObject* set_fill_uninitialized(PyObject*, PyObject* mode) {
  set_fills_uninitialized(mode == Py_True);
  return Py_NewRef(Py_None);
}

constexpr const char* kUndifferentiated[] = {"nothing", "warn", "error"};
PyObject* get_fallback_mode(PyObject*, PyObject*) {
  return PyUnicode_FromString(kUndifferentiated[static_cast<int>(autograd::undifferentiated_mode())]);
}
PyObject* set_fallback_mode(PyObject*, PyObject* mode) {
  return guarded("_C._set_autograd_fallback_mode", [&] {
    for (int i = 0; i < 3; ++i)
      if (PyUnicode_Check(mode) && PyUnicode_CompareWithASCIIString(mode, kUndifferentiated[i]) == 0) {
        autograd::set_undifferentiated_mode(static_cast<autograd::Undifferentiated>(i));
        return Py_NewRef(Py_None);
      }
    TAEDA_FAIL(Runtime, "takes nothing, warn or error");
  });
}
PyObject* get_determinism(PyObject*, PyObject*) { return PyLong_FromLong(static_cast<long>(determinism())); }
PyObject* set_determinism_(PyObject*, PyObject* level) {
  long wanted = PyLong_AsLong(level);
  if (wanted == -1 && PyErr_Occurred()) return nullptr;
  set_determinism(wanted == 0 ? Determinism::Open : wanted == 1 ? Determinism::Warns : Determinism::Raises);
  return Py_NewRef(Py_None);
}

PyObject* set_warn_always_(PyObject*, PyObject* mode) {
  set_warn_always(mode == Py_True);
  return Py_NewRef(Py_None);
}

PyObject* cpu_capability(PyObject*, PyObject*) { return PyUnicode_FromString(cpu::isa_name()); }

PyMethodDef settings_functions[] = {
    {"_set_type_module", set_type_module, METH_VARARGS, "Moves a type of C to a module, in name."},
    {"get_default_dtype", get_default_dtype, METH_NOARGS,
     "get_default_dtype()\n--\n\nThe floating-point dtype of new tensors made from Python floats."},
    {"set_default_dtype", set_default_dtype_, METH_O,
     "set_default_dtype(d)\n--\n\nSets the floating-point dtype of new tensors; TypeError for any other."},
    {"get_default_device", get_default_device, METH_NOARGS, "get_default_device()\n--\n\nThe device of new tensors."},
    {"set_default_device", set_default_device_, METH_O,
     "set_default_device(device)\n--\n\nSets this thread's device of new tensors; None resets it to the CPU."},
    {"get_num_threads", get_num_threads, METH_NOARGS,
     "get_num_threads()\n--\n\nThe number of threads that a call may use. Results do not depend on it."},
    {"set_num_threads", set_num_threads_, METH_O,
     "set_num_threads(num)\n--\n\nSets the number of threads that a call may use."},
    {"set_flush_denormal", set_flush_denormal_, METH_O,
     "set_flush_denormal(mode)\n--\n\nWhether numbers too small to be normal count as 0 from now on. Returns False "
     "where the processor cannot do it."},
    {"_cpu_memory_stats", memory_stats, METH_NOARGS, "Bytes and counts of the CPU's caching allocator."},
    {"_cpu_empty_cache", empty_cache, METH_NOARGS, "Gives cached blocks back to the system."},
    {"_cpu_reset_peak_memory", reset_peak, METH_NOARGS, "Starts the peak anew."},
    {"_cpu_set_memory_limit", set_memory_limit, METH_O, "Limits the bytes in live tensors; 0 or None for no limit."},
    {"_set_fill_uninitialized", set_fill_uninitialized, METH_O,
     "Whether deterministic mode fills memory without values."},
    {"_get_autograd_fallback_mode", get_fallback_mode, METH_NOARGS, "What _set_autograd_fallback_mode was told."},
    {"_set_autograd_fallback_mode", set_fallback_mode, METH_O,
     "What calls of a library's op without a derivative do: nothing, warn in the backward pass, or error."},
    {"_get_determinism", get_determinism, METH_NOARGS, "What _set_determinism was last told, here or in C++."},
    {"_set_determinism", set_determinism_, METH_O, "0, 1 or 2: open results are given, warn or raise."},
    {"_set_warn_always", set_warn_always_, METH_O, "Whether warnings that show once are shown each time."},
    {"_get_cpu_capability", cpu_capability, METH_NOARGS, "The instruction set that the CPU kernels use."},
    {"_cpu_guard_pages", guard_pages, METH_NOARGS, "Puts each new block between pages that cannot be touched."},
    {"_onednn_cache_stats", onednn_cache_stats, METH_NOARGS, "Sizes and counts of the cache of oneDNN's primitives."},
    {"_onednn_set_cache_capacity", set_onednn_cache_capacity, METH_O, "How many primitives the cache keeps."},
    {"_rename_privateuse_backend", rename_privateuse_backend, METH_VARARGS, nullptr},
    {"promote_types", promote_types, METH_VARARGS,
     "promote_types(type1, type2)\n--\n\nThe dtype that both convert to."},
    {"can_cast", as_method(&can_cast_), METH_VARARGS | METH_KEYWORDS,
     "can_cast(from_, to)\n--\n\nWhether a result of one dtype may be written into another."},
    {},
};

}  // namespace

int init_settings(PyObject* module) { return PyModule_AddFunctions(module, settings_functions); }

}  // namespace taeda::python
