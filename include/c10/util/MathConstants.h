// c10::pi<float> and other numbers, of any floating-point type.
#pragma once
#include <numbers>

#include <c10/util/Half.h>

namespace c10 {

template <class T>
constexpr T e = static_cast<T>(std::numbers::e);
template <class T>
constexpr T euler = static_cast<T>(std::numbers::egamma);
template <class T>
constexpr T frac_1_pi = static_cast<T>(std::numbers::inv_pi);
template <class T>
constexpr T frac_1_sqrt_pi = static_cast<T>(std::numbers::inv_sqrtpi);
template <class T>
constexpr T frac_sqrt_2 = static_cast<T>(std::numbers::sqrt2 / 2);
template <class T>
constexpr T frac_sqrt_3 = static_cast<T>(std::numbers::inv_sqrt3);
template <class T>
constexpr T golden_ratio = static_cast<T>(std::numbers::phi);
template <class T>
constexpr T ln_10 = static_cast<T>(std::numbers::ln10);
template <class T>
constexpr T ln_2 = static_cast<T>(std::numbers::ln2);
template <class T>
constexpr T log_10_e = static_cast<T>(std::numbers::log10e);
template <class T>
constexpr T log_2_e = static_cast<T>(std::numbers::log2e);
template <class T>
constexpr T pi = static_cast<T>(std::numbers::pi);
template <class T>
constexpr T sqrt_2 = static_cast<T>(std::numbers::sqrt2);
template <class T>
constexpr T sqrt_3 = static_cast<T>(std::numbers::sqrt3);

}  // namespace c10
