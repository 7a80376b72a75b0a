// Dropout; in evaluation it does nothing.
#pragma once
#include <torch/nn/functional/dropout.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {
TAEDA_PLAIN_MODULE(Dropout, const Tensor& input);
TAEDA_PLAIN_MODULE(Dropout2d, const Tensor& input);
TAEDA_PLAIN_MODULE(Dropout3d, const Tensor& input);
TAEDA_PLAIN_MODULE(AlphaDropout, const Tensor& input);
TAEDA_PLAIN_MODULE(FeatureAlphaDropout, const Tensor& input);
}  // namespace torch::nn
