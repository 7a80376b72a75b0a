// Functions of one tensor that need a branch, and derivatives of which each order is made of the ops below.
#include "shape/ops/unary.h"

#include <cfloat>

#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

double largest(DType dtype) {
  if (dtype == DType::Float16) return 65504;
  if (dtype == DType::BFloat16) return 0x1.fep127;
  return dtype == DType::Float32 ? FLT_MAX : DBL_MAX;
}

// 1 where z is zero, so that it may be divided by.
Tensor nonzero_of(const Tensor& z, const Tensor& is_zero) { return ops::masked_fill(z, is_zero, Scalar(1)); }

}  // namespace

Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  if (is_complex(self.dtype())) {
    Tensor parts = ops::view_as_real(ops::resolve_conj(self));
    return ops::view_as_complex(nan_to_num(parts, nan, posinf, neginf));
  }
  if (!is_floating(self.dtype())) return ops::clone(self);
  double end = largest(self.dtype());
  return ops::_nan_to_num(self, nan.value_or(0), posinf.value_or(end), neginf.value_or(-end));
}

// The angle of z moves by Re(i / conj(z) * conj(dz)).
Tensor angle_backward(const Tensor& grad, const Tensor& self) {
  if (!is_complex(self.dtype())) return ops::mul(grad, Scalar(0));
  Tensor is_zero = ops::eq(self, Scalar(0)), inward = ops::reciprocal(ops::conj(nonzero_of(self, is_zero)));
  return ops::masked_fill(ops::mul(ops::mul(grad, inward), Scalar(complex128(0, 1))), is_zero, Scalar(0));
}

Tensor sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  if (!is_complex(self.dtype())) return ops::mul(grad, Scalar(0));
  Tensor along = ops::mul(ops::real(ops::mul(ops::conj(grad), result)), result), is_zero = ops::eq(self, Scalar(0));
  return ops::masked_fill(ops::div(ops::sub(grad, along), ops::abs(nonzero_of(self, is_zero))), is_zero, Scalar(0));
}

}  // namespace taeda::composite
