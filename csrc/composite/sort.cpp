// Sorting over the stable kernel, medians of all elements, gradients of selections.
#include "composite/ops/sort.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/scatter.h"
#include "taeda/ops/sort.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim, bool descending) {
  return ops::sort(self, false, dim, descending);
}

Tensor value_selecting_reduction_backward(const Tensor& grad, int64_t dim, const Tensor& indices, IntList sizes,
                                          bool keepdim) {
  Tensor zeros = ops::new_zeros(grad, sizes);
  if (keepdim || sizes.empty()) return ops::scatter_add(zeros, dim, indices, grad);
  dim = wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  return ops::scatter_add(zeros, dim, ops::unsqueeze(indices, dim), ops::unsqueeze(grad, dim));
}

namespace {

Tensor nan_like(const Tensor& self) {
  TAEDA_CHECK(is_floating(self.dtype()) || self.numel() > 0, "an empty tensor of ", self.dtype(), " has no median");
  return ops::full(IntList(), Scalar(NAN), self.dtype(), std::nullopt, self.device());
}

}  // namespace

Tensor median(const Tensor& self) {
  if (self.numel() == 0) return nan_like(self);
  return std::get<0>(ops::median(ops::reshape(self, kValues<int64_t, -1>), 0));
}

Tensor nanmedian(const Tensor& self) {
  if (self.numel() == 0) return nan_like(self);
  return std::get<0>(ops::nanmedian(ops::reshape(self, kValues<int64_t, -1>), 0));
}

Tensor share_evenly(const Tensor& grad, const Tensor& self, const Tensor& result) {
  Tensor same = ops::logical_or(ops::eq(self, result), ops::logical_and(ops::isnan(self), ops::isnan(result)));
  Tensor share = ops::_to_copy(same, grad.dtype());
  return ops::mul(share, ops::div(grad, ops::sum(share)));
}

}  // namespace taeda::composite
