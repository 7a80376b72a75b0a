// Complex numbers for kernels, laid out as std::complex; compiles for the CPU and under NVRTC. Products follow the
// school formula, without C99's second look at infinities, as vectorised complex arithmetic does.
#pragma once

#if defined(__CUDACC_RTC__)
#define TAEDA_MATH __host__ __device__ inline
#else
#include <cmath>
#define TAEDA_MATH inline
#endif

namespace taeda {

template <class R>
struct Complex {
  R re, im;
  Complex() = default;
  TAEDA_MATH constexpr Complex(R real, R imag = R(0)) : re(real), im(imag) {}

  friend TAEDA_MATH Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend TAEDA_MATH Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend TAEDA_MATH Complex operator-(Complex a) { return {-a.re, -a.im}; }
  friend TAEDA_MATH Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  // Smith's division: scales by the larger part of the divisor, so that nothing overflows before its time.
  friend TAEDA_MATH Complex operator/(Complex a, Complex b) {
    R real = b.re < 0 ? -b.re : b.re, imag = b.im < 0 ? -b.im : b.im;
    if (real >= imag) {
      if (real == 0) return {a.re / real, a.im / real};
      R ratio = b.im / b.re, scale = R(1) / (b.re + b.im * ratio);
      return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    R ratio = b.re / b.im, scale = R(1) / (b.re * ratio + b.im);
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
  }
  friend TAEDA_MATH bool operator==(Complex a, Complex b) { return a.re == b.re && a.im == b.im; }
  friend TAEDA_MATH bool operator!=(Complex a, Complex b) { return !(a == b); }
  // For formulas that compare sizes: of numbers whose imaginary part is zero.
  friend TAEDA_MATH bool operator<=(Complex a, Complex b) { return a.re <= b.re; }
};

}  // namespace taeda
