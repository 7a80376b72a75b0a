// Functions of the half types that give the half type. Without this header std::exp(Half(1)) and its kin give a float.
#pragma once
#include <c10/util/Half.h>

namespace std {
#define TAEDA_SMALL_FLOAT_MATH(T)                                    \
  inline T abs(T value) { return std::fabs(float(value)); }          \
  inline T fabs(T value) { return std::fabs(float(value)); }         \
  inline T exp(T value) { return std::exp(float(value)); }           \
  inline T log(T value) { return std::log(float(value)); }           \
  inline T sqrt(T value) { return std::sqrt(float(value)); }         \
  inline T rsqrt(T value) { return 1.0f / std::sqrt(float(value)); } \
  inline T tanh(T value) { return std::tanh(float(value)); }         \
  inline T sin(T value) { return std::sin(float(value)); }           \
  inline T cos(T value) { return std::cos(float(value)); }           \
  inline T floor(T value) { return std::floor(float(value)); }       \
  inline T ceil(T value) { return std::ceil(float(value)); }         \
  inline T pow(T a, T b) { return std::pow(float(a), float(b)); }
TAEDA_SMALL_FLOAT_MATH(c10::Half)
TAEDA_SMALL_FLOAT_MATH(c10::BFloat16)
#undef TAEDA_SMALL_FLOAT_MATH
}  // namespace std
