#include "python/types.h"

namespace taeda::python {

namespace {
struct DeviceObject {
  PyObject_HEAD
  Device device;
};
Device device_of(PyObject* self) { return reinterpret_cast<DeviceObject*>(self)->device; }

PyTypeObject g_type = static_type("taeda.device", sizeof(DeviceObject));

// Objects made so far, by type and index + 1; `tensor.device` is asked often.
constexpr int kCachedIndices = 17;
PyObject* g_objects[kDeviceNames][kCachedIndices];

// What each thread's `with device:` blocks replaced.
thread_local std::vector<Device> t_outer_defaults;

PyObject* new_object(PyTypeObject* type, Device device) {
  PyObject* self = check(type->tp_alloc(type, 0));
  reinterpret_cast<DeviceObject*>(self)->device = device;
  return self;
}

Device accelerator(int64_t index) {
  TAEDA_CHECK(index >= 0 && index < 128, "a device index is from 0 to 127; got ", index);
  allocator(DeviceType::CUDA);  // raises where there is none
  return {DeviceType::CUDA, static_cast<int8_t>(index)};
}

Device from_parts(PyObject* type, PyObject* index) {
  if (is_device(type)) {
    TAEDA_CHECK_TYPE(!index || index == Py_None, "got an index besides a device that is complete already");
    return device_of(type);
  }
  if (PyLong_Check(type) && !PyBool_Check(type) && !index) return accelerator(to_int(type, "index"));
  TAEDA_CHECK_TYPE(PyUnicode_Check(type), "takes a str such as 'cpu' or 'cuda:0', a device or an index; got ",
                   Py_TYPE(type)->tp_name);
  Device device = parse_device(to_text(type, "type"));
  if (!index || index == Py_None) return device;
  TAEDA_CHECK_TYPE(PyLong_Check(index), "'index' must be an int; got ", Py_TYPE(index)->tp_name);
  TAEDA_CHECK(device.index < 0, "got the index twice: in '", to_text(type, "type"), "' and as an argument");
  int64_t number = to_int(index, "index");
  TAEDA_CHECK(number >= 0 && number < 128, "a device index is from 0 to 127; got ", number);
  return {device.type, static_cast<int8_t>(number)};
}

PyObject* new_device(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded("device", [&] {
    constexpr const char* kNames[] = {"type", "index"};
    PyObject* given[2];
    bool by_device = kwargs && PyDict_GetItemString(kwargs, "device");
    if (by_device) {
      constexpr const char* kOne[] = {"device"};
      given[1] = nullptr;
      read_arguments(kOne, 1, args, kwargs, given);
    } else if (kwargs && PyTuple_GET_SIZE(args) == 0 && !PyDict_GetItemString(kwargs, "type")) {
      constexpr const char* kIndex[] = {"index"};
      read_arguments(kIndex, 1, args, kwargs, given);
      return new_object(type, accelerator(to_int(given[0], "index")));
    } else {
      read_arguments(kNames, 1, args, kwargs, given);
    }
    return new_object(type, from_parts(given[0], given[1]));
  });
}

PyObject* repr(PyObject* self) {
  return guarded("device", [&] {
    Device device = device_of(self);
    std::string text = str("device(type='", device_type_name(device.type), "'");
    if (device.index >= 0) text += str(", index=", static_cast<int>(device.index));
    return PyUnicode_FromString((text + ")").c_str());
  });
}
PyObject* to_string(PyObject* self) {
  return guarded("device", [&] { return PyUnicode_FromString(str(device_of(self)).c_str()); });
}
Py_hash_t hash(PyObject* self) {
  Device device = device_of(self);
  return (static_cast<Py_hash_t>(device.type) << 8 | static_cast<uint8_t>(device.index)) * 0x9e3779b1 + 1;
}
PyObject* compare(PyObject* self, PyObject* other, int op) {
  if (!is_device(other) || (op != Py_EQ && op != Py_NE)) return Py_NewRef(Py_NotImplemented);
  return PyBool_FromLong((device_of(self) == device_of(other)) == (op == Py_EQ));
}

PyObject* get_type(PyObject* self, void*) {
  return guarded("device", [&] { return PyUnicode_FromString(device_type_name(device_of(self).type).c_str()); });
}
PyObject* get_index(PyObject* self, void*) {
  int index = device_of(self).index;
  return index < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(index);
}
PyObject* reduce(PyObject* self, PyObject*) {
  Device device = device_of(self);
  return guarded("device", [&] {
    std::string type = device_type_name(device.type);
    return device.index < 0 ? Py_BuildValue("O(s)", Py_TYPE(self), type.c_str())
                            : Py_BuildValue("O(si)", Py_TYPE(self), type.c_str(), static_cast<int>(device.index));
  });
}

PyObject* enter(PyObject* self, PyObject*) {
  t_outer_defaults.push_back(default_device());
  set_default_device(device_of(self));
  return Py_NewRef(self);
}
PyObject* exit(PyObject*, PyObject*) {
  return guarded("device", [&] {
    TAEDA_CHECK(!t_outer_defaults.empty(), "__exit__ without __enter__ on this thread");
    set_default_device(t_outer_defaults.back());
    t_outer_defaults.pop_back();
    return Py_NewRef(Py_None);
  });
}

PyGetSetDef g_getset[] = {{"type", get_type, nullptr, "The kind of device, e.g. ``'cpu'``.", nullptr},
                          {"index", get_index, nullptr, "Which one of its kind; None means the current one.", nullptr},
                          {}};
PyMethodDef g_methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr},
                           {"__enter__", enter, METH_NOARGS, nullptr},
                           {"__exit__", exit, METH_VARARGS, nullptr},
                           {}};
}  // namespace

PyObject* wrap(Device device) {
  int slot = device.index + 1;
  if (slot >= kCachedIndices) return new_object(&g_type, device);
  PyObject*& object = g_objects[static_cast<int>(device.type)][slot];
  if (!object) object = new_object(&g_type, device);
  return Py_NewRef(object);
}

bool is_device(PyObject* object) { return Py_TYPE(object) == &g_type; }

Device to_device(PyObject* object) { return from_parts(object, nullptr); }

Device to_place(PyObject* object) {
  Device device = to_device(object);
  return device.type == DeviceType::CPU ? Device{} : device;
}

int init_device(PyObject* module) {
  g_type.tp_doc =
      "device(type, index=None)\n--\n\nWhere a tensor's memory lives. As a context manager: the device of tensors made "
      "without ``device=``.";
  g_type.tp_new = new_device;
  g_type.tp_repr = repr;
  g_type.tp_str = to_string;
  g_type.tp_hash = hash;
  g_type.tp_richcompare = compare;
  g_type.tp_getset = g_getset;
  g_type.tp_methods = g_methods;
  return add_type(module, g_type);
}

}  // namespace taeda::python
