// Scattering into copies, and the gradients of scattering.
#include "composite/ops/scatter.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/scatter.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

struct ScatterGradients {
  Tensor self, src;
};

// `src` as far as `index` reaches.
Tensor window_of(const Tensor& src, const Tensor& index) {
  Tensor part = src;
  for (int64_t d = 0; d < src.dim(); ++d)
    if (part.sizes()[d] != index.sizes()[d]) part = ops::slice(part, d, 0, index.sizes()[d]);
  return part;
}

ScatterGradients of_mean(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& part,
                         bool include_self) {
  Tensor ones = ops::ones_like(part);
  Tensor count = include_self ? ops::ones_like(self) : ops::zeros_like(self);
  count = ops::clamp_min(ops::scatter_add(count, dim, index, ones), Scalar(1));
  Tensor share = ops::div(grad, count);
  return {share, ops::gather(share, dim, index)};
}

// The factors that one result is the product of, as every one of them sees them.
struct ZerosApart {
  Tensor rest;    // the product of those that are not zero
  Tensor zeros;   // how many are
  Tensor nought;  // their sum: 0, with the gradient that the product has through them
  ZerosApart at(int64_t dim, const Tensor& index) const {
    return {ops::gather(rest, dim, index), ops::gather(zeros, dim, index), ops::gather(nought, dim, index)};
  }
};

// The product of the others, by division where they are not zero; what is 0 here still has a derivative.
Tensor product_of_others(const Tensor& factor, const Tensor& is_zero, const ZerosApart& all) {
  Tensor quotient = ops::div(all.rest, ops::masked_fill(factor, is_zero, Scalar(1)));
  Tensor of_one = ops::where(is_zero, all.rest, ops::mul(all.nought, quotient));
  Tensor of_two = ops::mul(ops::sub(all.nought, factor), all.rest);
  Tensor both = ops::logical_and(is_zero, ops::eq(all.zeros, Scalar(2)));
  Tensor with_zeros = ops::where(ops::eq(all.zeros, Scalar(1)), of_one, ops::where(both, of_two, Scalar(0)));
  return ops::where(ops::eq(all.zeros, Scalar(0)), quotient, with_zeros);
}

ScatterGradients of_product(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index,
                            const Tensor& part, bool include_self) {
  Tensor zero = ops::eq(part, Scalar(0)), self_zero = ops::eq(self, Scalar(0));
  Tensor start = include_self ? self_zero : ops::zeros_like(self_zero);
  auto sum = [&](const Tensor& a, const Tensor& b) { return ops::scatter_add(a, dim, index, b); };
  ZerosApart all;
  all.zeros = sum(ops::_to_copy(start, self.dtype()), ops::_to_copy(zero, self.dtype()));
  all.nought = sum(ops::where(start, self, Scalar(0)), ops::where(zero, part, Scalar(0)));
  all.rest = ops::scatter_reduce(ops::masked_fill(self, self_zero, Scalar(1)), dim, index,
                                 ops::masked_fill(part, zero, Scalar(1)), "prod", include_self);
  Tensor of_self = include_self ? ops::mul(grad, product_of_others(self, self_zero, all)) : grad;
  return {of_self, ops::mul(ops::gather(grad, dim, index), product_of_others(part, zero, all.at(dim, index)))};
}

ScatterGradients of_extreme(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index,
                            const Tensor& part, const Tensor& result) {
  Tensor self_is = ops::_to_copy(ops::eq(self, result), grad.dtype());
  Tensor src_is = ops::_to_copy(ops::eq(part, ops::gather(result, dim, index)), grad.dtype());
  Tensor count = ops::scatter_add(self_is, dim, index, src_is);
  Tensor share = ops::div(grad, ops::clamp_min(count, Scalar(1)));
  return {ops::mul(share, self_is), ops::mul(ops::gather(share, dim, index), src_is)};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> scatter_reduce_backward(const Tensor& grad, const Tensor& self, int64_t dim,
                                                           const Tensor& index, const Tensor& src,
                                                           std::string_view reduce, bool include_self,
                                                           const Tensor& result) {
  Tensor part = window_of(src, index);
  ScatterGradients g;
  if (index.numel() == 0)
    g = {grad, ops::zeros_like(part)};
  else if (reduce == "sum" || reduce == "add")
    g = {grad, ops::gather(grad, dim, index)};
  else if (reduce == "mean")
    g = of_mean(grad, self, dim, index, part, include_self);
  else if (reduce == "prod" || reduce == "multiply")
    g = of_product(grad, self, dim, index, part, include_self);
  else
    g = of_extreme(grad, self, dim, index, part, result);
  if (!include_self && index.numel()) g.self = ops::scatter(g.self, dim, index, Scalar(0));
  if (part.is(src) || std::ranges::equal(part.sizes(), src.sizes())) return {g.self, g.src, Tensor()};
  Tensor whole = ops::new_zeros(g.src, src.sizes());
  Tensor place = window_of(whole, index);
  ops::copy_(place, g.src);
  return {g.self, whole, Tensor()};
}

}  // namespace taeda::composite
