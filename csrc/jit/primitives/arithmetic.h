// Arithmetic with Python's meaning, on int64 and double. Sums and products of ints wrap around.
#pragma once
#include <cmath>

#include "jit/error.h"

namespace taeda::jit {

inline int64_t wrap_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t wrap_sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
inline int64_t wrap_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
inline int64_t wrap_neg(int64_t a) { return wrap_sub(0, a); }

TAEDA_API [[noreturn]] void fail_division();
inline void check_divisor(bool is_zero) {
  if (is_zero) [[unlikely]]
    fail_division();
}

inline int64_t floor_div(int64_t a, int64_t b) {
  check_divisor(b == 0);
  if (b == -1) return wrap_neg(a);  // the processor traps on the least int
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
inline int64_t modulo(int64_t a, int64_t b) {
  check_divisor(b == 0);
  if (b == -1) return 0;
  int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
inline double true_div(double a, double b) {
  check_divisor(b == 0);
  return a / b;
}
inline double modulo(double a, double b) {
  check_divisor(b == 0);
  double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}
inline double floor_div(double a, double b) {
  check_divisor(b == 0);
  double rest = std::fmod(a, b), quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

TAEDA_API double power(double a, double b);
TAEDA_API int64_t power(int64_t a, int64_t b);
TAEDA_API int64_t shift_left(int64_t a, int64_t b);
TAEDA_API int64_t shift_right(int64_t a, int64_t b);
TAEDA_API int64_t to_whole(double number);  // towards zero; ValueError of nan, OverflowError beyond int64

}  // namespace taeda::jit
