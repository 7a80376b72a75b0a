// The size of one number with the sign of another, of any floating-point type.
#pragma once
#include <cmath>

#include <c10/util/Half.h>

namespace c10 {

template <class T>
T copysign(T size, T sign) {
  if constexpr (sizeof(T) < 4)
    return static_cast<T>(std::copysign(static_cast<float>(size), static_cast<float>(sign)));
  else
    return std::copysign(size, sign);
}

}  // namespace c10
