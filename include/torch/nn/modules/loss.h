// Losses.
#pragma once
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {

TAEDA_PLAIN_MODULE(L1Loss, const Tensor& input, const Tensor& target);
TAEDA_PLAIN_MODULE(KLDivLoss, const Tensor& input, const Tensor& target);
TAEDA_PLAIN_MODULE(MSELoss, const Tensor& input, const Tensor& target);
TAEDA_PLAIN_MODULE(HingeEmbeddingLoss, const Tensor& input, const Tensor& target);
TAEDA_PLAIN_MODULE(CosineEmbeddingLoss, const Tensor& input1, const Tensor& input2, const Tensor& target);
TAEDA_PLAIN_MODULE(SmoothL1Loss, const Tensor& input, const Tensor& target);
TAEDA_PLAIN_MODULE(HuberLoss, const Tensor& input, const Tensor& target);
TAEDA_PLAIN_MODULE(MultiLabelMarginLoss, const Tensor& input, const Tensor& target);
TAEDA_PLAIN_MODULE(SoftMarginLoss, const Tensor& input, const Tensor& target);
TAEDA_PLAIN_MODULE(TripletMarginLoss, const Tensor& anchor, const Tensor& positive, const Tensor& negative);
TAEDA_PLAIN_MODULE(TripletMarginWithDistanceLoss, const Tensor& anchor, const Tensor& positive, const Tensor& negative);
TAEDA_PLAIN_MODULE(CTCLoss, const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                   const Tensor& target_lengths);
TAEDA_PLAIN_MODULE(PoissonNLLLoss, const Tensor& log_input, const Tensor& targets);
TAEDA_PLAIN_MODULE(MarginRankingLoss, const Tensor& input1, const Tensor& input2, const Tensor& targets);

// Those with a weight of classes, which is a buffer.
#define TAEDA_WEIGHTED_LOSS(Name)                              \
  class TORCH_API Name##Impl : public Cloneable<Name##Impl> {  \
   public:                                                     \
    TAEDA_MADE_OF(Name);                                       \
    void reset() override;                                     \
    void pretty_print(std::ostream& stream) const override;    \
    Tensor forward(const Tensor& input, const Tensor& target); \
    Tensor weight;                                             \
  };                                                           \
  TORCH_MODULE(Name)
TAEDA_WEIGHTED_LOSS(NLLLoss);
TAEDA_WEIGHTED_LOSS(CrossEntropyLoss);
TAEDA_WEIGHTED_LOSS(BCELoss);
TAEDA_WEIGHTED_LOSS(MultiMarginLoss);
TAEDA_WEIGHTED_LOSS(MultiLabelSoftMarginLoss);
#undef TAEDA_WEIGHTED_LOSS

class TORCH_API BCEWithLogitsLossImpl : public Cloneable<BCEWithLogitsLossImpl> {
 public:
  TAEDA_MADE_OF(BCEWithLogitsLoss);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);
  Tensor weight, pos_weight;
};
TORCH_MODULE(BCEWithLogitsLoss);

}  // namespace torch::nn
