// Hand-written parts of _C that are neither types nor ops: settings, threads, memory, the library of ops.
#pragma once
#include "python/exceptions.h"

namespace taeda::python {

void fill_operators(PyTypeObject& type);  // generated operators.cpp; before init_objects, as are the next two
void add_conversions();                   // dtype methods, T, real, set_ (manual/conversions.cpp)
int init_indexing(PyObject* module);      // getitem and setitem (manual/indexing.cpp)
int init_factories(PyObject* module);     // tensor, as_tensor and the like (manual/factories.cpp)
int init_settings(PyObject* module);      // default dtype, threads, memory statistics (settings.cpp)
int init_library(PyObject* module);       // op objects and run-time registration (library.cpp)
int init_autocast(PyObject* module);      // autocast.cpp
int init_cpp_api(PyObject* module);       // what C++ extensions find here (cpp_api.cpp)
int init_distributed(PyObject* module);   // stores (distributed/store.cpp)
int init_jit(PyObject* module);           // programs (jit/module.cpp)
int init_sparse(PyObject* module);        // what kernels for sparse layouts ask for (sparse.cpp)

}  // namespace taeda::python
