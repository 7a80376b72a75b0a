// The small floating types as numbers: they hold bits, turn into float by themselves, and calculate in float.
#pragma once
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>

#include <c10/macros/Macros.h>
#include <taeda/core/float8.h>
#include <taeda/core/half.h>

namespace c10 {

#define TAEDA_SMALL_FLOAT(Name, Bits, Held)                                                \
  struct alignas(sizeof(Bits)) Name {                                                      \
    Bits x;                                                                                \
    struct from_bits_t {};                                                                 \
    static constexpr from_bits_t from_bits() { return {}; }                                \
    Name() = default;                                                                      \
    constexpr Name(Bits bits, from_bits_t) : x(bits) {}                                    \
    Name(float value) : x(std::bit_cast<Bits>(::taeda::Held(value))) {}                    \
    operator float() const { return static_cast<float>(std::bit_cast<::taeda::Held>(x)); } \
  };                                                                                       \
  inline Name operator+(Name a, Name b) { return float(a) + float(b); }                    \
  inline Name operator-(Name a, Name b) { return float(a) - float(b); }                    \
  inline Name operator*(Name a, Name b) { return float(a) * float(b); }                    \
  inline Name operator/(Name a, Name b) { return float(a) / float(b); }                    \
  inline Name operator-(Name a) { return -float(a); }                                      \
  inline Name& operator+=(Name& a, Name b) { return a = a + b; }                           \
  inline Name& operator-=(Name& a, Name b) { return a = a - b; }                           \
  inline Name& operator*=(Name& a, Name b) { return a = a * b; }                           \
  inline Name& operator/=(Name& a, Name b) { return a = a / b; }                           \
  inline float& operator+=(float& a, Name b) { return a += float(b); }                     \
  inline float& operator-=(float& a, Name b) { return a -= float(b); }                     \
  inline float& operator*=(float& a, Name b) { return a *= float(b); }                     \
  inline float& operator/=(float& a, Name b) { return a /= float(b); }                     \
  TAEDA_SMALL_FLOAT_WITH(Name, float, float)                                               \
  TAEDA_SMALL_FLOAT_WITH(Name, double, double)                                             \
  TAEDA_SMALL_FLOAT_WITH(Name, int, Name)                                                  \
  TAEDA_SMALL_FLOAT_WITH(Name, int64_t, Name)                                              \
  inline std::ostream& operator<<(std::ostream& out, Name value) { return out << float(value); }
// Arithmetic with another type of number, and what it gives.
#define TAEDA_SMALL_FLOAT_WITH(Name, Other, Result)                                                   \
  inline Result operator+(Name a, Other b) { return static_cast<Result>(static_cast<float>(a) + b); } \
  inline Result operator-(Name a, Other b) { return static_cast<Result>(static_cast<float>(a) - b); } \
  inline Result operator*(Name a, Other b) { return static_cast<Result>(static_cast<float>(a) * b); } \
  inline Result operator/(Name a, Other b) { return static_cast<Result>(static_cast<float>(a) / b); } \
  inline Result operator+(Other a, Name b) { return static_cast<Result>(a + static_cast<float>(b)); } \
  inline Result operator-(Other a, Name b) { return static_cast<Result>(a - static_cast<float>(b)); } \
  inline Result operator*(Other a, Name b) { return static_cast<Result>(a * static_cast<float>(b)); } \
  inline Result operator/(Other a, Name b) { return static_cast<Result>(a / static_cast<float>(b)); }

TAEDA_SMALL_FLOAT(Half, uint16_t, Half)
TAEDA_SMALL_FLOAT(BFloat16, uint16_t, BFloat16)
TAEDA_SMALL_FLOAT(Float8_e4m3fn, uint8_t, Float8E4M3FN)
TAEDA_SMALL_FLOAT(Float8_e4m3fnuz, uint8_t, Float8E4M3FNUZ)
TAEDA_SMALL_FLOAT(Float8_e5m2, uint8_t, Float8E5M2)
TAEDA_SMALL_FLOAT(Float8_e5m2fnuz, uint8_t, Float8E5M2FNUZ)
TAEDA_SMALL_FLOAT(Float8_e8m0fnu, uint8_t, Float8E8M0FNU)
#undef TAEDA_SMALL_FLOAT
#undef TAEDA_SMALL_FLOAT_WITH

namespace detail {
// The facts of a 16-bit floating type with so many bits of mantissa, for std::numeric_limits.
template <class T, int mantissa, int lowest_exponent, int highest_exponent, uint16_t least, uint16_t least_normal,
          uint16_t greatest, uint16_t infinite, uint16_t step>
struct SmallFloatLimits {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, has_signaling_NaN = true, is_iec559 = true;
  static constexpr bool is_bounded = true, is_modulo = false, traps = false, tinyness_before = false;
  static constexpr auto has_denorm = std::denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr auto round_style = std::round_to_nearest;
  static constexpr int radix = 2, digits = mantissa + 1, digits10 = (mantissa * 301) / 1000;
  static constexpr int max_digits10 = 2 + ((mantissa + 1) * 301) / 1000;
  static constexpr int min_exponent = lowest_exponent, max_exponent = highest_exponent;
  static constexpr int min_exponent10 = lowest_exponent * 301 / 1000, max_exponent10 = highest_exponent * 301 / 1000;
  static constexpr T of(uint16_t bits) { return T(bits, T::from_bits()); }
  static constexpr T min() { return of(least_normal); }
  static constexpr T denorm_min() { return of(least); }
  static constexpr T max() { return of(greatest); }
  static constexpr T lowest() { return of(greatest | 0x8000); }
  static constexpr T infinity() { return of(infinite); }
  static constexpr T quiet_NaN() { return of(infinite | (1 << (mantissa - 1))); }
  static constexpr T signaling_NaN() { return of(infinite | 1); }
  static constexpr T epsilon() { return of(step); }
  static T round_error() { return T(0.5f); }
};
// A BFloat16's bits and the number.
inline float f32_from_bits(uint16_t bits) { return BFloat16(bits, BFloat16::from_bits()); }
inline uint16_t bits_from_f32(float value) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16); }
inline uint16_t round_to_nearest_even(float value) { return BFloat16(value).x; }
}  // namespace detail

}  // namespace c10

template <>
struct std::numeric_limits<c10::Half>
    : c10::detail::SmallFloatLimits<c10::Half, 10, -13, 16, 0x0001, 0x0400, 0x7bff, 0x7c00, 0x1400> {};
template <>
struct std::numeric_limits<c10::BFloat16>
    : c10::detail::SmallFloatLimits<c10::BFloat16, 7, -125, 128, 0x0001, 0x0080, 0x7f7f, 0x7f80, 0x3c00> {};

namespace std {
#define TAEDA_SMALL_FLOAT_IS(T)                                   \
  inline bool isnan(T value) { return std::isnan(float(value)); } \
  inline bool isinf(T value) { return std::isinf(float(value)); } \
  inline bool isfinite(T value) { return std::isfinite(float(value)); }
TAEDA_SMALL_FLOAT_IS(c10::Half)
TAEDA_SMALL_FLOAT_IS(c10::BFloat16)
#undef TAEDA_SMALL_FLOAT_IS
}  // namespace std
