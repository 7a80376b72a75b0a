// Linear maps, and what changes a tensor's form alone.
#pragma once
#include <torch/nn/functional/linear.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {

TAEDA_BARE_MODULE(Identity, const Tensor& input);
TAEDA_PLAIN_MODULE(Flatten, const Tensor& input);
TAEDA_PLAIN_MODULE(Unflatten, const Tensor& input);

// x W^T + b. Parameters: weight (out, in), bias (out) or undefined; both uniform in +-1/sqrt(in).
class TORCH_API LinearImpl : public Cloneable<LinearImpl> {
 public:
  TAEDA_MADE_OF(Linear);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  Tensor weight, bias;
};
TORCH_MODULE(Linear);

// x1^T A x2 + b. Parameters: weight (out, in1, in2), bias (out) or undefined.
class TORCH_API BilinearImpl : public Cloneable<BilinearImpl> {
 public:
  TAEDA_MADE_OF(Bilinear);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2);
  Tensor weight, bias;
};
TORCH_MODULE(Bilinear);

}  // namespace torch::nn
