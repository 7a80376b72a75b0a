// The parts of _C._jit: programs as Python makes and calls them.
#pragma once
#include "jit/error.h"
#include "python/exceptions.h"

namespace taeda::python {

// Sets the error indicator to an exception of the class that the program named; RuntimeError if there is none
// (errors.cpp).
void set_raised(const jit::Raised& raised);

int init_jit_primitives(PyObject* module);

}  // namespace taeda::python
