// Normalizations over what one example holds.
#pragma once
#include <torch/nn/functional/normalization.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {

class TORCH_API LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  TAEDA_MADE_OF(LayerNorm);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  Tensor weight, bias;
};
TORCH_MODULE(LayerNorm);

class TORCH_API GroupNormImpl : public Cloneable<GroupNormImpl> {
 public:
  TAEDA_MADE_OF(GroupNorm);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  Tensor weight, bias;
};
TORCH_MODULE(GroupNorm);

TAEDA_PLAIN_MODULE(LocalResponseNorm, const Tensor& input);
TAEDA_PLAIN_MODULE(CrossMapLRN2d, const Tensor& input);

}  // namespace torch::nn
