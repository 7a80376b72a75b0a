// Dropout as functions, and its options.
#pragma once
#include <torch/nn/options_base.h>

namespace torch::nn {

struct DropoutOptions {
  DropoutOptions(double p = 0.5) : p_(p) {}
  TORCH_ARG(double, p) = 0.5;
  TORCH_ARG(bool, inplace) = false;
};
using Dropout2dOptions = DropoutOptions;
using Dropout3dOptions = DropoutOptions;
using AlphaDropoutOptions = DropoutOptions;
using FeatureAlphaDropoutOptions = DropoutOptions;

namespace functional {

struct DropoutFuncOptions {
  TORCH_ARG(double, p) = 0.5;
  TORCH_ARG(bool, training) = true;
  TORCH_ARG(bool, inplace) = false;
};
using Dropout2dFuncOptions = DropoutFuncOptions;
using Dropout3dFuncOptions = DropoutFuncOptions;
struct AlphaDropoutFuncOptions {
  TORCH_ARG(double, p) = 0.5;
  TORCH_ARG(bool, training) = false;
  TORCH_ARG(bool, inplace) = false;
};
struct FeatureAlphaDropoutFuncOptions {
  TORCH_ARG(double, p) = 0.5;
  TORCH_ARG(bool, training) = false;
  TORCH_ARG(bool, inplace) = false;
};

TORCH_API Tensor dropout(const Tensor& input, const DropoutFuncOptions& options = {});
TORCH_API Tensor dropout2d(const Tensor& input, const Dropout2dFuncOptions& options = {});
TORCH_API Tensor dropout3d(const Tensor& input, const Dropout3dFuncOptions& options = {});
TORCH_API Tensor alpha_dropout(const Tensor& input, const AlphaDropoutFuncOptions& options = {});
TORCH_API Tensor feature_alpha_dropout(const Tensor& input, const FeatureAlphaDropoutFuncOptions& options = {});

namespace detail {
TORCH_API Tensor dropout(const Tensor& input, double p, bool training, bool inplace);
TORCH_API Tensor dropout2d(const Tensor& input, double p, bool training, bool inplace);
TORCH_API Tensor dropout3d(const Tensor& input, double p, bool training, bool inplace);
TORCH_API Tensor alpha_dropout(const Tensor& input, double p, bool training, bool inplace);
TORCH_API Tensor feature_alpha_dropout(const Tensor& input, double p, bool training, bool inplace);
}  // namespace detail
}  // namespace functional
}  // namespace torch::nn
