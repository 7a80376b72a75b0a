// Reading elements outside of kernels.
#pragma once
#include "core/load.h"
#include "core/scalar.h"
#include "core/tensor.h"

namespace taeda {

// The elements of `t`, a tensor on the CPU; RuntimeError if it has no memory of its own.
template <class T>
const T* elements(const Tensor& t) {
  TAEDA_CHECK(t->storage() || t.numel() == 0, "the tensor has no memory of its own whose elements could be read");
  return t.data<T>();
}

// The number that is stored at `element`.
inline Scalar read_number(DType dtype, const void* element) {
  return visit_stored(dtype, [&]<class T>() -> Scalar {
    T value = load<T>(element);
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, uint64_t>)
      return value;
    else if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>)
      return convert<complex128>(value);
    else if constexpr (std::is_integral_v<T>)
      return convert<int64_t>(value);
    else
      return convert<double>(value);
  });
}

}  // namespace taeda
