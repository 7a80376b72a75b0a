// Images of another size.
#pragma once
#include <torch/nn/functional/upsampling.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {
TAEDA_PLAIN_MODULE(Upsample, const Tensor& input);
}  // namespace torch::nn
