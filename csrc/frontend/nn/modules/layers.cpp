// Linear maps, normalizations, embeddings, attention: modules with parameters.
#include <torch/nn/modules.h>

#include <cmath>

#include <torch/nn/init.h>

#include "frontend/nn/printed.h"

namespace torch::nn {

namespace F = functional;

// --- Linear, Bilinear
void LinearImpl::reset() {
  weight = register_parameter("weight", torch::empty({options.out_features(), options.in_features()}));
  bias = options.bias() ? register_parameter("bias", torch::empty(options.out_features()))
                        : register_parameter("bias", {}, false);
  reset_parameters();
}
void LinearImpl::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  int64_t fan_in = std::get<0>(init::_calculate_fan_in_and_fan_out(weight));
  double bound = fan_in > 0 ? 1 / std::sqrt(static_cast<double>(fan_in)) : 0;
  init::uniform_(bias, -bound, bound);
}
void LinearImpl::pretty_print(std::ostream& stream) const {
  Printed(stream, "Linear")
      .arg("in_features", options.in_features())
      .arg("out_features", options.out_features())
      .arg("bias", options.bias());
}
Tensor LinearImpl::forward(const Tensor& input) { return F::linear(input, weight, bias); }

void BilinearImpl::reset() {
  weight = register_parameter("weight",
                              torch::empty({options.out_features(), options.in1_features(), options.in2_features()}));
  bias = options.bias() ? register_parameter("bias", torch::empty(options.out_features()))
                        : register_parameter("bias", {}, false);
  reset_parameters();
}
void BilinearImpl::reset_parameters() {
  double bound = 1 / std::sqrt(static_cast<double>(weight.size(1)));
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}
void BilinearImpl::pretty_print(std::ostream& stream) const {
  Printed(stream, "Bilinear")
      .arg("in1_features", options.in1_features())
      .arg("in2_features", options.in2_features())
      .arg("out_features", options.out_features())
      .arg("bias", options.bias());
}
Tensor BilinearImpl::forward(const Tensor& input1, const Tensor& input2) {
  return F::bilinear(input1, input2, weight, bias);
}

