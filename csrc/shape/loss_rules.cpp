#include "shape/loss_rules.h"

#include <algorithm>

namespace taeda::shape {

namespace {

void check_arguments(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                     int64_t class_dim) {
  check_floating(self);
  TAEDA_CHECK(target.dtype() == DType::Int64 || target.dtype() == DType::UInt8,
              "target must hold int64 class numbers; got ", target.dtype());
  TAEDA_CHECK(reduction >= 0 && reduction <= 2, "reduction must be 0 (none), 1 (mean) or 2 (sum); got ", reduction);
  int64_t classes = self.sizes()[class_dim];
  TAEDA_CHECK(!weight.defined() || weight.dtype() == self.dtype(), "weight must have the input's dtype ", self.dtype(),
              "; got ", weight.dtype());
  TAEDA_CHECK(!weight.defined() || (weight.dim() == 1 && weight.numel() == classes),
              "weight must have one number for each of the ", classes, " classes; got shape ", weight.sizes());
}

}  // namespace

LossAndWeight nll_loss(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t) {
  TAEDA_CHECK(self.dim() == 1 || self.dim() == 2, "input must be (N, C) or (C); got shape ", self.sizes());
  bool fits = self.dim() == 2 ? target.dim() == 1 && target.sizes()[0] == self.sizes()[0]
                              : target.numel() == 1 && target.dim() <= 1;
  TAEDA_CHECK(fits, "target must have the input's shape without the classes; got shapes ", self.sizes(), " and ",
              target.sizes());
  check_arguments(self, target, weight, reduction, self.dim() - 1);
  Dims sizes = reduction == 0 && self.dim() == 2 ? Dims{self.sizes()[0]} : Dims();
  return {Spec{sizes, self.dtype()}, Spec{{}, self.dtype()}};
}

LossAndWeight nll_loss2d(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t) {
  TAEDA_CHECK(self.dim() == 4 && target.dim() == 3, "input must be (N, C, H, W) and target (N, H, W); got shapes ",
              self.sizes(), " and ", target.sizes());
  bool fits = self.sizes()[0] == target.sizes()[0] && self.sizes()[2] == target.sizes()[1] &&
              self.sizes()[3] == target.sizes()[2];
  TAEDA_CHECK(fits, "target must have the input's shape without the classes; got shapes ", self.sizes(), " and ",
              target.sizes());
  check_arguments(self, target, weight, reduction, 1);
  return {Spec{reduction == 0 ? Dims(target.sizes()) : Dims(), self.dtype()}, Spec{{}, self.dtype()}};
}

namespace {

// The gradient of a loss, and one number that was saved with it.
void check_gradient(const Tensor& grad_output, const Spec& loss, const Tensor& number, DType dtype) {
  TAEDA_CHECK(grad_output.dtype() == loss.dtype && std::ranges::equal(grad_output.sizes(), IntList(loss.sizes)),
              "the gradient must be like the loss, ", loss.dtype, " of shape ", IntList(loss.sizes), "; got ",
              grad_output.dtype(), " of shape ", grad_output.sizes());
  TAEDA_CHECK(number.dtype() == dtype && number.numel() == 1, "the sum of weights must be one number of ", dtype,
              "; got ", number.dtype(), " of shape ", number.sizes());
}

}  // namespace

Spec nll_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const Tensor& weight,
                       int64_t reduction, int64_t ignore_index, const Tensor& total_weight) {
  auto [loss, total] = self.dim() == 4 ? nll_loss2d(self, target, weight, reduction, ignore_index)
                                       : nll_loss(self, target, weight, reduction, ignore_index);
  check_gradient(grad_output, loss, total_weight, total.dtype);
  return {Dims(self.sizes()), self.dtype()};
}

std::tuple<Spec, Spec, Spec> cross_entropy_rows(const Tensor& self, const Tensor& target, int64_t reduction,
                                                int64_t ignore_index) {
  auto [loss, weight] = nll_loss(self, target, {}, reduction, ignore_index);
  DType wide = compute_type(self.dtype());
  return {loss, Spec{{self.dim() == 2 ? self.sizes()[0] : 1}, wide}, Spec{{}, wide}};
}

Spec cross_entropy_rows_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                 const Tensor& logsumexp, const Tensor& count, int64_t reduction,
                                 int64_t ignore_index) {
  auto [loss, sums, total] = cross_entropy_rows(self, target, reduction, ignore_index);
  check_gradient(grad_output, loss, count, total.dtype);
  TAEDA_CHECK(logsumexp.dtype() == sums.dtype && std::ranges::equal(logsumexp.sizes(), IntList(sums.sizes)) &&
                  logsumexp.is_contiguous(),
              "logsumexp must be ", sums.dtype, " of shape ", IntList(sums.sizes), "; got ", logsumexp.dtype(),
              " of shape ", logsumexp.sizes());
  return {Dims(self.sizes()), self.dtype()};
}

}  // namespace taeda::shape
