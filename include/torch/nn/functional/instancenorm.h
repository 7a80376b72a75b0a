// Instance normalization as a function, and its options.
#pragma once
#include <torch/nn/options_base.h>

namespace torch::nn {

struct InstanceNormOptions {
  TAEDA_OPTIONS_OF(InstanceNormOptions, int64_t, num_features)
  TORCH_ARG(int64_t, num_features);
  TORCH_ARG(double, eps) = 1e-5;
  TORCH_ARG(double, momentum) = 0.1;
  TORCH_ARG(bool, affine) = false;
  TORCH_ARG(bool, track_running_stats) = false;
};
using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

namespace functional {
struct InstanceNormFuncOptions {
  TORCH_ARG(Tensor, running_mean) = {};
  TORCH_ARG(Tensor, running_var) = {};
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(Tensor, bias) = {};
  TORCH_ARG(bool, use_input_stats) = true;
  TORCH_ARG(double, momentum) = 0.1;
  TORCH_ARG(double, eps) = 1e-5;
};
TORCH_API Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options = {});
}  // namespace functional
}  // namespace torch::nn
