// Composites of taedagen/ops/binary.py and compare.py that a traced body cannot say.
#include "shape/ops/binary.h"
#include "autograd/overwritten.h"
#include "shape/elementwise.h"
#include "shape/ops/compare.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/unary.h"

namespace taeda {

namespace {

template <class Other>
Tensor divide(const Tensor& self, const Other& other, std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode) return ops::div(self, other);
  if (*rounding_mode == "trunc") return ops::_div_trunc(self, other);
  TAEDA_CHECK(*rounding_mode == "floor", "rounding_mode must be None, 'trunc' or 'floor'; got '", *rounding_mode, "'");
  return ops::floor_divide(self, other);
}

// The digits of the two half dtypes; 0 for others.
int64_t half_digits(DType dtype) { return dtype == DType::Float16 ? 11 : dtype == DType::BFloat16 ? 8 : 0; }

DType double_of(DType dtype) { return is_complex(dtype) ? DType::Complex128 : DType::Float64; }
Tensor to_double(const Tensor& t) { return ops::to(t, double_of(t.dtype())); }

// The mask of elements that a clamp took from `which`: self (0), min (1) or max (2). The upper limit is applied last.
Tensor clamp_mask(const Tensor& self, const Tensor& min, const Tensor& max, int64_t which) {
  Tensor above = max.defined() ? ops::gt(min.defined() ? ops::maximum(self, min) : self, max) : Tensor();
  Tensor below = min.defined() ? ops::lt(self, min) : Tensor();
  if (which == 2) return above;
  if (which == 1) return above.defined() ? ops::logical_and(below, ops::logical_not(above)) : below;
  Tensor taken = above.defined() && below.defined() ? ops::logical_or(above, below) : above.defined() ? above : below;
  return ops::logical_not(taken);
}

}  // namespace

Tensor composite::div(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  return divide(self, other, rounding_mode);
}
Tensor composite::div(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
  return divide(self, other, rounding_mode);
}

Tensor composite::float_power(const Tensor& self, const Tensor& exponent) {
  return ops::pow(to_double(self), to_double(exponent));
}
Tensor composite::float_power(const Tensor& self, const Scalar& exponent) {
  return ops::pow(to_double(self), exponent);
}
Tensor composite::float_power(const Scalar& self, const Tensor& exponent) {
  return ops::pow(self, to_double(exponent));
}

// Two factors in double precision, as one power may be out of range where the product is not.
Tensor composite::ldexp(const Tensor& self, const Tensor& other) {
  if (!is_floating(self.dtype()) || !is_integral(other.dtype())) return ops::mul(self, ops::exp2(other));
  Tensor exponent = ops::to(other, DType::Float64);
  Tensor first = ops::clamp(exponent, Scalar(-1022), Scalar(1023));
  Tensor rest = ops::clamp(ops::sub(exponent, first), Scalar(-1074), Scalar(1023));
  Tensor product = ops::mul(ops::mul(ops::to(self, DType::Float64), ops::exp2(first)), ops::exp2(rest));
  return ops::to(product, self.dtype());
}

Tensor composite::nextafter(const Tensor& self, const Tensor& other) {
  const shape::Operand both[] = {self, other};
  int64_t digits = half_digits(shape::result_type(both));
  return digits ? ops::_nextafter_half(self, other, digits) : ops::_nextafter(self, other);
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

Tensor composite::isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  TAEDA_CHECK(self.dtype() == other.dtype(), "self has dtype ", self.dtype(), " and other ", other.dtype());
  TAEDA_CHECK(rtol >= 0 && atol >= 0, "rtol and atol must not be negative; got ", rtol, " and ", atol);
  if (is_differentiable(self.dtype())) return ops::_isclose(self, other, rtol, atol, equal_nan);
  if (rtol == 0 && atol == 0) return ops::eq(self, other);
  return ops::_isclose(to_double(self), to_double(other), rtol, atol, equal_nan);
}

Tensor composite::clamp_gradient(const Tensor& grad, const Tensor& self, const Tensor& min, const Tensor& max,
                                 int64_t which) {
  TAEDA_CHECK(min.defined() || max.defined(), "min or max must be given");
  if ((which == 1 && !min.defined()) || (which == 2 && !max.defined())) return Tensor();
  return ops::where(clamp_mask(self, min, max, which), grad, Scalar(0));
}

}  // namespace taeda
