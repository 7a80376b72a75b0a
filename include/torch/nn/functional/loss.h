// Losses as functions, and their options.
#pragma once
#include <torch/nn/options_base.h>

namespace torch::nn {

// Options that are made of a word, too: MSELoss(torch::kSum).
#define TAEDA_REDUCED(Name)                               \
  using reduction_t = LossReduction;                      \
  Name() = default;                                       \
  template <class Word>                                   \
    requires std::is_constructible_v<LossReduction, Word> \
  Name(Word word) {                                       \
    reduction(word);                                      \
  }                                                       \
  TAEDA_WORD_ARG(LossReduction, reduction, kMean)
// With nothing else to say.
#define TAEDA_REDUCED_ONLY(Name) \
  struct Name {                  \
    TAEDA_REDUCED(Name);         \
  }
TAEDA_REDUCED_ONLY(L1LossOptions);
TAEDA_REDUCED_ONLY(MSELossOptions);
TAEDA_REDUCED_ONLY(MultiLabelMarginLossOptions);
TAEDA_REDUCED_ONLY(SoftMarginLossOptions);
#undef TAEDA_REDUCED_ONLY

struct KLDivLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kBatchMean, enumtype::kSum, enumtype::kMean>;
  KLDivLossOptions() = default;
  template <class Word>
    requires std::is_constructible_v<reduction_t, Word>
  KLDivLossOptions(Word word) {
    reduction(word);
  }
  TAEDA_WORD_ARG(reduction_t, reduction, kMean);
  TORCH_ARG(bool, log_target) = false;
};
struct SmoothL1LossOptions {
  TAEDA_REDUCED(SmoothL1LossOptions);
  TORCH_ARG(std::optional<double>, beta) = std::nullopt;
};
struct HuberLossOptions {
  TAEDA_REDUCED(HuberLossOptions);
  TORCH_ARG(double, delta) = 1.0;
};
struct BCELossOptions {
  using reduction_t = LossReduction;
  TORCH_ARG(Tensor, weight) = {};
  TAEDA_WORD_ARG(LossReduction, reduction, kMean);
};
struct HingeEmbeddingLossOptions {
  using reduction_t = LossReduction;
  TORCH_ARG(double, margin) = 1.0;
  TAEDA_WORD_ARG(LossReduction, reduction, kMean);
};
struct MultiMarginLossOptions {
  using reduction_t = LossReduction;
  TORCH_ARG(int64_t, p) = 1;
  TORCH_ARG(double, margin) = 1.0;
  TORCH_ARG(Tensor, weight) = {};
  TAEDA_WORD_ARG(LossReduction, reduction, kMean);
};
struct CosineEmbeddingLossOptions {
  using reduction_t = LossReduction;
  TORCH_ARG(double, margin) = 0.0;
  TAEDA_WORD_ARG(LossReduction, reduction, kMean);
};
struct MultiLabelSoftMarginLossOptions {
  using reduction_t = LossReduction;
  TORCH_ARG(Tensor, weight) = {};
  TAEDA_WORD_ARG(LossReduction, reduction, kMean);
};
struct TripletMarginLossOptions {
  using reduction_t = LossReduction;
  TORCH_ARG(double, margin) = 1.0;
  TORCH_ARG(double, p) = 2.0;
  TORCH_ARG(double, eps) = 1e-6;
  TORCH_ARG(bool, swap) = false;
  TAEDA_WORD_ARG(LossReduction, reduction, kMean);
};
struct TripletMarginWithDistanceLossOptions {
  using reduction_t = LossReduction;
  using distance_function_t = std::function<Tensor(const Tensor&, const Tensor&)>;
  TORCH_ARG(std::optional<distance_function_t>, distance_function) = std::nullopt;
  TORCH_ARG(double, margin) = 1.0;
  TORCH_ARG(bool, swap) = false;
  TAEDA_WORD_ARG(LossReduction, reduction, kMean);
};
struct CTCLossOptions {
  using reduction_t = LossReduction;
  TORCH_ARG(int64_t, blank) = 0;
  TAEDA_WORD_ARG(LossReduction, reduction, kMean);
  TORCH_ARG(bool, zero_infinity) = false;
};
struct PoissonNLLLossOptions {
  using reduction_t = LossReduction;
  TORCH_ARG(bool, log_input) = true;
  TORCH_ARG(bool, full) = false;
  TORCH_ARG(double, eps) = 1e-8;
  TAEDA_WORD_ARG(LossReduction, reduction, kMean);
};
struct MarginRankingLossOptions {
  using reduction_t = LossReduction;
  TORCH_ARG(double, margin) = 0;
  TAEDA_WORD_ARG(LossReduction, reduction, kMean);
};
struct NLLLossOptions {
  using reduction_t = LossReduction;
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(int64_t, ignore_index) = -100;
  TAEDA_WORD_ARG(LossReduction, reduction, kMean);
};
struct CrossEntropyLossOptions {
  using reduction_t = LossReduction;
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(int64_t, ignore_index) = -100;
  TAEDA_WORD_ARG(LossReduction, reduction, kMean);
  TORCH_ARG(double, label_smoothing) = 0.0;
};
struct BCEWithLogitsLossOptions {
  using reduction_t = LossReduction;
  TORCH_ARG(Tensor, weight) = {};
  TAEDA_WORD_ARG(LossReduction, reduction, kMean);
  TORCH_ARG(Tensor, pos_weight) = {};
};
#undef TAEDA_REDUCED

