// Complex numbers of two half-precision parts. They are stored; arithmetic is done in complex64.
#pragma once
#include <complex>

#include "taeda/core/half.h"

namespace taeda {

struct ComplexHalf {
  Half real, imag;
  ComplexHalf() = default;
  explicit ComplexHalf(std::complex<float> value) : real(value.real()), imag(value.imag()) {}
  explicit operator std::complex<float>() const { return {static_cast<float>(real), static_cast<float>(imag)}; }
};

}  // namespace taeda
