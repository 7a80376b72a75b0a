// Composites of taedagen/ops/binary.py and compare.py that a traced body cannot say.
#include "composite/ops/binary.h"
#include "autograd/overwritten.h"
#include "composite/ops/compare.h"
#include "shape/elementwise.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/copy.h"

namespace taeda {

namespace {

DType double_of(DType dtype) { return is_complex(dtype) ? DType::Complex128 : DType::Float64; }
Tensor to_double(const Tensor& t) { return ops::to(t, double_of(t.dtype())); }

}  // namespace

Tensor composite::float_power(const Tensor& self, const Tensor& exponent) {
  return ops::pow(to_double(self), to_double(exponent));
}
Tensor composite::float_power(const Tensor& self, const Scalar& exponent) {
  return ops::pow(to_double(self), exponent);
}
Tensor composite::float_power(const Scalar& self, const Tensor& exponent) {
  return ops::pow(self, to_double(exponent));
}

namespace {
template <class Exponent>
void raise_in_place(const Tensor& self, const Exponent& exponent) {
  Tensor result = ops::float_power(autograd::before_writing(self), exponent);
  TAEDA_CHECK(result.dtype() == self.dtype(), "the result has dtype ", result.dtype(), ", but self ", self.dtype());
  shape::check_inplace_result(self, result.sizes(), result.dtype());
  ops::copy_(self, result);
}
}  // namespace

void composite::float_power_(const Tensor& self, const Tensor& exponent) { raise_in_place(self, exponent); }
void composite::float_power_(const Tensor& self, const Scalar& exponent) { raise_in_place(self, exponent); }

void composite::polygamma_(const Tensor& self, int64_t n) {
  Tensor result = ops::polygamma(n, autograd::before_writing(self));
  shape::check_inplace_result(self, result.sizes(), result.dtype());
  ops::copy_(self, result);
}

}  // namespace taeda
