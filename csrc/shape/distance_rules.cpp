#include "shape/distance_rules.h"

#include <algorithm>

#include "shape/elementwise.h"

namespace taeda::shape {

namespace {

void check_rows(const Tensor& t) {
  if (t.dtype() != DType::Float32 && t.dtype() != DType::Float64)
    TAEDA_FAIL(NotImplemented, "is for float32 and float64; got ", t.dtype());
}

// The sizes (..., rows of x1, rows of x2).
Dims pairs(const Tensor& x1, const Tensor& x2) {
  TAEDA_CHECK(x1.dim() >= 2 && x2.dim() >= 2, "both tensors must hold matrices; got shapes ", x1.sizes(), " and ",
              x2.sizes());
  TAEDA_CHECK(x1.sizes().back() == x2.sizes().back(), "rows must be of one length; got shapes ", x1.sizes(), " and ",
              x2.sizes());
  TAEDA_CHECK(x1.dtype() == x2.dtype(), "both tensors must have the same dtype; got ", x1.dtype(), " and ", x2.dtype());
  check_rows(x1);
  Dims sizes = broadcast_sizes(x1.sizes().first(x1.dim() - 2), x2.sizes().first(x2.dim() - 2));
  sizes.push_back(x1.size(-2));
  sizes.push_back(x2.size(-2));
  return sizes;
}

void check_distance_dtypes(const Tensor& self, const Tensor& grad, const Tensor& distances) {
  TAEDA_CHECK(grad.dtype() == self.dtype() && distances.dtype() == self.dtype(),
              "the gradient and the distances must be ", self.dtype(), " as the rows; got ", grad.dtype(), " and ",
              distances.dtype());
}

void check_order(double p) { TAEDA_CHECK(p >= 0, "the norm's order must not be negative; got p=", p); }

}  // namespace

Spec cdist_forward(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  check_order(p);
  const int64_t mode = compute_mode.value_or(0);
  TAEDA_CHECK(mode >= 0 && mode <= 2, "compute_mode must be 0, 1 or 2; got ", mode);
  return {pairs(x1, x2), x1.dtype()};
}

Spec cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double, const Tensor& cdist) {
  Dims sizes = pairs(x1, x2);
  check_distance_dtypes(x1, grad, cdist);
  TAEDA_CHECK(std::ranges::equal(grad.sizes(), IntList(sizes)) && std::ranges::equal(cdist.sizes(), IntList(sizes)),
              "the gradient and the distances must be of shape ", sizes, "; got ", grad.sizes(), " and ",
              cdist.sizes());
  sizes[sizes.size() - 1] = x1.sizes().back();
  return {sizes, x1.dtype()};
}

Spec pdist_forward(const Tensor& self, double p) {
  check_order(p);
  TAEDA_CHECK(self.dim() == 2, "a matrix is wanted; got shape ", self.sizes());
  check_rows(self);
  const int64_t n = self.sizes()[0];
  return {{n * (n - 1) / 2}, self.dtype()};
}

Spec pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& pdist) {
  Spec pairs = pdist_forward(self, p);
  check_distance_dtypes(self, grad, pdist);
  TAEDA_CHECK(grad.numel() == pairs.sizes[0] && pdist.numel() == pairs.sizes[0],
              "the gradient and the distances must have ", pairs.sizes[0], " elements; got shapes ", grad.sizes(),
              " and ", pdist.sizes());
  return {Dims(self.sizes()), self.dtype()};
}

}  // namespace taeda::shape
