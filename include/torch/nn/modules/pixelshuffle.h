// Channels to pixels and back.
#pragma once
#include <torch/nn/functional/pixelshuffle.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {
TAEDA_PLAIN_MODULE(PixelShuffle, const Tensor& input);
TAEDA_PLAIN_MODULE(PixelUnshuffle, const Tensor& input);
}  // namespace torch::nn
