// Types of schemas as Python objects, one for each.
#pragma once
#include "python/object.h"
#include "taeda/dispatch/type.h"

namespace taeda::python {

PyObject* wrap(TypePtr type);                         // a new reference to the one object of each type
TypePtr to_type(PyObject* object, const char* name);  // TypeError when it is none
extern PyMethodDef class_type_functions[];            // of _C

}  // namespace taeda::python
