// Padding.
#pragma once
#include <torch/nn/functional/padding.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {
#define TAEDA_PAD_MODULES(D)                                     \
  TAEDA_PLAIN_MODULE(ReflectionPad##D##d, const Tensor& input);  \
  TAEDA_PLAIN_MODULE(ReplicationPad##D##d, const Tensor& input); \
  TAEDA_PLAIN_MODULE(ZeroPad##D##d, const Tensor& input);        \
  TAEDA_PLAIN_MODULE(ConstantPad##D##d, const Tensor& input)
TAEDA_PAD_MODULES(1);
TAEDA_PAD_MODULES(2);
TAEDA_PAD_MODULES(3);
#undef TAEDA_PAD_MODULES
}  // namespace torch::nn
