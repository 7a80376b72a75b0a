// Pack and unpack hooks written in Python.
#pragma once
#include "autograd/saved_tensor.h"
#include "python/error.h"

namespace taeda::python {

// Hooks that call two Python functions; TypeError unless both are callable.
Ref<autograd::SavedTensorHooks> make_saved_tensor_hooks(PyObject* pack, PyObject* unpack);

}  // namespace taeda::python
