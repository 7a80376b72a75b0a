// Tensors from Python data.
#pragma once
#include "python/exceptions.h"

namespace taeda::python {

// A tensor of nested sequences, numbers, arrays or what has __array__, __dlpack__ or the buffer protocol; the dtype is
// inferred from the elements where it is not given. ValueError for ragged sequences, TypeError for what is no data.
Tensor tensor_from(PyObject* data, std::optional<DType> dtype, std::optional<Device> device);

// The memory of a NumPy array, which the tensor keeps alive; a warning where it may not be written, unless the caller
// copies it.
Tensor over_array(PyObject* array, bool will_be_copied);

}  // namespace taeda::python
