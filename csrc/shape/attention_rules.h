// Rules of attention.
#pragma once
#include <tuple>

#include "shape/spec.h"

namespace taeda::shape {

// Results lie as (N, L, H, E), so that heads can be joined without a copy.
std::tuple<Spec, Spec> attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias,
                                 bool is_causal, double scale);
std::tuple<Spec, Spec, Spec> attention_grads(const Tensor& grad, const Tensor& query, const Tensor& key,
                                             const Tensor& value, const Tensor& bias, const Tensor& output,
                                             const Tensor& logsumexp, bool is_causal, double scale);

}  // namespace taeda::shape
