// Composites of taedagen/ops/binary.py and compare.py that a traced body cannot say.
#include "shape/ops/binary.h"
#include "api/ops.h"
#include "shape/ops/compare.h"

namespace taeda {

namespace {

template <class Other>
Tensor divide(const Tensor& self, const Other& other, std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode) return ops::div(self, other);
  if (*rounding_mode == "trunc") return ops::_div_trunc(self, other);
  TAEDA_CHECK(*rounding_mode == "floor", "rounding_mode must be None, 'trunc' or 'floor'; got '", *rounding_mode, "'");
  return ops::floor_divide(self, other);
}

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

Tensor composite::clamp_gradient(const Tensor& grad, const Tensor& self, const Tensor& min, const Tensor& max,
                                 int64_t which) {
  if ((which == 1 && !min.defined()) || (which == 2 && !max.defined())) return Tensor();
  return ops::where(clamp_mask(self, min, max, which), grad, Scalar(0));
}

}  // namespace taeda
