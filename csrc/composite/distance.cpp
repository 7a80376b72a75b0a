// Distances between rows: which way they are computed.
#include "composite/ops/distance.h"

#include <cmath>

#include "composite/records.h"
#include "shape/spec.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/create.h"
#include "taeda/ops/distance.h"
#include "taeda/ops/index.h"
#include "taeda/ops/join.h"
#include "taeda/ops/linalg.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

using shape::Dims;

namespace {

// The slopes of distances (..., 1) over the differences (..., n) that they are the norms of.
Tensor slopes(const Tensor& difference, const Tensor& distance, double p) {
  if (p == 0) return ops::zeros_like(difference);
  Tensor sign = ops::sgn(difference);
  if (p == 1) return sign;
  if (std::isinf(p)) return ops::mul(sign, ops::eq(ops::abs(difference), distance));
  Tensor flat = ops::logical_or(ops::eq(difference, Scalar(0)), ops::eq(distance, Scalar(0)));
  // Where there is no slope, nothing infinite may come out of a second derivative either.
  Tensor share = ops::masked_fill(
      ops::div(difference, ops::masked_fill(distance, ops::eq(distance, Scalar(0)), Scalar(1))), flat, Scalar(1));
  return ops::masked_fill(p == 2 ? share : ops::mul(sign, ops::pow(ops::abs(share), Scalar(p - 1))), flat, Scalar(0));
}

}  // namespace

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  constexpr int64_t kManyRows = 25, kProductIfMany = 0, kProduct = 1;
  TAEDA_CHECK(is_floating(x1.dtype()) && is_floating(x2.dtype()), "is for floating-point tensors; got ", x1.dtype(),
              " and ", x2.dtype());
  TAEDA_CHECK(x1.dim() >= 2 && x2.dim() >= 2, "both tensors must hold matrices; got shapes ", x1.sizes(), " and ",
              x2.sizes());
  TAEDA_CHECK(x1.size(-1) == x2.size(-1), "rows must be of one length; got shapes ", x1.sizes(), " and ", x2.sizes());
  const int64_t mode = compute_mode.value_or(kProductIfMany);
  const bool many = x1.size(-2) > kManyRows || x2.size(-2) > kManyRows;
  if (p == 2 && x1.size(-1) > 0 && (mode == kProduct || (mode == kProductIfMany && many)))
    return ops::_euclidean_dist(x1, x2);
  return ops::_cdist_forward(x1, x2, p, compute_mode);
}

Tensor _euclidean_dist(const Tensor& x1, const Tensor& x2) {
  TAEDA_CHECK(is_differentiable(x1.dtype()) && is_differentiable(x2.dtype()), "is for floating-point tensors; got ",
              x1.dtype(), " and ", x2.dtype());
  // (-2 x, |x|^2, 1) times (y, 1, |y|^2)
  auto squares = [](const Tensor& x) { return ops::sum(ops::mul(x, x), Dims{-1}, true); };
  Tensor a = squares(x1), b = squares(x2);
  Tensor left = ops::cat(std::array<Tensor, 3>{ops::mul(x1, Scalar(-2)), a, ops::ones_like(a)}, -1),
         right = ops::cat(std::array<Tensor, 3>{x2, ops::ones_like(b), b}, -1);
  return ops::sqrt(ops::clamp_min(ops::matmul(left, ops::transpose(right, -2, -1)), Scalar(0)));
}

Tensor _cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& cdist) {
  if (!may_record(grad, x1, x2, cdist)) return ops::cdist_gradient(grad, x1, x2, p, cdist);
  Tensor each = slopes(ops::sub(ops::unsqueeze(x1, -2), ops::unsqueeze(x2, -3)), ops::unsqueeze(cdist, -1), p);
  return ops::sum(ops::mul(each, ops::unsqueeze(grad, -1)), Dims{-2});
}

Tensor _pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& pdist) {
  if (!may_record(grad, self, pdist)) return ops::pdist_gradient(grad, self, p, pdist);
  const int64_t n = self.size(0);
  Tensor pairs = ops::triu_indices(n, n, 1, DType::Int64, {}, self.device()), i = ops::select(pairs, 0, 0),
         j = ops::select(pairs, 0, 1);
  Tensor difference = ops::sub(ops::index_select(self, 0, i), ops::index_select(self, 0, j));
  Tensor each = ops::mul(slopes(difference, ops::unsqueeze(pdist, -1), p), ops::unsqueeze(grad, -1));
  return ops::index_add(ops::index_add(ops::zeros_like(self), 0, i, each), 0, j, each, Scalar(-1));
}

Tensor pdist(const Tensor& self, double p) {
  TAEDA_CHECK(is_floating(self.dtype()), "is for floating-point tensors; got ", self.dtype());
  return ops::_pdist_forward(self, p);
}

}  // namespace taeda::composite
