#include <torch/nn/modules/transformer.h>

#include <torch/nn/init.h>

namespace torch::nn {

// Here, so that programs without a transformer do not compile how its activation is made.
TransformerEncoderLayerOptions::TransformerEncoderLayerOptions(int64_t d_model, int64_t nhead)
    : d_model_(d_model), nhead_(nhead), activation_(torch::kReLU) {}
TransformerDecoderLayerOptions::TransformerDecoderLayerOptions(int64_t d_model, int64_t nhead)
    : d_model_(d_model), nhead_(nhead), activation_(torch::kReLU) {}
TransformerOptions::TransformerOptions() : TransformerOptions(512, 8) {}
TransformerOptions::TransformerOptions(int64_t d_model, int64_t nhead) : TransformerOptions(d_model, nhead, 6, 6) {}
TransformerOptions::TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers,
                                       int64_t num_decoder_layers)
    : d_model_(d_model),
      nhead_(nhead),
      num_encoder_layers_(num_encoder_layers),
      num_decoder_layers_(num_decoder_layers),
      activation_(torch::kReLU) {}

TransformerEncoderOptions::TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers)
    : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}
TransformerEncoderOptions::TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options,
                                                     int64_t num_layers)
    : encoder_layer_(encoder_layer_options), num_layers_(num_layers) {}
TransformerDecoderOptions::TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers)
    : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}
TransformerDecoderOptions::TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options,
                                                     int64_t num_layers)
    : decoder_layer_(decoder_layer_options), num_layers_(num_layers) {}

namespace F = functional;

namespace {

Tensor activated(const Tensor& x, const TransformerActivation& activation) {
  if (std::holds_alternative<enumtype::kGELU>(activation)) return F::gelu(x);
  if (std::holds_alternative<enumtype::kReLU>(activation)) return F::relu(x);
  return std::get<std::function<Tensor(const Tensor&)>>(activation)(x);
}
MultiheadAttention attention(int64_t features, int64_t heads, double dropout) {
  return MultiheadAttention(MultiheadAttentionOptions(features, heads).dropout(dropout));
}
LayerNorm norm_of(int64_t features) { return LayerNorm(LayerNormOptions({features})); }

}  // namespace

// --- layers
void TransformerEncoderLayerImpl::reset() {
  const int64_t features = options.d_model();
  self_attn = register_module("self_attn", attention(features, options.nhead(), options.dropout()));
  linear1 = register_module("linear1", Linear(features, options.dim_feedforward()));
  dropout = register_module("dropout", Dropout(options.dropout()));
  linear2 = register_module("linear2", Linear(options.dim_feedforward(), features));
  norm1 = register_module("norm1", norm_of(features));
  norm2 = register_module("norm2", norm_of(features));
  dropout1 = register_module("dropout1", Dropout(options.dropout()));
  dropout2 = register_module("dropout2", Dropout(options.dropout()));
}
void TransformerEncoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  linear1->reset_parameters();
  linear2->reset_parameters();
  norm1->reset_parameters();
  norm2->reset_parameters();
}
Tensor TransformerEncoderLayerImpl::forward(const Tensor& src, const Tensor& src_mask,
                                            const Tensor& src_key_padding_mask) {
  Tensor seen = std::get<0>(self_attn(src, src, src, src_key_padding_mask, true, src_mask));
  Tensor x = norm1(src + dropout1(seen));
  return norm2(x + dropout2(linear2(dropout(activated(linear1(x), options.activation())))));
}

void TransformerDecoderLayerImpl::reset() {
  const int64_t features = options.d_model();
  self_attn = register_module("self_attn", attention(features, options.nhead(), options.dropout()));
  multihead_attn = register_module("multihead_attn", attention(features, options.nhead(), options.dropout()));
  linear1 = register_module("linear1", Linear(features, options.dim_feedforward()));
  dropout = register_module("dropout", Dropout(options.dropout()));
  linear2 = register_module("linear2", Linear(options.dim_feedforward(), features));
  norm1 = register_module("norm1", norm_of(features));
  norm2 = register_module("norm2", norm_of(features));
  norm3 = register_module("norm3", norm_of(features));
  dropout1 = register_module("dropout1", Dropout(options.dropout()));
  dropout2 = register_module("dropout2", Dropout(options.dropout()));
  dropout3 = register_module("dropout3", Dropout(options.dropout()));
}
void TransformerDecoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  multihead_attn->_reset_parameters();
  linear1->reset_parameters();
  linear2->reset_parameters();
  for (LayerNorm* norm : {&norm1, &norm2, &norm3}) (*norm)->reset_parameters();
}
Tensor TransformerDecoderLayerImpl::forward(Tensor tgt, const Tensor& memory, const Tensor& tgt_mask,
                                            const Tensor& memory_mask, const Tensor& tgt_key_padding_mask,
                                            const Tensor& memory_key_padding_mask) {
  Tensor own = std::get<0>(self_attn(tgt, tgt, tgt, tgt_key_padding_mask, false, tgt_mask));
  tgt = norm1(tgt + dropout1(own));
  Tensor seen = std::get<0>(multihead_attn(tgt, memory, memory, memory_key_padding_mask, false, memory_mask));
  tgt = norm2(tgt + dropout2(seen));
  return norm3(tgt + dropout3(linear2(dropout(activated(linear1(tgt), options.activation())))));
}

