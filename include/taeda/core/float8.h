// The 8-bit floating types. They hold bits; there are conversions to and from float, and no arithmetic.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>

namespace taeda {

// Beyond the largest number: infinities and NaNs as in IEEE 754; one NaN of each sign and no infinities; or one NaN,
// where the negative zero would be, and no infinities.
enum class Float8Kind { IEEE, Finite, FiniteOneZero };

template <int kMantissa, int kBias, Float8Kind kKind>
struct Float8 {
  uint8_t bits = 0;

  Float8() = default;
  explicit Float8(float value) {
    uint32_t raw = std::bit_cast<uint32_t>(value), sign = raw >> 24 & 0x80u, magnitude = raw & 0x7fffffffu;
    uint32_t rounded = magnitude > 0x7f800000u ? kNaN : round(magnitude);
    if (rounded > kLargest && magnitude <= 0x7f800000u) rounded = kOverflow;
    if (kOneZero && (rounded == 0 || rounded == kNaN)) sign = 0;
    bits = static_cast<uint8_t>(sign | rounded);
  }
  explicit operator float() const {
    uint32_t sign = (bits & 0x80u) << 24, magnitude = bits & 0x7fu;
    if (kOneZero ? bits == kNaN : magnitude > kTop) return std::bit_cast<float>(sign | 0x7fc00000u);
    if (kKind == Float8Kind::IEEE && magnitude == kTop) return std::bit_cast<float>(sign | 0x7f800000u);
    if (magnitude >> kMantissa == 0)
      return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(static_cast<float>(magnitude) * kStep));
    return std::bit_cast<float>(sign | ((magnitude << kDropped) + kRebias));
  }

 private:
  static constexpr int kDropped = 23 - kMantissa;  // bits of a float's mantissa that there is no room for
  static constexpr uint32_t kRebias = (127u - kBias) << 23;
  static constexpr float kStep = std::bit_cast<float>((128u - kBias - kMantissa) << 23);  // between subnormals
  static constexpr bool kOneZero = kKind == Float8Kind::FiniteOneZero;
  static constexpr uint32_t kNaN = kOneZero ? 0x80u : 0x7fu;
  // Infinity, or the largest number where there is none.
  static constexpr uint32_t kTop = kKind == Float8Kind::IEEE ? 0x80u - (1u << kMantissa) : kOneZero ? 0x7fu : 0x7eu;
  static constexpr uint32_t kLargest = kKind == Float8Kind::IEEE ? kTop - 1 : kTop;
  static constexpr uint32_t kOverflow = kOneZero ? kNaN : kTop;

  // The bits of a non-negative float, rounded to nearest even; the largest number may be exceeded.
  static uint32_t round(uint32_t magnitude) {
    if (magnitude >= kRebias + (1u << 23)) {
      uint32_t odd = magnitude >> kDropped & 1;
      return (magnitude - kRebias + (1u << (kDropped - 1)) - 1 + odd) >> kDropped;
    }
    constexpr float kShift = kStep * 0x1p23f;  // subnormal: let the float adder round
    return std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + kShift) - std::bit_cast<uint32_t>(kShift);
  }
};

using Float8E4M3FN = Float8<3, 7, Float8Kind::Finite>;
using Float8E5M2 = Float8<2, 15, Float8Kind::IEEE>;
using Float8E4M3FNUZ = Float8<3, 8, Float8Kind::FiniteOneZero>;
using Float8E5M2FNUZ = Float8<2, 16, Float8Kind::FiniteOneZero>;

// A float's exponent alone: a power of two or NaN, the scale of a block of other numbers.
struct Float8E8M0FNU {
  uint8_t bits = 0;

  Float8E8M0FNU() = default;
  explicit Float8E8M0FNU(float value) {
    uint32_t raw = std::bit_cast<uint32_t>(value) & 0x7fffffffu, exponent = raw >> 23;
    uint32_t up = exponent == 0 ? raw > 0x00400000u : raw >> 22 & 1;
    bits = static_cast<uint8_t>(exponent == 0xff ? 0xff : exponent + up);
  }
  explicit operator float() const {
    if (bits == 0xff) return std::numeric_limits<float>::quiet_NaN();
    return std::bit_cast<float>(bits == 0 ? 0x00400000u : static_cast<uint32_t>(bits) << 23);
  }
};

}  // namespace taeda
