#include "backend/cpu/engine/complex_math.h"

#include <bit>
#include <complex>

namespace taeda::math {

namespace pick {

using std::exp, std::log, std::log10, std::sqrt, std::sin, std::cos, std::tan, std::asin, std::acos, std::atan,
    std::sinh, std::cosh, std::tanh, std::asinh, std::acosh, std::atanh;
template <class R>
std::complex<R> exp2(std::complex<R> z) {
  return std::exp(z * R(0.693147180559945309417));
}
template <class R>
std::complex<R> log2(std::complex<R> z) {
  return std::log(z) * R(1.442695040888963407360);
}
// e^z - 1 = expm1(a) cos b - 2 sin^2(b / 2) + i e^a sin b, exact near zero.
template <class R>
std::complex<R> expm1(std::complex<R> z) {
  R half = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half, std::exp(z.real()) * std::sin(z.imag())};
}
// |1 + z|^2 - 1 = a (2 + a) + b^2, exact near zero; far from it a square could overflow, and the 1 is as good as lost.
template <class R>
std::complex<R> log1p(std::complex<R> z) {
  R a = z.real(), b = z.imag();
  bool is_far = std::abs(a) > 1e6 || std::abs(b) > 1e6;
  return {is_far ? std::log(std::hypot(1 + a, b)) : std::log1p(a * (2 + a) + b * b) / 2, std::atan2(b, 1 + a)};
}

}  // namespace pick

#define X(name)                                                                                \
  Complex<float> name(Complex<float> x) {                                                      \
    return std::bit_cast<Complex<float>>(pick::name(std::bit_cast<std::complex<float>>(x)));   \
  }                                                                                            \
  Complex<double> name(Complex<double> x) {                                                    \
    return std::bit_cast<Complex<double>>(pick::name(std::bit_cast<std::complex<double>>(x))); \
  }
TAEDA_COMPLEX_FUNCTIONS(X)
#undef X

// 0 to the power of 0 is 1, as for real numbers; the standard library's logarithm would make it NaN.
Complex<float> pow(Complex<float> a, Complex<float> b) {
  auto power = std::bit_cast<std::complex<float>>(b);
  return std::bit_cast<Complex<float>>(power == 0.0f ? std::complex<float>(1)
                                                     : std::pow(std::bit_cast<std::complex<float>>(a), power));
}
Complex<double> pow(Complex<double> a, Complex<double> b) {
  auto power = std::bit_cast<std::complex<double>>(b);
  return std::bit_cast<Complex<double>>(power == 0.0 ? std::complex<double>(1)
                                                     : std::pow(std::bit_cast<std::complex<double>>(a), power));
}

}  // namespace taeda::math
