// Autocast's switches for Python.
#include "autograd/casting.h"
#include "python/module_parts.h"
#include "python/types.h"

namespace taeda::python {
namespace {

DeviceType device_type(PyObject* name) {
  TAEDA_CHECK_TYPE(PyUnicode_Check(name), "takes the name of a device type; got ", Py_TYPE(name)->tp_name);
  DeviceType type = parse_device(to_text(name, "device_type")).type;
  TAEDA_CHECK(casting::is_known(type), "there is no autocast on the device type '", device_type_name(type), "'");
  return type;
}

struct Given {
  PyObject* device_type = nullptr;
  PyObject* value = nullptr;
};

// A device type, and what the switch called `value` is set to, by place or by name; absent ones are null.
Given take(PyObject* const* args, Py_ssize_t count, PyObject* names, const char* value = nullptr) {
  Given given;
  PyObject** places[] = {&given.device_type, &given.value};
  TAEDA_CHECK_TYPE(count <= (value ? 2 : 1), "takes at most ", value ? 2 : 1, " arguments; got ", count);
  for (Py_ssize_t i = 0; i < count; ++i) *places[i] = args[i];
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    bool is_value = value && PyUnicode_CompareWithASCIIString(name, value) == 0;
    TAEDA_CHECK_TYPE(is_value || PyUnicode_CompareWithASCIIString(name, "device_type") == 0,
                     "got an unexpected keyword argument '", to_text(name, "name"), "'");
    TAEDA_CHECK_TYPE(!*places[is_value], "got several values for '", to_text(name, "name"), "'");
    *places[is_value] = args[count + i];
  }
  return given;
}

// Without a device type, as in the days when there was one kind only, CUDA is meant.
PyObject* is_enabled(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("is_autocast_enabled", [&] {
    PyObject* of = take(args, count, names).device_type;
    return PyBool_FromLong(casting::enabled(of ? device_type(of) : DeviceType::CUDA));
  });
}

PyObject* set_enabled(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("set_autocast_enabled", [&] {
    Given given = take(args, count, names, "enabled");
    if (!given.value) std::swap(given.device_type, given.value);
    TAEDA_CHECK_TYPE(given.value && PyBool_Check(given.value), "takes a device type and a bool; got ",
                     given.value ? Py_TYPE(given.value)->tp_name : "nothing");
    casting::set_enabled(given.device_type ? device_type(given.device_type) : DeviceType::CUDA, given.value == Py_True);
    return Py_NewRef(Py_None);
  });
}

PyObject* get_dtype(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("get_autocast_dtype", [&] {
    PyObject* of = take(args, count, names).device_type;
    TAEDA_CHECK_TYPE(of, "takes the name of a device type");
    return wrap(casting::lower_dtype(device_type(of)));
  });
}

PyObject* set_dtype(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("set_autocast_dtype", [&] {
    auto [of, dtype] = take(args, count, names, "dtype");
    TAEDA_CHECK_TYPE(of && dtype && is_dtype(dtype), "takes a device type and a dtype");
    casting::set_lower_dtype(device_type(of), to_dtype(dtype));
    return Py_NewRef(Py_None);
  });
}

PyObject* is_cache_enabled(PyObject*, PyObject*) { return PyBool_FromLong(casting::cache_enabled()); }

PyObject* set_cache_enabled(PyObject*, PyObject* on) {
  return guarded("set_autocast_cache_enabled", [&] {
    TAEDA_CHECK_TYPE(PyBool_Check(on), "takes a bool; got ", Py_TYPE(on)->tp_name);
    casting::set_cache_enabled(on == Py_True);
    return Py_NewRef(Py_None);
  });
}

PyObject* clear_cache(PyObject*, PyObject*) {
  casting::clear_cache();
  Py_RETURN_NONE;
}

PyObject* enter(PyObject*, PyObject*) { return PyLong_FromLong(casting::enter()); }
PyObject* leave(PyObject*, PyObject*) { return PyLong_FromLong(casting::leave()); }

PyMethodDef functions[] = {
    {"is_autocast_enabled", as_method(&is_enabled), METH_FASTCALL | METH_KEYWORDS,
     "is_autocast_enabled(device_type=None)\n--\n\nWhether autocast is on in this thread for a device type."},
    {"set_autocast_enabled", as_method(&set_enabled), METH_FASTCALL | METH_KEYWORDS,
     "set_autocast_enabled(device_type, enabled=None)\n--\n\nSwitches autocast of this thread for a device type."},
    {"get_autocast_dtype", as_method(&get_dtype), METH_FASTCALL | METH_KEYWORDS,
     "get_autocast_dtype(device_type)\n--\n\nThe lower-precision dtype that autocast computes in."},
    {"set_autocast_dtype", as_method(&set_dtype), METH_FASTCALL | METH_KEYWORDS,
     "set_autocast_dtype(device_type, dtype)\n--\n\nSets the lower-precision dtype that autocast computes in."},
    {"is_autocast_cache_enabled", is_cache_enabled, METH_NOARGS,
     "is_autocast_cache_enabled()\n--\n\nWhether autocast keeps weights that it has cast."},
    {"set_autocast_cache_enabled", set_cache_enabled, METH_O,
     "set_autocast_cache_enabled(enabled)\n--\n\nSays whether autocast keeps weights that it has cast."},
    {"clear_autocast_cache", clear_cache, METH_NOARGS,
     "clear_autocast_cache()\n--\n\nForgets the weights that autocast has cast."},
    {"autocast_increment_nesting", enter, METH_NOARGS,
     "autocast_increment_nesting()\n--\n\nCounts an autocast block more; returns how many there are."},
    {"autocast_decrement_nesting", leave, METH_NOARGS,
     "autocast_decrement_nesting()\n--\n\nCounts an autocast block less; returns how many there are."},
    {}};

}  // namespace

int init_autocast(PyObject* module) { return PyModule_AddFunctions(module, functions); }

}  // namespace taeda::python
