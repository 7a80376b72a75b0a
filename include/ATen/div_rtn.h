// Whole quotients rounded down, as of Python's //.
#pragma once

template <class T>
constexpr T div_rtn(T x, T y) {
  const T quotient = x / y, rest = x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? quotient - 1 : quotient;
}
