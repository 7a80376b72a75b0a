// Tests and functions of one number, of any dtype's C++ type.
#pragma once
#include <cmath>
#include <type_traits>

#include <c10/util/Half.h>
#include <c10/util/complex.h>

namespace at {

template <class T>
bool _isnan(T x) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else if constexpr (c10::is_complex<T>::value)
    return std::isnan(x.real()) || std::isnan(x.imag());
  else
    return std::isnan(static_cast<float>(x)) || (sizeof(T) > 4 && std::isnan(static_cast<double>(x)));
}
template <class T>
bool _isinf(T x) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else if constexpr (sizeof(T) > 4)
    return std::isinf(static_cast<double>(x));
  else
    return std::isinf(static_cast<float>(x));
}
#define TAEDA_UNARY(name)                                      \
  template <class T>                                           \
  T name(T x) {                                                \
    if constexpr (sizeof(T) < 4)                               \
      return static_cast<T>(std::name(static_cast<float>(x))); \
    else                                                       \
      return std::name(x);                                     \
  }
TAEDA_UNARY(exp)
TAEDA_UNARY(log)
TAEDA_UNARY(log1p)
TAEDA_UNARY(tan)
#undef TAEDA_UNARY

}  // namespace at
