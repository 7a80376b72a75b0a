// Losses over other ops: class numbers of any rank become rows, elementwise formulas are reduced.
#include "composite/loss.h"
#include "composite/records.h"
#include "core/elements.h"
#include "shape/ops/loss.h"
#include "shape/spec.h"
#include "taeda/ops/activation.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/index.h"
#include "taeda/ops/loss.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/scatter.h"
#include "taeda/ops/softmax.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

using shape::Dims;

Tensor reduced(const Tensor& values, int64_t reduction) {
  return reduction == kMean ? ops::mean(values) : reduction == kSum ? ops::sum(values) : values;
}

// --- class numbers

Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                   int64_t ignore_index) {
  TAEDA_CHECK_VALUE(self.dim() >= 1, "input must be (C) or (N, C, ...); got a scalar");
  TAEDA_CHECK_VALUE(self.dim() == 1 || target.dim() == 0 || self.size(0) == target.size(0),
                    "input and target must have as many samples; got shapes ", self.sizes(), " and ", target.sizes());
  TAEDA_CHECK(self.dim() == 1 || target.dim() == self.dim() - 1,
              "target must have the input's shape without the classes; got shapes ", self.sizes(), " and ",
              target.sizes());
  if (self.dim() <= 2) return ops::nll_loss(self, target, weight, reduction, ignore_index);
  if (self.dim() == 4) return ops::nll_loss2d(self, target, weight, reduction, ignore_index);
  int64_t area = 1;
  for (int64_t d = 2; d < self.dim(); ++d) {
    TAEDA_CHECK(self.size(d) == target.size(d - 1),
                "target must have the input's shape without the classes; got shapes ", self.sizes(), " and ",
                target.sizes());
    area *= self.size(d);
  }
  Tensor flat = ops::reshape(self, Dims{self.size(0), self.size(1), 1, area});
  Tensor loss =
      ops::nll_loss2d(flat, ops::reshape(target, Dims{target.size(0), 1, area}), weight, reduction, ignore_index);
  return reduction == kNone ? ops::reshape(loss, target.sizes()) : loss;
}

namespace {

Tensor with_probabilities(const Tensor& self, Tensor target, const Tensor& weight, int64_t reduction,
                          double smoothing) {
  const int64_t dim = self.dim() == 1 ? 0 : 1, classes = self.size(dim);
  TAEDA_CHECK(is_floating(target.dtype()), "class probabilities must be floating; got ", target.dtype());
  if (smoothing > 0)
    target = ops::add(ops::mul(target, Scalar(1 - smoothing)), Scalar(smoothing / static_cast<double>(classes)));
  Tensor terms = ops::mul(ops::log_softmax(self, dim), target);
  if (weight.defined()) {
    Dims sizes{classes};
    for (int64_t d = dim + 1; d < self.dim(); ++d) sizes.push_back(1);
    terms = ops::mul(terms, ops::reshape(weight, sizes));
  }
  Tensor loss = ops::neg(ops::sum(terms, Dims{dim}));
  if (reduction != kMean) return reduced(loss, reduction);
  return ops::div(ops::sum(loss),
                  Scalar(static_cast<double>(std::max<int64_t>(self.numel() / std::max<int64_t>(classes, 1), 1))));
}

// (1 - smoothing) of the loss of the class itself, and the rest spread over all classes.
Tensor smoothed(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t ignore_index,
                double smoothing) {
  const int64_t dim = self.dim() == 1 ? 0 : 1, classes = self.size(dim);
  Tensor logs = ops::log_softmax(self, dim), spread = logs;
  Tensor own = ops::nll_loss_nd(logs, target, weight, reduction, ignore_index);
  if (weight.defined()) {
    Dims sizes{classes};
    for (int64_t d = dim + 1; d < self.dim(); ++d) sizes.push_back(1);
    spread = ops::mul(logs, ops::reshape(weight, sizes));
  }
  Tensor ignored = ops::eq(target, Scalar(ignore_index));
  Tensor all = ops::masked_fill(ops::neg(ops::sum(spread, Dims{dim})), ignored, Scalar(0));
  if (reduction == kMean && weight.defined()) {
    Tensor numbers = ops::masked_fill(target, ignored, Scalar(0));
    Tensor weights = ops::reshape(ops::index_select(weight, 0, ops::flatten(numbers)), target.sizes());
    all = ops::div(ops::sum(all), ops::sum(ops::masked_fill(weights, ignored, Scalar(0))));
  } else if (reduction == kMean) {
    all = ops::div(ops::sum(all), ops::sum(ops::to(ops::logical_not(ignored), all.dtype())));
  } else {
    all = reduced(all, reduction);
  }
  return ops::add(ops::mul(own, Scalar(1 - smoothing)),
                  ops::mul(all, Scalar(smoothing / static_cast<double>(classes))));
}

}  // namespace

Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                          int64_t ignore_index, double label_smoothing) {
  TAEDA_CHECK(self.dim() >= 1, "input must be (C) or (N, C, ...); got a scalar");
  TAEDA_CHECK(label_smoothing >= 0 && label_smoothing <= 1, "label_smoothing must be from 0 to 1; got ",
              label_smoothing);
  if (std::ranges::equal(self.sizes(), target.sizes()) && is_floating(target.dtype())) {
    TAEDA_CHECK(ignore_index < 0, "ignore_index goes with class numbers, not probabilities");
    return with_probabilities(self, target, weight, reduction, label_smoothing);
  }
  if (label_smoothing > 0) return smoothed(self, target, weight, reduction, ignore_index, label_smoothing);
  bool rows = self.dim() == 2 && target.dim() == 1 && !weight.defined() && target.dtype() == DType::Int64;
  if (rows && self.size(0) == target.size(0))
    return std::get<0>(ops::cross_entropy_rows(self, target, reduction, ignore_index));
  return ops::nll_loss_nd(ops::log_softmax(self, self.dim() == 1 ? 0 : 1), target, weight, reduction, ignore_index);
}

