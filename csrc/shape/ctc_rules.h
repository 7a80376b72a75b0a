// Rules of connectionist temporal classification.
#pragma once
#include <tuple>

#include "shape/spec.h"

namespace taeda::shape {

std::tuple<Spec, Spec> ctc_loss(const Tensor& log_probs, const Tensor& targets, IntList input_lengths,
                                IntList target_lengths, int64_t blank, bool zero_infinity);
Spec ctc_loss_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets, IntList input_lengths,
                       IntList target_lengths, const Tensor& neg_log_likelihood, const Tensor& log_alpha, int64_t blank,
                       bool zero_infinity);

}  // namespace taeda::shape
