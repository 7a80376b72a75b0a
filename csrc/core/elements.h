// Reading elements outside of kernels.
#pragma once
#include "taeda/core/scalar.h"
#include "taeda/core/tensor.h"

namespace taeda {

// The elements of `t`, a tensor on the CPU; RuntimeError if it has no memory of its own, as on the device meta.
template <class T>
const T* elements(const Tensor& t) {
  const T* first = t.data<T>();
  TAEDA_CHECK(first || t.numel() == 0, "the tensor has no memory of its own whose elements could be read; it is on ",
              t.device());
  return first;
}

// The number that is stored at `element`.
TAEDA_API Scalar read_number(DType dtype, const void* element);

}  // namespace taeda
