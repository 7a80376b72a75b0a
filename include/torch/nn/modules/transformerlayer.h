// One layer of a transformer's encoder or decoder.
#pragma once
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/normalization.h>

namespace torch::nn {

using TransformerActivation = std::variant<enumtype::kReLU, enumtype::kGELU, std::function<Tensor(const Tensor&)>>;

#define TAEDA_TRANSFORMER_LAYER_OPTIONS(Name)        \
  struct Name {                                      \
    using activation_t = TransformerActivation;      \
    TORCH_API Name(int64_t d_model, int64_t nhead);  \
    TORCH_ARG(int64_t, d_model);                     \
    TORCH_ARG(int64_t, nhead);                       \
    TORCH_ARG(int64_t, dim_feedforward) = 2048;      \
    TORCH_ARG(double, dropout) = 0.1;                \
    TORCH_ARG(activation_t, activation); /* kReLU */ \
  }
TAEDA_TRANSFORMER_LAYER_OPTIONS(TransformerEncoderLayerOptions);
TAEDA_TRANSFORMER_LAYER_OPTIONS(TransformerDecoderLayerOptions);
#undef TAEDA_TRANSFORMER_LAYER_OPTIONS

class TORCH_API TransformerEncoderLayerImpl : public Cloneable<TransformerEncoderLayerImpl> {
 public:
  TAEDA_MADE_OF(TransformerEncoderLayer);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {});

  MultiheadAttention self_attn = nullptr;
  Linear linear1 = nullptr;
  Dropout dropout = nullptr;
  Linear linear2 = nullptr;
  LayerNorm norm1 = nullptr, norm2 = nullptr;
  Dropout dropout1 = nullptr, dropout2 = nullptr;

 protected:
  TAEDA_DEFAULT_ARGS;
};
TORCH_MODULE(TransformerEncoderLayer);

class TORCH_API TransformerDecoderLayerImpl : public Cloneable<TransformerDecoderLayerImpl> {
 public:
  TAEDA_MADE_OF(TransformerDecoderLayer);
  void reset() override;
  void reset_parameters();
  Tensor forward(Tensor tgt, const Tensor& memory, const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {});

  MultiheadAttention self_attn = nullptr;
  Dropout dropout1 = nullptr;
  LayerNorm norm1 = nullptr;
  MultiheadAttention multihead_attn = nullptr;
  Dropout dropout2 = nullptr;
  LayerNorm norm2 = nullptr;
  Linear linear1 = nullptr;
  Dropout dropout = nullptr;
  Linear linear2 = nullptr;
  Dropout dropout3 = nullptr;
  LayerNorm norm3 = nullptr;

 protected:
  TAEDA_DEFAULT_ARGS;
};
TORCH_MODULE(TransformerDecoderLayer);

}  // namespace torch::nn