Tensor cross_entropy_gradient(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                              const Tensor& logsumexp, const Tensor& count, int64_t reduction, int64_t ignore_index) {
  if (!may_record(grad_output, self))
    return ops::cross_entropy_rows_backward(grad_output, self, target, logsumexp, count, reduction, ignore_index);
  Tensor ignored = ops::eq(target, Scalar(ignore_index)),
         numbers = ops::unsqueeze(ops::masked_fill(target, ignored, Scalar(0)), 1);
  Tensor probabilities = ops::softmax(self, 1);
  Tensor one_hot = ops::scatter(ops::zeros_like(probabilities), 1, numbers, Scalar(1.0));
  Tensor upper = reduction == kMean ? ops::div(grad_output, ops::to(count, self.dtype())) : grad_output;
  Tensor rows = ops::masked_fill(ops::expand(upper, target.sizes()), ignored, Scalar(0));
  return ops::mul(ops::sub(probabilities, one_hot), ops::unsqueeze(rows, 1));
}

// --- one number against another

Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return reduced(ops::mse_elements(self, target), reduction);
}
Tensor l1_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return reduced(ops::abs(ops::sub(self, target)), reduction);
}
Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  TAEDA_CHECK(beta >= 0, "beta must not be negative; got ", beta);
  return beta == 0 ? ops::l1_loss(self, target, reduction)
                   : reduced(ops::smooth_l1_elements(self, target, Scalar(beta)), reduction);
}
Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  TAEDA_CHECK(delta > 0, "delta must be positive; got ", delta);
  return reduced(ops::huber_elements(self, target, Scalar(delta)), reduction);
}

Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction) {
  TAEDA_CHECK(std::ranges::equal(self.sizes(), target.sizes()), "target must have the input's shape ", self.sizes(),
              "; got ", target.sizes());
  bool is_known = self.device().type != DeviceType::Meta && !self.keys().has(Functionality::Memoryless);
  if (is_known && self.numel() > 0) {
    Scoped grad_off(t_state.grad_mode, false);
    auto [low, high] = ops::aminmax(self);
    auto number = [](const Tensor& t) { return *elements<double>(ops::to(t, Device(), DType::Float64)); };
    double least = number(low), most = number(high);
    TAEDA_CHECK(!(least < 0) && !(most > 1), "probabilities must be from 0 to 1; got values from ", least, " to ",
                most);
  }
  Tensor loss = ops::bce_elements(self, target);
  return reduced(weight.defined() ? ops::mul(loss, weight) : loss, reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target, const Tensor& weight,
                                        const Tensor& pos_weight, int64_t reduction) {
  Tensor loss;
  if (pos_weight.defined()) {  // (1 - t) x + (1 + (p - 1) t) softplus(-x)
    Tensor factor = ops::add(ops::mul(ops::sub(pos_weight, Scalar(1)), target), Scalar(1));
    loss = ops::sub(ops::mul(ops::rsub(target, Scalar(1)), self), ops::mul(factor, ops::log_sigmoid(self)));
  } else {
    loss = ops::bce_logits_elements(self, target);
  }
  return reduced(weight.defined() ? ops::mul(loss, weight) : loss, reduction);
}

Tensor kl_div(const Tensor& self, const Tensor& target, int64_t reduction, bool log_target) {
  if (log_target) return reduced(ops::mul(ops::exp(target), ops::sub(target, self)), reduction);
  return reduced(ops::sub(ops::xlogy(target, target), ops::mul(target, self)), reduction);
}

Tensor soft_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  if (!is_complex(promote(self.dtype(), target.dtype())))
    return reduced(ops::soft_margin_elements(self, target), reduction);
  return reduced(ops::log(ops::add(ops::exp(ops::mul(ops::neg(self), target)), Scalar(1))), reduction);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps,
                        int64_t reduction) {
  Tensor loss = log_input ? ops::sub(ops::exp(input), ops::mul(target, input))
                          : ops::sub(input, ops::mul(target, ops::log(ops::add(input, Scalar(eps)))));
  if (full) {  // Stirling's approximation of log(target!)
    Tensor half_log = ops::mul(ops::log(ops::mul(target, Scalar(6.283185307179586))), Scalar(0.5));
    Tensor stirling = ops::add(ops::sub(ops::mul(target, ops::log(target)), target), half_log);
    loss = ops::add(loss, ops::masked_fill(stirling, ops::le(target, Scalar(1)), Scalar(0)));
  }
  return reduced(loss, reduction);
}

}  // namespace taeda::composite
