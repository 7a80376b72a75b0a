// Python objects as schema values and back.
#pragma once
#include <span>
#include <string_view>

#include "python/exceptions.h"
#include "taeda/dispatch/collections.h"
#include "taeda/dispatch/op.h"

namespace taeda::python {

// An object as a value of the type, with copies of lists and dicts; false when it is none (convert_typed.cpp).
bool read_typed(PyObject* object, TypePtr type, Value& value);
// As a value of the type that it shows; what no type says is held as an object.
Value to_value(PyObject* object);
// The members of an enumeration that a Python class stands for; values of either become the other's.
const EnumType* register_enum(PyObject* cls);
// The name by which programs know a Python class: __torch__.package.Name.
std::string qualified_name(PyObject* cls);
// Values of an enumeration or named tuple become objects of this class, unless it has one.
void set_class_of(TypePtr type, PyObject* cls);
// A list, tuple, dict or member of an enumeration as Python's; the first two copy.
PyObject* wrap_collection(const Value& value);

// Objects of compiled classes (jit/objects.cpp): what Python gets of one, and what stands for one of the type.
PyObject* wrap_instance(Ref<Instance> instance);
bool read_instance(PyObject* object, TypePtr type, Value& value);  // any type where it is null

// Told by its name, as NumPy may not be there.
inline bool is_numpy_array(PyObject* object) { return std::string_view(Py_TYPE(object)->tp_name) == "numpy.ndarray"; }

// A single result as itself, none as None, several as a tuple.
PyObject* wrap_plain_results(std::span<Value> results);

// The object that programs know a bound function by: taeda.add, taeda.nn.functional.silu or Tensor.add. New reference.
PyObject* find_public_callable(const char* name, const char* where, bool is_method);

void set_requires_grad(const Tensor& tensor, bool value);

// "int[2]" and the like, for messages.
std::string type_name(const Param& param);

}  // namespace taeda::python
