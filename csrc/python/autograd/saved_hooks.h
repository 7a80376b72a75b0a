// Pack and unpack hooks written in Python.
#pragma once
#include "python/exceptions.h"
#include "taeda/autograd/saved_tensor.h"

namespace taeda::python {

// Hooks that call two Python functions; TypeError unless both are callable.
Ref<autograd::SavedTensorHooks> make_saved_tensor_hooks(PyObject* pack, PyObject* unpack);

}  // namespace taeda::python
