// Reading a number out of a tensor.
#pragma once
#include "api/copy.h"

namespace taeda::composite {

// The one element of `t`, fetched to the CPU if need be.
inline Scalar number_of(const Tensor& t) {
  TAEDA_CHECK(t.numel() == 1, "expected a tensor of one element; got shape ", t.sizes());
  Tensor here = t.is_cpu() ? t : ops::_to_copy(t, {}, {}, Device{});
  return visit(here.dtype(), [&]<class T>() -> Scalar {
    T value = *here.data<T>();
    if constexpr (std::is_same_v<T, bool>)
      return value;
    else if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>)
      return convert<complex128>(value);
    else if constexpr (std::is_same_v<T, uint64_t>)
      return value;
    else if constexpr (std::is_integral_v<T>)
      return convert<int64_t>(value);
    else
      return convert<double>(value);
  });
}

}  // namespace taeda::composite
