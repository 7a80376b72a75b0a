// Distances.
#pragma once
#include <torch/nn/functional/distance.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {
TAEDA_PLAIN_MODULE(CosineSimilarity, const Tensor& input1, const Tensor& input2);
TAEDA_PLAIN_MODULE(PairwiseDistance, const Tensor& input1, const Tensor& input2);
}  // namespace torch::nn
