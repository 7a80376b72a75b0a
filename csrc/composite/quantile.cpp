// Quantiles: the sorted elements next to a fractional rank, blended.
#include <cmath>

#include "composite/ops/sort.h"
#include "core/elements.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/scatter.h"
#include "taeda/ops/sort.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

enum class Blend : uint8_t { Linear, Lower, Higher, Midpoint, Nearest };

Blend blend_named(std::string_view name) {
  constexpr std::string_view kNames[] = {"linear", "lower", "higher", "midpoint", "nearest"};
  for (int i = 0; i < 5; ++i)
    if (name == kNames[i]) return static_cast<Blend>(i);
  TAEDA_FAIL(Runtime, "interpolation must be linear, lower, higher, midpoint or nearest; got ", name);
}

void check(const Tensor& self, const Tensor& q) {
  TAEDA_CHECK(self.numel() > 0, "an empty tensor has no quantiles");
  TAEDA_CHECK(self.dtype() == DType::Float32 || self.dtype() == DType::Float64, "is for float32 and float64; got ",
              self.dtype());
  TAEDA_CHECK(q.dim() <= 1, "q must be a number or a vector; got shape ", q.sizes());
  TAEDA_CHECK(q.dtype() == self.dtype(), "q must have the dtype of the tensor (", self.dtype(), "); got ", q.dtype());
  if (!q.is_cpu()) return;
  Tensor values = ops::_to_copy(ops::contiguous(q), DType::Float64);
  for (int64_t i = 0; i < values.numel(); ++i) {
    double value = elements<double>(values)[i];
    TAEDA_CHECK(value >= 0 && value <= 1, "q must be from 0 to 1; got ", value);
  }
}

// The elements at whole ranks along the last dimension.
Tensor at_rank(const Tensor& sorted, const Tensor& rank) {
  return ops::gather(sorted, -1, ops::_to_copy(rank, DType::Int64));
}

Tensor blended(const Tensor& sorted, const Tensor& rank, Blend blend) {
  if (blend == Blend::Lower) return at_rank(sorted, ops::floor(rank));
  if (blend == Blend::Higher) return at_rank(sorted, ops::ceil(rank));
  if (blend == Blend::Nearest) return at_rank(sorted, ops::round(rank));
  Tensor low = ops::floor(rank);
  Tensor below = at_rank(sorted, low), above = at_rank(sorted, ops::ceil(rank));
  Tensor weight = blend == Blend::Midpoint ? ops::full_like(rank, Scalar(0.5)) : ops::sub(rank, low);
  return ops::lerp(below, above, weight);
}

Tensor quantiles(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                 std::string_view interpolation, bool ignore_nan) {
  Blend blend = blend_named(interpolation);
  check(self, q);
  const int64_t flat[] = {-1};
  int64_t rank = self.dim(), d = dim ? wrap_dim(*dim, rank) : 0;
  Tensor rows = dim && rank ? ops::movedim(self, d, -1) : ops::reshape(self, flat);
  TAEDA_CHECK(rows.size(-1) > 0, "dimension ", d, " is empty");
  Tensor sorted = std::get<0>(ops::sort(rows, -1));
  Tensor is_nan = ops::isnan(sorted);
  double last = static_cast<double>(rows.size(-1) - 1);
  Tensor ranks;
  if (ignore_nan) {
    Tensor valid = ops::_to_copy(ops::sum(ops::logical_not(is_nan), flat, true), self.dtype());
    ranks = ops::mul(ops::clamp_min(ops::sub(valid, Scalar(1)), Scalar(0)), q);
  } else {
    Tensor any = ops::slice(is_nan, -1, rows.size(-1) - 1);  // NaN comes last
    ranks = ops::masked_fill(ops::mul(q, Scalar(last)), any, Scalar(last));
  }
  if (ranks.dim() < sorted.dim()) ranks = ops::unsqueeze(ranks, -1);
  Tensor result = blended(sorted, ranks, blend);
  if (q.dim() > 0)
    result = ops::movedim(result, -1, 0);
  else
    result = ops::squeeze(result, int64_t{-1});
  if (!keepdim) return result;
  int64_t first = q.dim();
  if (dim && rank) return ops::unsqueeze(result, d + first);
  std::vector<int64_t> sizes(static_cast<size_t>(rank), 1);
  if (first) sizes.insert(sizes.begin(), q.numel());
  return ops::reshape(result, sizes);
}

Tensor number_for(const Tensor& self, double q) {
  TAEDA_CHECK(q >= 0 && q <= 1, "q must be from 0 to 1; got ", q);
  return ops::full(IntList(), Scalar(q), self.dtype(), std::nullopt, self.device());
}

}  // namespace

Tensor quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  return quantiles(self, q, dim, keepdim, interpolation, false);
}

Tensor quantile(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  return quantiles(self, number_for(self, q), dim, keepdim, interpolation, false);
}

Tensor nanquantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  return quantiles(self, q, dim, keepdim, interpolation, true);
}

Tensor nanquantile(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  return quantiles(self, number_for(self, q), dim, keepdim, interpolation, true);
}

}  // namespace taeda::composite
