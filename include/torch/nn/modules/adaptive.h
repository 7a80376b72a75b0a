// The softmax over many classes that looks at rare ones seldom (Grave et al., Efficient softmax approximation for
// GPUs).
#pragma once
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

namespace torch::nn {

struct AdaptiveLogSoftmaxWithLossOptions {
  AdaptiveLogSoftmaxWithLossOptions(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs)
      : in_features_(in_features), n_classes_(n_classes), cutoffs_(std::move(cutoffs)) {}
  TORCH_ARG(int64_t, in_features);
  TORCH_ARG(int64_t, n_classes);
  TORCH_ARG(std::vector<int64_t>, cutoffs);
  TORCH_ARG(double, div_value) = 4.;
  TORCH_ARG(bool, head_bias) = false;
};

struct ASMoutput {
  ASMoutput(Tensor output_, double loss_) : output(std::move(output_)), loss(loss_) {}
  Tensor output;
  double loss;
};

class TORCH_API AdaptiveLogSoftmaxWithLossImpl : public Cloneable<AdaptiveLogSoftmaxWithLossImpl> {
 public:
  TAEDA_MADE_OF(AdaptiveLogSoftmaxWithLoss);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  // The log probability of each target, and the mean loss.
  ASMoutput forward(const Tensor& input, const Tensor& target);
  Tensor log_prob(const Tensor& input);
  Tensor predict(const Tensor& input);
  Tensor _get_full_log_prob(const Tensor& input, const Tensor& head_output);

  std::vector<int64_t> cutoffs;
  int64_t shortlist_size = 0, n_clusters = 0, head_size = 0;
  Linear head = nullptr;
  ModuleList tail;
};
TORCH_MODULE(AdaptiveLogSoftmaxWithLoss);

}  // namespace torch::nn
