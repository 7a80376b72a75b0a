// What this folder gives to TensorBase and to _C.
#pragma once
#include <Python.h>

namespace taeda::python {

extern PyMethodDef autograd_methods[];
extern PyGetSetDef autograd_getset[];
int init_autograd(PyObject* module);

// Raises inside a function that a transform (func.grad, func.vmap, ...) runs: `call` reaches past the transform.
void refuse_in_transforms(const char* call, const char* instead);

// Its parts; each adds to _C._autograd.
int init_nodes(PyObject* module);
int init_function(PyObject* module);
int init_engine(PyObject* module);
int init_grad_mode(PyObject* module);

}  // namespace taeda::python
