// Lists and dicts that Python and programs share.
#pragma once
#include "python/object.h"
#include "taeda/dispatch/type.h"
#include "taeda/dispatch/value.h"

namespace taeda::python {

// Whether the object is a `Container`, or holds one as `_c`, of the type (of any where that is null). The value is the
// container itself, no copy.
bool read_container(PyObject* object, TypePtr type, Value& value);

}  // namespace taeda::python
