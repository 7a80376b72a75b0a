// Linear maps, convolutions, normalizations, dropout, embeddings: what layers with parameters compute.
#include <torch/nn/functional/batchnorm.h>
#include <torch/nn/functional/conv.h>
#include <torch/nn/functional/distance.h>
#include <torch/nn/functional/dropout.h>
#include <torch/nn/functional/embedding.h>
#include <torch/nn/functional/fold.h>
#include <torch/nn/functional/instancenorm.h>
#include <torch/nn/functional/linear.h>
#include <torch/nn/functional/normalization.h>
#include <torch/nn/functional/padding.h>
#include <torch/nn/functional/pixelshuffle.h>

#include "frontend/nn/probability.h"

namespace torch::nn::functional {

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) { return at::linear(input, weight, bias); }
Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias) {
  return at::bilinear(input1, input2, weight, bias);
}

// --- convolutions
namespace {

// Calls with numbers, or with the word that padding may be.
template <size_t D, class Convolve>
Tensor with_padding(const ConvPadding<D>& padding, const Convolve& convolve) {
  if (auto* numbers = std::get_if<ExpandingArray<D>>(&padding)) return convolve(IntArrayRef(*numbers));
  return convolve(c10::string_view(std::holds_alternative<enumtype::kSame>(padding) ? "same" : "valid"));
}

}  // namespace

#define TAEDA_CONV(D)                                                                                     \
  Tensor conv##D##d(const Tensor& input, const Tensor& weight, const Conv##D##dFuncOptions& options) {    \
    return with_padding<D>(options.padding(), [&](auto padding) {                                         \
      return at::conv##D##d(input, weight, options.bias(), options.stride(), padding, options.dilation(), \
                            options.groups());                                                            \
    });                                                                                                   \
  }                                                                                                       \
  Tensor conv_transpose##D##d(const Tensor& input, const Tensor& weight,                                  \
                              const ConvTranspose##D##dFuncOptions& options) {                            \
    return at::conv_transpose##D##d(input, weight, options.bias(), options.stride(), options.padding(),   \
                                    options.output_padding(), options.groups(), options.dilation());      \
  }
TAEDA_CONV(1)
TAEDA_CONV(2)
TAEDA_CONV(3)
#undef TAEDA_CONV

// --- normalizations
Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& options) {
  if (options.training()) {
    int64_t per_channel = input.size(0);
    for (int64_t d = 2; d < input.dim(); ++d) per_channel *= input.size(d);
    TORCH_CHECK(per_channel != 1,
                "batch_norm: one value in a channel has no variance to learn from; got an input of size ",
                input.sizes());
  }
  return at::batch_norm(input, options.weight(), options.bias(), running_mean, running_var, options.training(),
                        options.momentum().value_or(0), options.eps(), true);
}
Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options) {
  return at::instance_norm(input, options.weight(), options.bias(), options.running_mean(), options.running_var(),
                           options.use_input_stats(), options.momentum(), options.eps(), true);
}
Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options) {
  return at::layer_norm(input, options.normalized_shape(), options.weight(), options.bias(), options.eps());
}
Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options) {
  return at::group_norm(input, options.num_groups(), options.weight(), options.bias(), options.eps());
}
Tensor normalize(const Tensor& input, const NormalizeFuncOptions& options) {
  Tensor denominator = input.norm(options.p(), IntArrayRef(options.dim()), true).clamp_min(options.eps());
  if (!options.out()) return input / denominator.expand_as(input);
  Tensor out = *options.out();
  return at::div_out(out, input, denominator.expand_as(input));
}
Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& options) {
  TORCH_CHECK(input.dim() >= 3, "local_response_norm: expected 3 or more dimensions; got ", input.sizes());
  // The mean of squares over neighbouring channels, as a pooling over a dimension of one channel.
  int64_t size = options.size();
  Tensor squares = input.pow(2).flatten(2).unsqueeze(1);
  squares = at::constant_pad_nd(squares, {0, 0, size / 2, (size - 1) / 2});
  Tensor mean = at::avg_pool2d(squares, {size, 1}, 1).squeeze(1).view(input.sizes());
  return input / (mean * options.alpha() + options.k()).pow(options.beta());
}

