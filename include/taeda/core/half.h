// The two 16-bit floating types. They hold bits; arithmetic is done in float.
#pragma once
#include <bit>
#include <cstdint>

namespace taeda {

inline float half_bits_to_float(uint16_t bits) {
#if defined(__FLT16_MANT_DIG__)
  return static_cast<float>(std::bit_cast<_Float16>(bits));
#else
  uint32_t sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 31, mantissa = bits & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent == 0)
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(static_cast<float>(mantissa) * 0x1p-24f));
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
#endif
}

inline uint16_t float_to_half_bits(float value) {
#if defined(__FLT16_MANT_DIG__)
  return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
#else
  uint32_t bits = std::bit_cast<uint32_t>(value), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u)  // subnormal: let the float adder round
    return static_cast<uint16_t>(sign |
                                 (std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u));
  uint32_t odd = magnitude >> 13 & 1;
  return static_cast<uint16_t>(sign | (magnitude - 0x38000000u + 0xfffu + odd) >> 13);
#endif
}

struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float value) : bits(float_to_half_bits(value)) {}
  explicit operator float() const { return half_bits_to_float(bits); }
  static Half from_bits(uint16_t bits) {
    Half h;
    h.bits = bits;
    return h;
  }
};

struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) {
    uint32_t raw = std::bit_cast<uint32_t>(value);
    // To the nearest, of two the even one; one NaN stands for all, which loops take in fewer steps.
    bits = value != value ? uint16_t{0x7fc0} : static_cast<uint16_t>((raw + 0x7fffu + (raw >> 16 & 1)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  static BFloat16 from_bits(uint16_t bits) {
    BFloat16 b;
    b.bits = bits;
    return b;
  }
};

}  // namespace taeda
