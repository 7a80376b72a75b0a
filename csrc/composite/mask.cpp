// Masked writing into copies, and the gradients of masked reading and writing.
#include "shape/ops/mask.h"
#include "composite/fresh.h"
#include "shape/elementwise.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/join.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"
#include "taeda/ops/view_gradients.h"

namespace taeda::composite {

namespace {

// A copy to write into, in the shape that both broadcast to.
Tensor broadcast_copy(const Tensor& self, const Tensor& mask, const Tensor& values = Tensor()) {
  shape::Dims sizes = shape::broadcast_sizes(self.sizes(), mask.sizes());
  return copy_for(ops::expand(self, sizes), {&mask, &values});
}

}  // namespace

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) {
  Tensor result = broadcast_copy(self, mask);
  ops::masked_fill_(result, mask, value);
  return unwritten(result);
}

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  Tensor result = broadcast_copy(self, mask, value);
  ops::masked_fill_(result, mask, value);
  return unwritten(result);
}

Tensor masked_sum(const Tensor& grad, const Tensor& mask) {
  return ops::sum(ops::masked_fill(grad, ops::logical_not(mask), Scalar(0)));
}

Tensor masked_select_gradient(const Tensor& grad, IntList sizes, const Tensor& mask) {
  shape::Dims whole = shape::broadcast_sizes(sizes, mask.sizes());
  Tensor zeros = ops::new_zeros(grad, whole);
  return ops::sum_to_size(ops::masked_scatter(zeros, mask, grad), sizes);
}

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  Tensor result = broadcast_copy(self, mask, source);
  ops::masked_scatter_(result, mask, source);
  return unwritten(result);
}

Tensor masked_scatter_backward(const Tensor& grad_output, const Tensor& mask, IntList sizes) {
  Tensor used = ops::masked_select(grad_output, mask);
  int64_t rest = numel_of(sizes) - used.numel();
  if (rest > 0) {
    const int64_t missing[] = {rest};
    Tensor zeros = ops::zeros(missing, used.dtype(), std::nullopt, used.device());
    used = ops::cat(std::array<Tensor, 2>{used, zeros}, 0);
  }
  return ops::reshape(used, sizes);
}

std::vector<Tensor> nonzero_numpy(const Tensor& self) {
  if (self.dim() == 0) return ops::unbind(ops::nonzero(ops::unsqueeze(self, 0)), 1);
  return ops::unbind(ops::nonzero(self), 1);
}

std::vector<Tensor> where(const Tensor& condition) { return nonzero_numpy(condition); }

}  // namespace taeda::composite
