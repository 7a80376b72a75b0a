// Between Python's handles of stores and groups and what they hold.
#pragma once
#include "python/types.h"
#include "taeda/distributed/process_group.h"

namespace taeda::python {

Ref<distributed::Store> to_store(PyObject* handle);  // TypeError
int init_groups(PyObject* module);                   // group.cpp

}  // namespace taeda::python
