// The parts of _C._jit: programs as Python makes and calls them.
#pragma once
#include "jit/error.h"
#include "python/exceptions.h"
#include "python/object.h"
#include "taeda/dispatch/value.h"

namespace taeda {
class Type;
using TypePtr = const Type*;
}  // namespace taeda

namespace taeda::python {

// Sets the error indicator to an exception of the class that the program named; RuntimeError if there is none
// (errors.cpp).
void set_raised(const jit::Raised& raised);

// Likewise to what a program failed with; the program's lines follow the message.
void set_failure(const jit::Failure& failure);

// As programs hold it: of the type, if one is given; dtypes and the like are ints (primitives.cpp).
Value to_program_value(PyObject* object, TypePtr type);

// As `read_typed`, with the conversions that calls of programs have beside: a list for a tuple, a number for a bool, a
// tensor of one element for a number (loose.cpp).
bool read_loosely(PyObject* object, TypePtr type, Value& value);

// Runs a program without the GIL; its failure becomes a Python exception.
template <class Body>
void run_program(Body&& body) {
  try {
    NoGil unlocked;
    body();
  } catch (const jit::Failure& failure) {
    set_failure(failure);
    throw PythonError();
  }
}

// The object where it is of the type, or what it holds of that type as `_c`; null for any other.
Owned native_of(PyObject* object, PyTypeObject& type);

int init_jit_primitives(PyObject* module);
int init_jit_functions(PyObject* module);
int init_jit_objects(PyObject* module);
int init_jit_containers(PyObject* module);

}  // namespace taeda::python
