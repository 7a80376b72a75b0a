// Divisions that round downward, and remainders of the divisor's sign, as Python has them.
#pragma once
#include <cmath>
#include <concepts>
#include <type_traits>

#include <c10/util/copysign.h>

namespace c10 {

template <class T>
T div_mod(T a, T b) {
  if constexpr (std::integral<T>) {
    const T rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    using Wide = std::conditional_t<sizeof(T) < sizeof(float), float, T>;
    const Wide y(b), rest = std::fmod(Wide(a), y);
    if (rest == 0) return T(std::copysign(Wide(0), y));
    return T(y != 0 && (rest < 0) != (y < 0) ? rest + y : rest);
  }
}

template <class T>
T div_floor_floating(T a, T b) {
  using Wide = std::conditional_t<sizeof(T) < sizeof(float), float, T>;
  const Wide x(a), y(b);
  if (y == 0) return T(x / y);
  // Without the remainder the quotient is whole but for its rounding; floor(x / y) may be one too many.
  const Wide rest = std::fmod(x, y);
  const bool apart = rest != 0 && (rest < 0) != (y < 0);
  const Wide quotient = (x - rest) / y - Wide(apart);
  if (quotient == 0) return T(std::copysign(Wide(0), x / y));
  return T(std::floor(quotient) + Wide(quotient - std::floor(quotient) > Wide(0.5)));
}

template <class T>
T div_floor_integer(T a, T b) {
  const T quotient = a / b;
  if constexpr (std::signed_integral<T>) return (a < 0) != (b < 0) && a % b != 0 ? quotient - 1 : quotient;
  return quotient;
}

}  // namespace c10
