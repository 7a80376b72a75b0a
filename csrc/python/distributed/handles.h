// Between Python's handles of stores and groups and what they hold.
#pragma once
#include "python/types.h"
#include "taeda/distributed/process_group.h"

namespace taeda::python {

Ref<distributed::Store> to_store(PyObject* handle);  // TypeError
PyObject* store_handle(Ref<distributed::Store> store);
// Of a Store of taeda.distributed, with its timeout in ms; null for another object.
Ref<distributed::Store> store_within(PyObject* store, int64_t& timeout);
Ref<distributed::ProcessGroup> group_within(PyObject* handle);  // null for another object
int init_groups(PyObject* module);                              // group.cpp

}  // namespace taeda::python
