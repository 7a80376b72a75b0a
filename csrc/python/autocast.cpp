// Autocast's switches for Python.
#include "autograd/casting.h"
#include "python/module_parts.h"
#include "python/types.h"

namespace taeda::python {
namespace {

DeviceType device_type(PyObject* name) {
  TAEDA_CHECK_TYPE(PyUnicode_Check(name), "takes the name of a device type; got ", Py_TYPE(name)->tp_name);
  DeviceType type = parse_device(to_text(name, "device_type")).type;
  TAEDA_CHECK(type != DeviceType::Meta, "there is no autocast on the device type 'meta'");
  return type;
}

// Without a device type, as in the days when there was one kind only, CUDA is meant.
PyObject* is_enabled(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded("is_autocast_enabled", [&] {
    TAEDA_CHECK_TYPE(count <= 1, "takes at most one argument; got ", count);
    return PyBool_FromLong(casting::enabled(count ? device_type(args[0]) : DeviceType::CUDA));
  });
}

PyObject* set_enabled(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded("set_autocast_enabled", [&] {
    TAEDA_CHECK_TYPE(count == 1 || count == 2, "takes a device type and a bool; got ", count, " arguments");
    PyObject* on = args[count - 1];
    TAEDA_CHECK_TYPE(PyBool_Check(on), "takes a bool; got ", Py_TYPE(on)->tp_name);
    casting::set_enabled(count == 2 ? device_type(args[0]) : DeviceType::CUDA, on == Py_True);
    return Py_NewRef(Py_None);
  });
}

PyObject* get_dtype(PyObject*, PyObject* name) {
  return guarded("get_autocast_dtype", [&] { return wrap(casting::lower_dtype(device_type(name))); });
}

PyObject* set_dtype(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded("set_autocast_dtype", [&] {
    TAEDA_CHECK_TYPE(count == 2 && is_dtype(args[1]), "takes a device type and a dtype");
    casting::set_lower_dtype(device_type(args[0]), to_dtype(args[1]));
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
    {"is_autocast_enabled", as_method(&is_enabled), METH_FASTCALL,
     "is_autocast_enabled(device_type=None)\n--\n\nWhether autocast is on in this thread for a device type."},
    {"set_autocast_enabled", as_method(&set_enabled), METH_FASTCALL,
     "set_autocast_enabled(device_type, enabled=None)\n--\n\nSwitches autocast of this thread for a device type."},
    {"get_autocast_dtype", get_dtype, METH_O,
     "get_autocast_dtype(device_type)\n--\n\nThe lower-precision dtype that autocast computes in."},
    {"set_autocast_dtype", as_method(&set_dtype), METH_FASTCALL,
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
