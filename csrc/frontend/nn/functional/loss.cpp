#include <torch/nn/functional/loss.h>

#include <ATen/ExpandUtils.h>

namespace torch::nn::functional {

namespace {

int64_t number_of(const LossReduction& reduction) { return enumtype::reduction_get_enum(reduction); }

Tensor reduced(const Tensor& losses, const LossReduction& reduction) {
  switch (number_of(reduction)) {
    case at::Reduction::Mean:
      return losses.mean();
    case at::Reduction::Sum:
      return losses.sum();
    default:
      return losses;
  }
}

void warn_of_broadcasting(const char* name, const Tensor& input, const Tensor& target) {
  if (input.sizes() != target.sizes())
    TORCH_WARN(name, ": the target's size ", target.sizes(), " is not the input's, ", input.sizes(),
               ": they are broadcast, which is seldom meant");
}

}  // namespace

Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& options) {
  warn_of_broadcasting("l1_loss", input, target);
  return at::l1_loss(input, target, number_of(options.reduction()));
}
Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options) {
  warn_of_broadcasting("mse_loss", input, target);
  return at::mse_loss(input, target, number_of(options.reduction()));
}
Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& options) {
  std::string reduction = enumtype::get_enum_name(options.reduction());
  bool by_batch = reduction == "kBatchMean";
  if (reduction == "kMean")
    TORCH_WARN("kl_div: kMean divides by the number of elements; the divergence's definition wants kBatchMean");
  int64_t number = by_batch ? int64_t{at::Reduction::Sum} : enumtype::reduction_get_enum(options.reduction());
  Tensor loss = at::kl_div(input, target, number, options.log_target());
  return by_batch && input.dim() != 0 ? loss / input.size(0) : loss;
}
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const BinaryCrossEntropyFuncOptions& options) {
  TORCH_CHECK(input.sizes() == target.sizes(), "binary_cross_entropy: the target's size ", target.sizes(),
              " must be the input's, ", input.sizes());
  Tensor weight = options.weight();
  if (weight.defined()) weight = weight.expand(at::infer_size(target.sizes(), weight.sizes()));
  return at::binary_cross_entropy(input, target, weight, number_of(options.reduction()));
}
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BinaryCrossEntropyWithLogitsFuncOptions& options) {
  TORCH_CHECK(input.sizes() == target.sizes(), "binary_cross_entropy_with_logits: the target's size ", target.sizes(),
              " must be the input's, ", input.sizes());
  return at::binary_cross_entropy_with_logits(input, target, options.weight(), options.pos_weight(),
                                              number_of(options.reduction()));
}
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, const HingeEmbeddingLossFuncOptions& options) {
  return at::hinge_embedding_loss(input, target, options.margin(), number_of(options.reduction()));
}
Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginLossFuncOptions& options) {
  TORCH_CHECK(options.p() == 1 || options.p() == 2, "multi_margin_loss: p must be 1 or 2; got ", options.p());
  return at::multi_margin_loss(input, target, options.p(), options.margin(), options.weight(),
                               number_of(options.reduction()));
}
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             const CosineEmbeddingLossFuncOptions& options) {
  return at::cosine_embedding_loss(input1, input2, target, options.margin(), number_of(options.reduction()));
}
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options) {
  warn_of_broadcasting("smooth_l1_loss", input, target);
  std::vector<Tensor> both = at::broadcast_tensors({input, target});
  return at::smooth_l1_loss(both[0], both[1], number_of(options.reduction()), options.beta().value_or(1.0));
}
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options, double beta) {
  TORCH_CHECK(!options.beta(), "smooth_l1_loss: beta is an argument already; options have it again, as ",
              options.beta().value_or(0));
  return smooth_l1_loss(input, target, SmoothL1LossFuncOptions(options).beta(beta));
}
Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& options) {
  warn_of_broadcasting("huber_loss", input, target);
  std::vector<Tensor> both = at::broadcast_tensors({input, target});
  return at::huber_loss(both[0], both[1], number_of(options.reduction()), options.delta());
}
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                              const MultilabelMarginLossFuncOptions& options) {
  return at::multilabel_margin_loss(input, target, number_of(options.reduction()));
}
Tensor soft_margin_loss(const Tensor& input, const Tensor& target, const SoftMarginLossFuncOptions& options) {
  return at::soft_margin_loss(input, target, number_of(options.reduction()));
}
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                   const MultilabelSoftMarginLossFuncOptions& options) {
  Tensor loss = -(target * at::log_sigmoid(input) + (1 - target) * at::log_sigmoid(-input));
  if (options.weight().defined()) loss = loss * options.weight();
  return reduced(loss.mean(-1), options.reduction());
}
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossFuncOptions& options) {
  return at::triplet_margin_loss(anchor, positive, negative, options.margin(), options.p(), options.eps(),
                                 options.swap(), number_of(options.reduction()));
}
Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                         const TripletMarginWithDistanceLossFuncOptions& options) {
  auto distance = [&](const Tensor& a, const Tensor& b) {
    return options.distance_function() ? (*options.distance_function())(a, b) : at::pairwise_distance(a, b);
  };
  Tensor near = distance(anchor, positive), far = distance(anchor, negative);
  if (options.swap()) far = at::minimum(far, distance(positive, negative));
  return reduced((near - far + options.margin()).clamp_min(0), options.reduction());
}
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CTCLossFuncOptions& options) {
  return at::ctc_loss(log_probs, targets, input_lengths, target_lengths, options.blank(),
                      number_of(options.reduction()), options.zero_infinity());
}
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, const PoissonNLLLossFuncOptions& options) {
  return at::poisson_nll_loss(input, target, options.log_input(), options.full(), options.eps(),
                              number_of(options.reduction()));
}
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           const MarginRankingLossFuncOptions& options) {
  TORCH_CHECK(input1.dim() == input2.dim() && input1.dim() == target.dim(),
              "margin_ranking_loss: all tensors must have the same number of dimensions; got ", input1.sizes(), ", ",
              input2.sizes(), " and ", target.sizes());
  return at::margin_ranking_loss(input1, input2, target, options.margin(), number_of(options.reduction()));
}
Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options) {
  TORCH_CHECK(input.dim() >= 2, "nll_loss: expected 2 or more dimensions; got ", input.sizes());
  TORCH_CHECK(input.size(0) == target.size(0), "nll_loss: input and target have batches of ", input.size(0), " and ",
              target.size(0));
  return at::nll_loss_nd(input, target, options.weight(), number_of(options.reduction()), options.ignore_index());
}
Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& options) {
  return at::cross_entropy_loss(input, target, options.weight(), number_of(options.reduction()), options.ignore_index(),
                                options.label_smoothing());
}

}  // namespace torch::nn::functional
