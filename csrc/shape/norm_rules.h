// Rules of normalisation: the result and the statistics that its gradient needs, which half types keep in float.
#pragma once
#include <tuple>

#include "shape/spec.h"

namespace taeda::shape {

using Normalised = std::tuple<Spec, Spec, Spec>;  // result, mean, 1 / standard deviation
using NormGrads = std::tuple<Spec, Spec, Spec>;   // of input, weight, bias

Normalised layer_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight, const Tensor& bias,
                      double eps);
std::tuple<Spec, Spec> fused_rms_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight,
                                      std::optional<double> eps);
NormGrads layer_norm_grads(const Tensor& grad, const Tensor& input, IntList normalized_shape, const Tensor& mean,
                           const Tensor& rstd, const Tensor& weight, IntList output_mask);
Normalised group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t n, int64_t c, int64_t area,
                      int64_t group, double eps);
NormGrads group_norm_grads(const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& rstd,
                           const Tensor& weight, int64_t group, IntList output_mask);
// How results are laid out: as the input, also where strides of dimensions of size 1 leave room for doubt.
MemoryFormat normalised_format(const Tensor& input);
Normalised batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                      const Tensor& running_var, bool training, double momentum, double eps);
NormGrads batch_norm_grads(const Tensor& grad, const Tensor& input, const Tensor& weight, const Tensor& mean,
                           const Tensor& rstd, bool training, IntList output_mask);
// Whether the channels of (N, C, ...) come out even.
void check_groups(const Tensor& input, int64_t group);
double default_eps(DType dtype);  // of rms norm
void check_normalized_shape(const Tensor& input, IntList normalized_shape, const Tensor& weight, const Tensor& bias);

}  // namespace taeda::shape