namespace functional {

using L1LossFuncOptions = L1LossOptions;
using KLDivFuncOptions = KLDivLossOptions;
using MSELossFuncOptions = MSELossOptions;
using BinaryCrossEntropyFuncOptions = BCELossOptions;
using HingeEmbeddingLossFuncOptions = HingeEmbeddingLossOptions;
using MultiMarginLossFuncOptions = MultiMarginLossOptions;
using CosineEmbeddingLossFuncOptions = CosineEmbeddingLossOptions;
using MultilabelMarginLossFuncOptions = MultiLabelMarginLossOptions;
using SoftMarginLossFuncOptions = SoftMarginLossOptions;
using MultilabelSoftMarginLossFuncOptions = MultiLabelSoftMarginLossOptions;
using TripletMarginLossFuncOptions = TripletMarginLossOptions;
using TripletMarginWithDistanceLossFuncOptions = TripletMarginWithDistanceLossOptions;
using CTCLossFuncOptions = CTCLossOptions;
using SmoothL1LossFuncOptions = SmoothL1LossOptions;
using HuberLossFuncOptions = HuberLossOptions;
using PoissonNLLLossFuncOptions = PoissonNLLLossOptions;
using MarginRankingLossFuncOptions = MarginRankingLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;

TORCH_API Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& options = {});
TORCH_API Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& options = {});
TORCH_API Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options = {});
TORCH_API Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                                      const BinaryCrossEntropyFuncOptions& options = {});
TORCH_API Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                                      const HingeEmbeddingLossFuncOptions& options = {});
TORCH_API Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                                   const MultiMarginLossFuncOptions& options = {});
TORCH_API Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                       const CosineEmbeddingLossFuncOptions& options = {});
TORCH_API Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options = {});
// With beta beside the options, which must not say another.
TORCH_API Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options,
                                double beta);
TORCH_API Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& options = {});
TORCH_API Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                                        const MultilabelMarginLossFuncOptions& options = {});
TORCH_API Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                                  const SoftMarginLossFuncOptions& options = {});
TORCH_API Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                             const MultilabelSoftMarginLossFuncOptions& options = {});
TORCH_API Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                     const TripletMarginLossFuncOptions& options = {});
TORCH_API Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                                   const TripletMarginWithDistanceLossFuncOptions& options = {});
TORCH_API Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                          const Tensor& target_lengths, const CTCLossFuncOptions& options = {});
TORCH_API Tensor poisson_nll_loss(const Tensor& input, const Tensor& target,
                                  const PoissonNLLLossFuncOptions& options = {});
TORCH_API Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                     const MarginRankingLossFuncOptions& options = {});
TORCH_API Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options = {});
TORCH_API Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& options = {});
TORCH_API Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                                  const BinaryCrossEntropyWithLogitsFuncOptions& options = {});

}  // namespace functional
}  // namespace torch::nn
