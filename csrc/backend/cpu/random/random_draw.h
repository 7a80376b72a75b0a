// Single draws, and the rounding of a sample to an element type.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <type_traits>

#include "taeda/core/generator.h"
#include "taeda/core/half.h"

namespace taeda::cpu::random {

template <class T>
constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// The type that T's arithmetic is done in.
template <class T>
using Compute = std::conditional_t<is_half<T>, float, T>;

template <class T, class V>
inline T to_element(V value) {
  if constexpr (is_half<T>)
    return T(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

constexpr uint64_t kMask53 = (uint64_t{1} << 53) - 1;
constexpr uint32_t kMask24 = (uint32_t{1} << 24) - 1;

inline double unit_double(uint64_t bits) { return static_cast<double>(bits & kMask53) * 0x1p-53; }
inline double draw_unit(Generator& generator) { return unit_double(generator.next64()); }

// Box and Muller, "A note on the generation of random normal deviates", 1958.
inline double draw_normal(Generator& generator) {
  if (generator.cached_normal) {
    double value = *generator.cached_normal;
    generator.cached_normal.reset();
    return value;
  }
  double angle = 2 * std::numbers::pi * draw_unit(generator);
  double radius = std::sqrt(-2 * std::log1p(-draw_unit(generator)));
  generator.cached_normal = radius * std::sin(angle);
  return radius * std::cos(angle);
}

}  // namespace taeda::cpu::random
