// Complex numbers are the standard library's: the same bytes as the core's.
#pragma once
#include <complex>

#include <c10/macros/Macros.h>

namespace c10 {

template <class T>
using complex = std::complex<T>;

template <class T>
struct is_complex : std::false_type {};
template <class T>
struct is_complex<std::complex<T>> : std::true_type {};
template <class T>
struct scalar_value_type {
  using type = T;
};
template <class T>
struct scalar_value_type<std::complex<T>> {
  using type = T;
};

namespace complex_literals {
constexpr std::complex<float> operator""_if(long double value) { return {0, static_cast<float>(value)}; }
constexpr std::complex<double> operator""_id(long double value) { return {0, static_cast<double>(value)}; }
constexpr std::complex<float> operator""_if(unsigned long long value) { return {0, static_cast<float>(value)}; }
constexpr std::complex<double> operator""_id(unsigned long long value) { return {0, static_cast<double>(value)}; }
}  // namespace complex_literals
using namespace complex_literals;

template <class T>
std::complex<T> polar(const T& r, const T& theta = T()) {
  return std::polar(r, theta);
}

}  // namespace c10

namespace c10_complex_math {
using std::abs, std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atanh, std::cos, std::cosh, std::exp,
    std::log, std::log10, std::pow, std::sin, std::sinh, std::sqrt, std::tan, std::tanh;
}  // namespace c10_complex_math
