// The generated method tables, each array ended by null.
#pragma once
#include <Python.h>

namespace taeda::python {

extern PyMethodDef* const all_methods[];    // Tensor
extern PyMethodDef* const all_functions[];  // taeda
extern PyMethodDef* const all_nn[];         // _C._nn
extern PyMethodDef* const all_linalg[];
extern PyMethodDef* const all_fft[];
extern PyMethodDef* const all_special[];

}  // namespace taeda::python
