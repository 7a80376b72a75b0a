#include <torch/nn/modules/loss.h>

#include "frontend/nn/printed.h"

namespace torch::nn {

namespace F = functional;

#define TAEDA_PRINTED(Name, ...)                              \
  void Name##Impl::pretty_print(std::ostream& stream) const { \
    Printed text(stream, #Name);                              \
    text __VA_ARGS__;                                         \
  }
#define TAEDA_LOSS(Name, function, ...)                                   \
  void Name##Impl::reset() {}                                             \
  Tensor Name##Impl::forward(const Tensor& input, const Tensor& target) { \
    return F::function(input, target, options);                           \
  }                                                                       \
  TAEDA_PRINTED(Name, __VA_ARGS__)
#define TAEDA_LOSS_OF_3(Name, function, a, b, c, ...)                             \
  void Name##Impl::reset() {}                                                     \
  Tensor Name##Impl::forward(const Tensor& a, const Tensor& b, const Tensor& c) { \
    return F::function(a, b, c, options);                                         \
  }                                                                               \
  TAEDA_PRINTED(Name, __VA_ARGS__)

#define TAEDA_NOTHING .bare("")
TAEDA_LOSS_OF_3(CosineEmbeddingLoss, cosine_embedding_loss, input1, input2, target, .arg("margin", options.margin()))
TAEDA_LOSS_OF_3(
    TripletMarginLoss, triplet_margin_loss, anchor, positive, negative,
    .arg("margin", options.margin()).arg("p", options.p()).arg("eps", options.eps()).arg("swap", options.swap()))
TAEDA_LOSS_OF_3(TripletMarginWithDistanceLoss, triplet_margin_with_distance_loss, anchor, positive, negative,
                .arg("margin", options.margin()).arg("swap", options.swap()))
TAEDA_LOSS_OF_3(MarginRankingLoss, margin_ranking_loss, input1, input2, targets, TAEDA_NOTHING)
TAEDA_LOSS(L1Loss, l1_loss, TAEDA_NOTHING)
TAEDA_LOSS(KLDivLoss, kl_div, TAEDA_NOTHING)
TAEDA_LOSS(MSELoss, mse_loss, TAEDA_NOTHING)
TAEDA_LOSS(HingeEmbeddingLoss, hinge_embedding_loss, .arg("margin", options.margin()))
TAEDA_LOSS(SmoothL1Loss, smooth_l1_loss, TAEDA_NOTHING)
TAEDA_LOSS(HuberLoss, huber_loss, TAEDA_NOTHING)
TAEDA_LOSS(MultiLabelMarginLoss, multilabel_margin_loss, TAEDA_NOTHING)
TAEDA_LOSS(SoftMarginLoss, soft_margin_loss, TAEDA_NOTHING)
TAEDA_LOSS(PoissonNLLLoss, poisson_nll_loss, TAEDA_NOTHING)

void CTCLossImpl::reset() {}
Tensor CTCLossImpl::forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                            const Tensor& target_lengths) {
  return F::ctc_loss(log_probs, targets, input_lengths, target_lengths, options);
}
TAEDA_PRINTED(CTCLoss, TAEDA_NOTHING)

// The weight is the buffer's, which moves with the module.
#define TAEDA_WEIGHTED(Name, function, FuncOptions, ...)                             \
  void Name##Impl::reset() { weight = register_buffer("weight", options.weight()); } \
  Tensor Name##Impl::forward(const Tensor& input, const Tensor& target) {            \
    return F::function(input, target, F::FuncOptions(options).weight(weight));       \
  }                                                                                  \
  TAEDA_PRINTED(Name, __VA_ARGS__)
TAEDA_WEIGHTED(NLLLoss, nll_loss, NLLLossFuncOptions, TAEDA_NOTHING)
TAEDA_WEIGHTED(CrossEntropyLoss, cross_entropy, CrossEntropyFuncOptions, TAEDA_NOTHING)
TAEDA_WEIGHTED(BCELoss, binary_cross_entropy, BinaryCrossEntropyFuncOptions, TAEDA_NOTHING)
TAEDA_WEIGHTED(MultiLabelSoftMarginLoss, multilabel_soft_margin_loss, MultilabelSoftMarginLossFuncOptions,
               TAEDA_NOTHING)

void MultiMarginLossImpl::reset() {
  TORCH_CHECK(options.p() == 1 || options.p() == 2, "only p == 1 and p == 2 supported; got ", options.p());
  TORCH_CHECK(!options.weight().defined() || options.weight().dim() == 1, "weight must be one-dimensional; got ",
              options.weight().sizes());
  weight = register_buffer("weight", options.weight());
}
Tensor MultiMarginLossImpl::forward(const Tensor& input, const Tensor& target) {
  return F::multi_margin_loss(input, target, F::MultiMarginLossFuncOptions(options).weight(weight));
}
TAEDA_PRINTED(MultiMarginLoss, .arg("p", options.p())
                                   .arg("margin", options.margin())
                                   .arg("weight", options.weight())
                                   .arg("reduction", enumtype::get_enum_name(options.reduction())))

void BCEWithLogitsLossImpl::reset() {
  weight = register_buffer("weight", options.weight());
  pos_weight = register_buffer("pos_weight", options.pos_weight());
}
Tensor BCEWithLogitsLossImpl::forward(const Tensor& input, const Tensor& target) {
  return F::binary_cross_entropy_with_logits(
      input, target, F::BinaryCrossEntropyWithLogitsFuncOptions(options).weight(weight).pos_weight(pos_weight));
}
TAEDA_PRINTED(BCEWithLogitsLoss, TAEDA_NOTHING)

}  // namespace torch::nn