// --- Normalizations
void LayerNormImpl::reset() {
  weight = bias = Tensor();
  if (options.elementwise_affine()) {
    weight = register_parameter("weight", torch::empty(options.normalized_shape()));
    bias = register_parameter("bias", torch::empty(options.normalized_shape()));
  } else {
    register_parameter("weight", {}, false);
    register_parameter("bias", {}, false);
  }
  reset_parameters();
}
void LayerNormImpl::reset_parameters() {
  if (!options.elementwise_affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}
void LayerNormImpl::pretty_print(std::ostream& stream) const {
  Printed(stream, "LayerNorm")
      .bare(IntArrayRef(options.normalized_shape()))
      .arg("eps", options.eps())
      .arg("elementwise_affine", options.elementwise_affine());
}
Tensor LayerNormImpl::forward(const Tensor& input) {
  return F::layer_norm(
      input, F::LayerNormFuncOptions(options.normalized_shape()).weight(weight).bias(bias).eps(options.eps()));
}

void GroupNormImpl::reset() {
  weight = bias = Tensor();
  if (options.affine()) {
    weight = register_parameter("weight", torch::empty(options.num_channels()));
    bias = register_parameter("bias", torch::empty(options.num_channels()));
  } else {
    register_parameter("weight", {}, false);
    register_parameter("bias", {}, false);
  }
  reset_parameters();
}
void GroupNormImpl::reset_parameters() {
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}
void GroupNormImpl::pretty_print(std::ostream& stream) const {
  Printed(stream, "GroupNorm")
      .bare(options.num_groups())
      .bare(options.num_channels())
      .arg("eps", options.eps())
      .arg("affine", options.affine());
}
Tensor GroupNormImpl::forward(const Tensor& input) {
  return F::group_norm(input,
                       F::GroupNormFuncOptions(options.num_groups()).weight(weight).bias(bias).eps(options.eps()));
}

void LocalResponseNormImpl::reset() {}
void LocalResponseNormImpl::pretty_print(std::ostream& stream) const {
  Printed(stream, "LocalResponseNorm")
      .bare(options.size())
      .arg("alpha", options.alpha())
      .arg("beta", options.beta())
      .arg("k", options.k());
}
Tensor LocalResponseNormImpl::forward(const Tensor& input) { return F::local_response_norm(input, options); }

void CrossMapLRN2dImpl::reset() {}
void CrossMapLRN2dImpl::pretty_print(std::ostream& stream) const {
  Printed(stream, "CrossMapLRN2d")
      .bare(options.size())
      .arg("alpha", options.alpha())
      .arg("beta", options.beta())
      .arg("k", options.k());
}
Tensor CrossMapLRN2dImpl::forward(const Tensor& input) {
  return F::local_response_norm(input, F::LocalResponseNormFuncOptions(options.size())
                                           .alpha(options.alpha())
                                           .beta(options.beta())
                                           .k(static_cast<double>(options.k())));
}

// --- Embeddings
namespace {

// A table that is given, or a new one.
Tensor table(Module& module, int64_t rows, int64_t columns, const Tensor& given, bool& is_given) {
  is_given = given.defined();
  if (!is_given) return module.register_parameter("weight", torch::empty({rows, columns}));
  TORCH_CHECK(given.sizes() == IntArrayRef({rows, columns}), "the weight of ", rows, " embeddings of ", columns,
              " numbers has these sizes; got ", given.sizes());
  return module.register_parameter("weight", given, given.requires_grad());
}
int64_t checked_padding(int64_t padding_idx, int64_t rows) {
  TORCH_CHECK(padding_idx >= -rows && padding_idx < rows, "padding_idx is one of ", rows, " rows; got ", padding_idx);
  return padding_idx < 0 ? padding_idx + rows : padding_idx;
}
void fill_table(Tensor& weight, const std::optional<int64_t>& padding_idx) {
  init::normal_(weight);
  if (!padding_idx) return;
  NoGradGuard no_grad;
  weight[*padding_idx].fill_(0);
}
template <class Options>
void print_size(Printed& text, const Options& options) {
  text.arg("num_embeddings", options.num_embeddings()).arg("embedding_dim", options.embedding_dim());
}
template <class Options>
void print_padding(Printed& text, const Options& options) {
  if (options.padding_idx()) text.arg("padding_idx", *options.padding_idx());
}
template <class Options>
void print_limits(Printed& text, const Options& options) {
  if (options.max_norm()) text.arg("max_norm", *options.max_norm());
  text.arg_unless("norm_type", options.norm_type(), 2.0)
      .arg_unless("scale_grad_by_freq", options.scale_grad_by_freq(), false)
      .arg_unless("sparse", options.sparse(), false);
}

}  // namespace

void EmbeddingImpl::reset() {
  if (options.padding_idx()) options.padding_idx(checked_padding(*options.padding_idx(), options.num_embeddings()));
  bool is_given = false;
  weight = table(*this, options.num_embeddings(), options.embedding_dim(), options._weight(), is_given);
  if (!is_given) reset_parameters();
}
void EmbeddingImpl::reset_parameters() { fill_table(weight, options.padding_idx()); }
void EmbeddingImpl::pretty_print(std::ostream& stream) const {
  Printed text(stream, "Embedding");
  print_size(text, options);
  print_padding(text, options);
  print_limits(text, options);
}
Tensor EmbeddingImpl::forward(const Tensor& indices) {
  return F::embedding(indices, weight,
                      F::EmbeddingFuncOptions()
                          .padding_idx(options.padding_idx())
                          .max_norm(options.max_norm())
                          .norm_type(options.norm_type())
                          .scale_grad_by_freq(options.scale_grad_by_freq())
                          .sparse(options.sparse()));
}
Embedding Embedding::from_pretrained(const torch::Tensor& embeddings, const EmbeddingFromPretrainedOptions& options) {
  TORCH_CHECK(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional; got ", embeddings.sizes());
  Embedding made(EmbeddingOptions(embeddings.size(0), embeddings.size(1))
                     ._weight(embeddings)
                     .padding_idx(options.padding_idx())
                     .max_norm(options.max_norm())
                     .norm_type(options.norm_type())
                     .scale_grad_by_freq(options.scale_grad_by_freq())
                     .sparse(options.sparse()));
  made->weight.set_requires_grad(!options.freeze());
  return made;
}

void EmbeddingBagImpl::reset() {
  if (options.padding_idx()) options.padding_idx(checked_padding(*options.padding_idx(), options.num_embeddings()));
  bool is_given = false;
  weight = table(*this, options.num_embeddings(), options.embedding_dim(), options._weight(), is_given);
  if (!is_given) reset_parameters();
}
void EmbeddingBagImpl::reset_parameters() { fill_table(weight, options.padding_idx()); }
void EmbeddingBagImpl::pretty_print(std::ostream& stream) const {
  Printed text(stream, "EmbeddingBag");
  print_size(text, options);
  print_limits(text, options);
  text.arg_unless("mode", enumtype::get_enum_name(options.mode()), std::string("kMean"))
      .arg_unless("include_last_offset", options.include_last_offset(), false);
  print_padding(text, options);
}
Tensor EmbeddingBagImpl::forward(const Tensor& input, const Tensor& offsets, const Tensor& per_sample_weights) {
  return F::embedding_bag(input, weight,
                          F::EmbeddingBagFuncOptions()
                              .offsets(offsets)
                              .max_norm(options.max_norm())
                              .norm_type(options.norm_type())
                              .scale_grad_by_freq(options.scale_grad_by_freq())
                              .mode(options.mode())
                              .sparse(options.sparse())
                              .per_sample_weights(per_sample_weights)
                              .include_last_offset(options.include_last_offset())
                              .padding_idx(options.padding_idx()));
}
EmbeddingBag EmbeddingBag::from_pretrained(const torch::Tensor& embeddings,
                                           const EmbeddingBagFromPretrainedOptions& options) {
  TORCH_CHECK(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional; got ", embeddings.sizes());
  EmbeddingBag made(EmbeddingBagOptions(embeddings.size(0), embeddings.size(1))
                        ._weight(embeddings)
                        .max_norm(options.max_norm())
                        .norm_type(options.norm_type())
                        .scale_grad_by_freq(options.scale_grad_by_freq())
                        .mode(options.mode())
                        .sparse(options.sparse())
                        .padding_idx(options.padding_idx()));
  made->weight.set_requires_grad(!options.freeze());
  return made;
}

// --- PReLU, attention
void PReLUImpl::reset() {
  weight = register_parameter("weight", torch::full({options.num_parameters()}, options.init()));
}
void PReLUImpl::pretty_print(std::ostream& stream) const {
  Printed(stream, "PReLU").arg("num_parameters", options.num_parameters());
}
Tensor PReLUImpl::forward(const Tensor& input) { return F::prelu(input, weight); }

void MultiheadAttentionImpl::reset() {
  const int64_t features = options.embed_dim();
  _qkv_same_embed_dim = options.kdim() == features && options.vdim() == features;
  head_dim = features / options.num_heads();
  TORCH_CHECK(head_dim * options.num_heads() == features,
              "MultiheadAttention: heads are equal parts of embed_dim; got ", features, " and ", options.num_heads());
  auto weight_of = [&](const char* name, bool is_there, IntArrayRef sizes) {
    return is_there ? register_parameter(name, torch::empty(sizes)) : register_parameter(name, {}, false);
  };
  in_proj_weight = weight_of("in_proj_weight", _qkv_same_embed_dim, {3 * features, features});
  if (!_qkv_same_embed_dim) {
    q_proj_weight = weight_of("q_proj_weight", true, {features, features});
    k_proj_weight = weight_of("k_proj_weight", true, {features, options.kdim()});
    v_proj_weight = weight_of("v_proj_weight", true, {features, options.vdim()});
  }
  in_proj_bias = weight_of("in_proj_bias", options.bias(), {3 * features});
  out_proj = register_module("out_proj", Linear(LinearOptions(features, features).bias(options.bias())));
  bias_k = bias_v = Tensor();
  if (options.add_bias_kv()) {
    bias_k = weight_of("bias_k", true, {1, 1, features});
    bias_v = weight_of("bias_v", true, {1, 1, features});
  }
  _reset_parameters();
}
void MultiheadAttentionImpl::_reset_parameters() {
  if (_qkv_same_embed_dim) {
    init::xavier_uniform_(in_proj_weight);
  } else {
    init::xavier_uniform_(q_proj_weight);
    init::xavier_uniform_(k_proj_weight);
    init::xavier_uniform_(v_proj_weight);
  }
  if (in_proj_bias.defined()) {
    init::constant_(in_proj_bias, 0.);
    init::constant_(out_proj->bias, 0.);
  }
  if (bias_k.defined()) init::xavier_normal_(bias_k);
  if (bias_v.defined()) init::xavier_normal_(bias_v);
}
std::tuple<Tensor, Tensor> MultiheadAttentionImpl::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                           const Tensor& key_padding_mask, bool need_weights,
                                                           const Tensor& attn_mask, bool average_attn_weights) {
  auto o = F::MultiheadAttentionForwardFuncOptions(options.embed_dim(), options.num_heads(), in_proj_weight,
                                                   in_proj_bias, bias_k, bias_v, options.add_zero_attn(),
                                                   options.dropout(), out_proj->weight, out_proj->bias)
               .training(is_training())
               .key_padding_mask(key_padding_mask)
               .need_weights(need_weights)
               .attn_mask(attn_mask)
               .average_attn_weights(average_attn_weights);
  if (!_qkv_same_embed_dim)
    o.use_separate_proj_weight(true)
        .q_proj_weight(q_proj_weight)
        .k_proj_weight(k_proj_weight)
        .v_proj_weight(v_proj_weight);
  return F::multi_head_attention_forward(query, key, value, o);
}

}  // namespace torch::nn
