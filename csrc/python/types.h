// The Python types of this folder and how the extension's start-up makes them.
#pragma once
#include <vector>

#include "python/core_hooks.h"
#include "python/exceptions.h"
#include "python/object.h"

namespace taeda::python {

// TensorBase's protocol tables; whoever binds operators fills in their slots before init_objects.
extern PyNumberMethods tensor_number;
extern PySequenceMethods tensor_sequence;
extern PyMappingMethods tensor_mapping;

// Null-terminated tables that become TensorBase's; call any number of times before init_objects. The newest of equal
// names wins, and over all of them this folder's own members do: they skip the dispatcher.
void add_tensor_methods(const PyMethodDef* methods);
void add_tensor_getset(const PyGetSetDef* getset);

extern PyMethodDef member_methods[];  // tensor_members.cpp
extern PyGetSetDef member_getset[];
extern PyMethodDef value_methods[];     // tensor_values.cpp
extern PyMethodDef subclass_methods[];  // tensor_subclass.cpp
extern PyMethodDef numpy_methods[];     // numpy.cpp, dlpack.cpp: numpy, __array__, __dlpack__ ...
extern PyMethodDef dlpack_methods[];
extern PyBufferProcs tensor_buffer;

// Readies all types and adds them, the dtypes, layouts, memory formats, exceptions and module functions.
int init_objects(PyObject* module);

int init_tensor_type(PyObject* module);
int init_dtype(PyObject* module);
int init_device(PyObject* module);
int init_layout(PyObject* module);
int init_size(PyObject* module);
int init_generator(PyObject* module);
int init_storage(PyObject* module);
int init_errors(PyObject* module);
int init_numpy(PyObject* module);
int init_dlpack(PyObject* module);
int init_overridable(PyObject* module);

PyObject* as_subclass(const Tensor& tensor, PyObject* cls);
PyTypeObject* check_tensor_class(PyObject* cls);  // TypeError unless it derives from TensorBase

// A static type with the fields that all have; the rest is set before PyType_Ready.
inline PyTypeObject static_type(const char* name, size_t size, PyTypeObject* meta = &PyType_Type) {
  const PyVarObject head = {PyObject_HEAD_INIT(meta) 0};
  PyTypeObject type{};
  type.ob_base = head;
  type.tp_name = name;
  type.tp_basicsize = static_cast<Py_ssize_t>(size);
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  return type;
}
inline int add_type(PyObject* module, PyTypeObject& type) {
  return PyType_Ready(&type) < 0 ? -1 : PyModule_AddType(module, &type);
}

extern const char* const kLayoutNames[8];

// --- small helpers that every file of this folder needs
PyObject* number_at(DType dtype, const void* element);  // one element as a Python number

// A Python object inside a boxed value (Value::object), for arguments of type Any.
struct HeldObject final : RefCounted {
  PyObject* object;
  explicit HeldObject(PyObject* borrowed) : object(Py_NewRef(borrowed)) {}
  ~HeldObject() override;
};

// Reads positional and keyword arguments of a vectorcall into slots by name; null where absent. Throws TypeError.
void read_arguments(std::span<const char* const> names, int required, PyObject* const* args, Py_ssize_t count,
                    PyObject* keyword_names, PyObject** out, int max_positional = -1);
void read_arguments(std::span<const char* const> names, int required, PyObject* args, PyObject* kwargs, PyObject** out,
                    int max_positional = -1);
int64_t to_int(PyObject* object, const char* name);  // an int or what has __index__, never a float; TypeError
bool to_flag(PyObject* object, bool absent);         // None and null give `absent`
std::vector<int64_t> to_sizes(PyObject* object, const char* name);
std::string_view to_text(PyObject* object, const char* name);

template <class F>
PyCFunction as_method(F* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}
using FastMethod = PyObject*(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

}  // namespace taeda::python
