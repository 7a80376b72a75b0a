// layout and memory_format: enumerations with one object per value.
#include "python/types.h"

namespace taeda::python {

// The last is for tensors whose class is written in Python (taeda/backends/_mkldnn_tensor.py): no C++ tensor has it.
const char* const kLayoutNames[8] = {"strided",    "sparse_coo", "sparse_csr", "sparse_csc",
                                     "sparse_bsr", "sparse_bsc", "jagged",     "_mkldnn"};

namespace {
struct EnumObject {
  PyObject_HEAD
  uint8_t value;
};
uint8_t value_of(PyObject* self) { return reinterpret_cast<EnumObject*>(self)->value; }

PyTypeObject g_layout_type = static_type("taeda.layout", sizeof(EnumObject));
PyTypeObject g_format_type = static_type("taeda.memory_format", sizeof(EnumObject));

// In the order of the C++ enumerations.
constexpr const char* kFormatNames[] = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};
PyObject* g_layouts[std::size(kLayoutNames)];
PyObject* g_formats[std::size(kFormatNames)];

const char* name_of(PyObject* self) {
  return (Py_TYPE(self) == &g_layout_type ? kLayoutNames : kFormatNames)[value_of(self)];
}
PyObject* repr(PyObject* self) { return PyUnicode_FromFormat("torch.%s", name_of(self)); }
PyObject* reduce(PyObject* self, PyObject*) { return PyUnicode_FromString(name_of(self)); }
PyMethodDef g_methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {}};

int make_type(PyObject* module, PyTypeObject& type, const char* doc, std::span<const char* const> names,
              PyObject** objects) {
  type.tp_doc = doc;
  type.tp_flags |= Py_TPFLAGS_DISALLOW_INSTANTIATION;
  type.tp_repr = repr;
  type.tp_methods = g_methods;
  if (add_type(module, type) < 0) return -1;
  Owned where(PyUnicode_InternFromString("taeda"));  // where pickle finds the names
  if (!where || PyDict_SetItemString(type.tp_dict, "__module__", where.get()) < 0) return -1;
  PyType_Modified(&type);
  for (size_t i = 0; i < names.size(); ++i) {
    EnumObject* object = PyObject_New(EnumObject, &type);
    if (!object) return -1;
    object->value = static_cast<uint8_t>(i);
    objects[i] = reinterpret_cast<PyObject*>(object);
    if (PyModule_AddObjectRef(module, names[i], objects[i]) < 0) return -1;
  }
  return 0;
}
}  // namespace

PyObject* wrap(Layout layout) { return Py_NewRef(g_layouts[static_cast<int>(layout)]); }
PyObject* wrap(MemoryFormat format) { return Py_NewRef(g_formats[static_cast<int>(format)]); }
bool is_layout(PyObject* object) { return Py_TYPE(object) == &g_layout_type; }
bool is_memory_format(PyObject* object) { return Py_TYPE(object) == &g_format_type; }

Layout to_layout(PyObject* object) {
  TAEDA_CHECK_TYPE(is_layout(object), "expected a layout; got ", Py_TYPE(object)->tp_name);
  return static_cast<Layout>(value_of(object));
}
MemoryFormat to_memory_format(PyObject* object) {
  TAEDA_CHECK_TYPE(is_memory_format(object), "expected a memory_format; got ", Py_TYPE(object)->tp_name);
  return static_cast<MemoryFormat>(value_of(object));
}

int init_layout(PyObject* module) {
  if (make_type(module, g_layout_type, "How a tensor's elements are stored, e.g. ``strided``.", kLayoutNames,
                g_layouts) < 0)
    return -1;
  return make_type(module, g_format_type, "The order of a tensor's dimensions in memory.", kFormatNames, g_formats);
}

}  // namespace taeda::python
