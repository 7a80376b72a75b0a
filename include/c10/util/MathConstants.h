// c10::pi<float> and other numbers, of any floating-point type.
#pragma once
#include <numbers>

#include <c10/util/Half.h>

namespace c10 {

#define TAEDA_CONSTANT(name, value) \
  template <class T>                \
  constexpr T name = static_cast<T>(value);
TAEDA_CONSTANT(e, std::numbers::e)
TAEDA_CONSTANT(euler, std::numbers::egamma)
TAEDA_CONSTANT(frac_1_pi, std::numbers::inv_pi)
TAEDA_CONSTANT(frac_1_sqrt_pi, std::numbers::inv_sqrtpi)
TAEDA_CONSTANT(frac_sqrt_2, std::numbers::sqrt2 / 2)
TAEDA_CONSTANT(frac_sqrt_3, std::numbers::inv_sqrt3)
TAEDA_CONSTANT(golden_ratio, std::numbers::phi)
TAEDA_CONSTANT(ln_10, std::numbers::ln10)
TAEDA_CONSTANT(ln_2, std::numbers::ln2)
TAEDA_CONSTANT(log_10_e, std::numbers::log10e)
TAEDA_CONSTANT(log_2_e, std::numbers::log2e)
TAEDA_CONSTANT(pi, std::numbers::pi)
TAEDA_CONSTANT(sqrt_2, std::numbers::sqrt2)
TAEDA_CONSTANT(sqrt_3, std::numbers::sqrt3)
#undef TAEDA_CONSTANT

}  // namespace c10