// --- stacks
namespace {

// Copies of a layer, each with the same first values.
template <class Owner, class Layer>
ModuleList copies(Owner& owner, const Layer& layer, int64_t count, const AnyModule& norm) {
  ModuleList layers = owner.register_module("layers", ModuleList());
  for (int64_t i = 0; i < count; ++i) layers->push_back(layer->clone());
  if (!norm.is_empty()) owner.register_module("norm", norm.ptr());
  return layers;
}

}  // namespace

void TransformerEncoderImpl::reset() {
  options.norm(options.norm().clone());
  layers = copies(*this, options.encoder_layer(), options.num_layers(), options.norm());
}
void TransformerEncoderImpl::reset_parameters() {
  TORCH_CHECK(!layers->is_empty(), "TransformerEncoder: num_layers is at least 1; got 0");
  for (size_t i = 0; i < layers->size(); ++i) layers->at<TransformerEncoderLayerImpl>(i).reset_parameters();
}
Tensor TransformerEncoderImpl::forward(const Tensor& src, const Tensor& src_mask, const Tensor& src_key_padding_mask) {
  TORCH_CHECK(!layers->is_empty(), "TransformerEncoder: num_layers is at least 1; got 0");
  Tensor output = src;
  for (size_t i = 0; i < layers->size(); ++i)
    output = layers->at<TransformerEncoderLayerImpl>(i).forward(output, src_mask, src_key_padding_mask);
  return options.norm().is_empty() ? output : options.norm().forward<Tensor>(output);
}

void TransformerDecoderImpl::reset() {
  options.norm(options.norm().clone());
  layers = copies(*this, options.decoder_layer(), options.num_layers(), options.norm());
}
void TransformerDecoderImpl::reset_parameters() {
  TORCH_CHECK(!layers->is_empty(), "TransformerDecoder: num_layers is at least 1; got 0");
  for (size_t i = 0; i < layers->size(); ++i) layers->at<TransformerDecoderLayerImpl>(i).reset_parameters();
}
Tensor TransformerDecoderImpl::forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask,
                                       const Tensor& memory_mask, const Tensor& tgt_key_padding_mask,
                                       const Tensor& memory_key_padding_mask) {
  TORCH_CHECK(!layers->is_empty(), "TransformerDecoder: num_layers is at least 1; got 0");
  Tensor output = tgt;
  for (size_t i = 0; i < layers->size(); ++i)
    output = layers->at<TransformerDecoderLayerImpl>(i).forward(output, memory, tgt_mask, memory_mask,
                                                                tgt_key_padding_mask, memory_key_padding_mask);
  return options.norm().is_empty() ? output : options.norm().forward<Tensor>(output);
}

// --- both
void TransformerImpl::reset() {
  auto layer_options = [&](auto made) {
    return made.dim_feedforward(options.dim_feedforward()).dropout(options.dropout()).activation(options.activation());
  };
  if (options.custom_encoder().is_empty()) {
    TransformerEncoderLayer layer(layer_options(TransformerEncoderLayerOptions(options.d_model(), options.nhead())));
    encoder = AnyModule(TransformerEncoder(
        TransformerEncoderOptions(layer, options.num_encoder_layers()).norm(AnyModule(norm_of(options.d_model())))));
  } else {
    encoder = options.custom_encoder().clone();
  }
  register_module("encoder", encoder.ptr());
  if (options.custom_decoder().is_empty()) {
    TransformerDecoderLayer layer(layer_options(TransformerDecoderLayerOptions(options.d_model(), options.nhead())));
    decoder = AnyModule(TransformerDecoder(
        TransformerDecoderOptions(layer, options.num_decoder_layers()).norm(AnyModule(norm_of(options.d_model())))));
  } else {
    decoder = options.custom_decoder().clone();
  }
  register_module("decoder", decoder.ptr());
  reset_parameters();
}
void TransformerImpl::reset_parameters() {
  for (Tensor& parameter : parameters())
    if (parameter.dim() > 1) init::xavier_uniform_(parameter);
}
Tensor TransformerImpl::forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask, const Tensor& tgt_mask,
                                const Tensor& memory_mask, const Tensor& src_key_padding_mask,
                                const Tensor& tgt_key_padding_mask, const Tensor& memory_key_padding_mask) {
  TORCH_CHECK(src.dim() == 3 && tgt.dim() == 3, "Transformer: src and tgt are (length, batch, features); got sizes ",
              src.sizes(), " and ", tgt.sizes());
  TORCH_CHECK(src.size(1) == tgt.size(1), "Transformer: src and tgt are of one batch (dimension 1); got sizes ",
              src.sizes(), " and ", tgt.sizes());
  TORCH_CHECK(src.size(2) == options.d_model() && tgt.size(2) == options.d_model(),
              "Transformer: src and tgt have d_model features, ", options.d_model(), " (dimension 2); got sizes ",
              src.sizes(), " and ", tgt.sizes());
  Tensor memory = encoder.forward<Tensor>(src, src_mask, src_key_padding_mask);
  return decoder.forward<Tensor>(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
}
Tensor TransformerImpl::generate_square_subsequent_mask(int64_t sz) {
  return torch::triu(torch::full({sz, sz}, -std::numeric_limits<float>::infinity()), 1);
}

}  // namespace torch::nn
