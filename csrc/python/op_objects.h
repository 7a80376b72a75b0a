// Ops as Python sees them: op objects, kernels written in Python, libraries, modes below autograd, devices.
#pragma once
#include <memory>
#include <string>

#include "python/exceptions.h"
#include "taeda/dispatch/op.h"

namespace taeda::python {

// --- op objects (library_ops.cpp)
PyObject* op_object(const Op& op);  // a new reference to the one object of each op
bool is_op_object(PyObject* object);
const Op& to_op(PyObject* object);  // requires is_op_object

// --- boxed arguments and Python's (library_calls.cpp)
struct PythonArguments {
  Owned positional;  // a tuple, without what stands at its default in the end
  Owned keywords;    // a dict, likewise
};
// The op's arguments on top of the stack; `first`, if any, becomes the first positional one.
PythonArguments to_python_arguments(const Op& op, const Stack& stack, PyObject* first = nullptr);
// Replaces the op's arguments by what its Python kernel returned. TypeError when that does not fit the schema.
void put_results(const Op& op, PyObject* result, Stack& stack);
// A boxed kernel that calls a Python function with the GIL held.
std::shared_ptr<Kernel> make_python_kernel(PyObject* function, bool with_keys, std::string where);

// --- key sets (library_keys.cpp)
PyObject* wrap(KeySet keys);
KeySet to_key_set(PyObject* object);

// --- dispatch modes (dispatch_mode.cpp)
constexpr KeySet kPythonKeys = KeySet(Functionality::Python) | Functionality::PythonSnapshot;
// Makes __torch_dispatch__ part of dispatch; called when the first mode or the first tensor that wants it appears.
void enable_torch_dispatch();
// A tensor made of Python data as this thread's modes answer ``lift_fresh``; without modes as it is.
Tensor shown_to_modes(Tensor fresh);

// --- start-up; each adds to _C
int init_op_objects(PyObject* module);
int init_python_library(PyObject* module);
int init_key_sets(PyObject* module);
int init_guards(PyObject* module);
int init_capture(PyObject* module);
int init_dispatch_mode(PyObject* module);
int init_device_backend(PyObject* module);
int init_recorder(PyObject* module);
int init_profiler(PyObject* module);
int init_schemas(PyObject* module);  // type_objects.cpp
int init_symbols(PyObject* module);
int init_enumerations(PyObject* module);

}  // namespace taeda::python