// --- dropout
#define TAEDA_DROPOUT(name, op, Options)                                            \
  Tensor detail::name(const Tensor& input, double p, bool training, bool inplace) { \
    check_probability(p, #name);                                                    \
    Tensor self = input;                                                            \
    return inplace ? at::op##_(self, p, training) : at::op(self, p, training);      \
  }                                                                                 \
  Tensor name(const Tensor& input, const Options& options) {                        \
    return detail::name(input, options.p(), options.training(), options.inplace()); \
  }
TAEDA_DROPOUT(dropout, dropout, DropoutFuncOptions)
TAEDA_DROPOUT(dropout2d, feature_dropout, Dropout2dFuncOptions)
TAEDA_DROPOUT(dropout3d, feature_dropout, Dropout3dFuncOptions)
TAEDA_DROPOUT(alpha_dropout, alpha_dropout, AlphaDropoutFuncOptions)
TAEDA_DROPOUT(feature_alpha_dropout, feature_alpha_dropout, FeatureAlphaDropoutFuncOptions)
#undef TAEDA_DROPOUT

// --- embeddings
namespace {

int64_t checked_padding(std::optional<int64_t> padding_idx, int64_t rows) {
  if (!padding_idx) return -1;
  TORCH_CHECK(*padding_idx >= -rows && *padding_idx < rows, "padding_idx is one of ", rows, " rows; got ",
              *padding_idx);
  return *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
}
void renormalize(const Tensor& weight, const Tensor& indices, std::optional<double> max_norm, double norm_type) {
  if (!max_norm) return;
  NoGradGuard no_grad;
  Tensor rows = weight;
  at::embedding_renorm_(rows, indices.contiguous(), *max_norm, norm_type);
}

}  // namespace

Tensor one_hot(const Tensor& tensor, int64_t num_classes) { return at::one_hot(tensor, num_classes); }
Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options) {
  int64_t padding = checked_padding(options.padding_idx(), weight.size(0));
  renormalize(weight, input, options.max_norm(), options.norm_type());
  return at::embedding(weight, input, padding, options.scale_grad_by_freq(), options.sparse());
}
Tensor embedding_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& options) {
  Tensor indices = input, offsets = options.offsets(), sample_weights = options.per_sample_weights();
  TORCH_CHECK(!sample_weights.defined() || sample_weights.sizes() == input.sizes(),
              "embedding_bag: per_sample_weights must have the shape of input (", input.sizes(), "); got ",
              sample_weights.defined() ? sample_weights.sizes() : IntArrayRef());
  if (input.dim() == 2) {
    TORCH_CHECK(!offsets.defined(),
                "embedding_bag: each row of a matrix is a bag, so offsets are for one row of indices only");
    offsets = at::arange(0, input.numel(), input.size(1), at::TensorOptions(kLong).device(input.device()));
    indices = input.reshape(-1);
    if (sample_weights.defined()) sample_weights = sample_weights.reshape(-1);
  } else {
    TORCH_CHECK(input.dim() == 1, "embedding_bag: input has to be 1D or 2D; got ", input.dim(), " dimensions");
    TORCH_CHECK(offsets.defined() && offsets.dim() == 1, "embedding_bag: offsets must be a 1D tensor where input is");
  }
  std::string mode = enumtype::get_enum_name(options.mode());
  TORCH_CHECK(mode != "kMax" || (!options.scale_grad_by_freq() && !options.sparse()),
              "embedding_bag: kMax goes with neither scale_grad_by_freq nor sparse");
  TORCH_CHECK(!sample_weights.defined() || mode == "kSum", "embedding_bag: per_sample_weights are for kSum alone; got ",
              mode);
  renormalize(weight, indices, options.max_norm(), options.norm_type());
  std::optional<int64_t> padding;
  if (options.padding_idx()) padding = checked_padding(options.padding_idx(), weight.size(0));
  return std::get<0>(at::embedding_bag(weight, indices, offsets, options.scale_grad_by_freq(),
                                       mode == "kSum"    ? 0
                                       : mode == "kMean" ? 1
                                                         : 2,
                                       options.sparse(), sample_weights, options.include_last_offset(), padding));
}

// --- distances, blocks, padding
Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, const CosineSimilarityFuncOptions& options) {
  return at::cosine_similarity(x1, x2, options.dim(), options.eps());
}
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceFuncOptions& options) {
  return at::pairwise_distance(x1, x2, options.p(), options.eps(), options.keepdim());
}
Tensor pdist(const Tensor& input, double p) { return at::pdist(input, p); }

Tensor fold(const Tensor& input, const FoldFuncOptions& options) {
  return at::col2im(input, options.output_size(), options.kernel_size(), options.dilation(), options.padding(),
                    options.stride());
}
Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options) {
  return at::im2col(input, options.kernel_size(), options.dilation(), options.padding(), options.stride());
}
Tensor pad(const Tensor& input, const PadFuncOptions& options) {
  std::string mode = enumtype::get_enum_name(options.mode());
  if (mode == "kConstant") return at::constant_pad_nd(input, options.pad(), options.value());
  return at::pad(input, options.pad(),
                 mode == "kReflect"     ? "reflect"
                 : mode == "kReplicate" ? "replicate"
                                        : "circular");
}
Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& options) {
  return at::pixel_shuffle(input, options.upscale_factor());
}
Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& options) {
  return at::pixel_unshuffle(input, options.downscale_factor());
}

}  // namespace torch::nn::functional
