// Rules of Fourier transforms.
#pragma once
#include "shape/spec.h"

namespace taeda::shape {

// Results lie as they are computed: dimensions that are not transformed outside, by falling strides of `self`, then
// the transformed ones, the last of `dim` innermost.
Spec fft_c2c(const Tensor& self, IntList dim, int64_t normalization, bool forward);
Spec fft_r2c(const Tensor& self, IntList dim, int64_t normalization, bool onesided);
Spec fft_c2r(const Tensor& self, IntList dim, int64_t normalization, int64_t last_dim_size);

}  // namespace taeda::shape
