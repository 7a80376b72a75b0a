// Rules of losses.
#pragma once
#include <tuple>

#include "shape/spec.h"

namespace taeda::shape {

using LossAndWeight = std::tuple<Spec, Spec>;

// Classes are dimension 1 of (N, C) or (N, C, H, W), or the only one.
LossAndWeight nll_loss(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                       int64_t ignore_index);
LossAndWeight nll_loss2d(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                         int64_t ignore_index);
Spec nll_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const Tensor& weight,
                       int64_t reduction, int64_t ignore_index, const Tensor& total_weight);
std::tuple<Spec, Spec, Spec> cross_entropy_rows(const Tensor& self, const Tensor& target, int64_t reduction,
                                                int64_t ignore_index);
Spec cross_entropy_rows_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                 const Tensor& logsumexp, const Tensor& count, int64_t reduction, int64_t ignore_index);

}  // namespace taeda::shape
