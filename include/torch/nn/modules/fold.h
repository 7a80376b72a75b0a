// Blocks of images to columns and back.
#pragma once
#include <torch/nn/functional/fold.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {
TAEDA_PLAIN_MODULE(Fold, const Tensor& input);
TAEDA_PLAIN_MODULE(Unfold, const Tensor& input);
}  // namespace torch::nn
