// Functions of complex numbers: calls of libm, compiled once, as they have no vector form.
#pragma once
#include "backend/common/complex.h"

namespace taeda::math {

// clang-format off
#define TAEDA_COMPLEX_FUNCTIONS(X) \
  X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sqrt) \
  X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) \
  X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh)
// clang-format on

#define X(name)                        \
  Complex<float> name(Complex<float>); \
  Complex<double> name(Complex<double>);
TAEDA_COMPLEX_FUNCTIONS(X)
#undef X
Complex<float> pow(Complex<float>, Complex<float>);
Complex<double> pow(Complex<double>, Complex<double>);

template <class R>
inline Complex<R> abs(Complex<R> x) {
  return {std::hypot(x.re, x.im)};
}

}  // namespace taeda::math
