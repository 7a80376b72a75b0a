// Normalizations as functions, and their options.
#pragma once
#include <torch/nn/options_base.h>

namespace torch::nn {

struct LayerNormOptions {
  TAEDA_OPTIONS_OF(LayerNormOptions, std::vector<int64_t>, normalized_shape)
  TORCH_ARG(std::vector<int64_t>, normalized_shape);
  TORCH_ARG(double, eps) = 1e-5;
  TORCH_ARG(bool, elementwise_affine) = true;
};
struct LocalResponseNormOptions {
  TAEDA_OPTIONS_OF(LocalResponseNormOptions, int64_t, size)
  TORCH_ARG(int64_t, size);
  TORCH_ARG(double, alpha) = 1e-4;
  TORCH_ARG(double, beta) = 0.75;
  TORCH_ARG(double, k) = 1.;
};
struct CrossMapLRN2dOptions {
  TAEDA_OPTIONS_OF(CrossMapLRN2dOptions, int64_t, size)
  TORCH_ARG(int64_t, size);
  TORCH_ARG(double, alpha) = 1e-4;
  TORCH_ARG(double, beta) = 0.75;
  TORCH_ARG(int64_t, k) = 1;
};
struct GroupNormOptions {
  GroupNormOptions(int64_t num_groups, int64_t num_channels) : num_groups_(num_groups), num_channels_(num_channels) {}
  TORCH_ARG(int64_t, num_groups);
  TORCH_ARG(int64_t, num_channels);
  TORCH_ARG(double, eps) = 1e-5;
  TORCH_ARG(bool, affine) = true;
};

namespace functional {

using LocalResponseNormFuncOptions = LocalResponseNormOptions;
struct NormalizeFuncOptions {
  TORCH_ARG(double, p) = 2.0;
  TORCH_ARG(int64_t, dim) = 1;
  TORCH_ARG(double, eps) = 1e-12;
  TORCH_ARG(std::optional<Tensor>, out) = std::nullopt;
};
struct LayerNormFuncOptions {
  TAEDA_OPTIONS_OF(LayerNormFuncOptions, std::vector<int64_t>, normalized_shape)
  TORCH_ARG(std::vector<int64_t>, normalized_shape);
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(Tensor, bias) = {};
  TORCH_ARG(double, eps) = 1e-5;
};
struct GroupNormFuncOptions {
  TAEDA_OPTIONS_OF(GroupNormFuncOptions, int64_t, num_groups)
  TORCH_ARG(int64_t, num_groups);
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(Tensor, bias) = {};
  TORCH_ARG(double, eps) = 1e-5;
};

TORCH_API Tensor normalize(const Tensor& input, const NormalizeFuncOptions& options = {});
TORCH_API Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options);
TORCH_API Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& options);
TORCH_API Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options);

}  // namespace functional
}  // namespace torch::nn
