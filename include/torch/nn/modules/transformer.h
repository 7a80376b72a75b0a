// A transformer: an encoder, and a decoder that attends to what it made.
#pragma once
#include <torch/nn/modules/transformercoder.h>

namespace torch::nn {

struct TransformerOptions {
  using activation_t = TransformerActivation;
  TORCH_API TransformerOptions();
  TORCH_API TransformerOptions(int64_t d_model, int64_t nhead);
  TORCH_API TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers, int64_t num_decoder_layers);
  TORCH_ARG(int64_t, d_model);
  TORCH_ARG(int64_t, nhead);
  TORCH_ARG(int64_t, num_encoder_layers);
  TORCH_ARG(int64_t, num_decoder_layers);
  TORCH_ARG(int64_t, dim_feedforward) = 2048;
  TORCH_ARG(double, dropout) = 0.1;
  TORCH_ARG(activation_t, activation);  // kReLU
  TORCH_ARG(AnyModule, custom_encoder) = {};
  TORCH_ARG(AnyModule, custom_decoder) = {};
};

class TORCH_API TransformerImpl : public Cloneable<TransformerImpl> {
 public:
  TAEDA_MADE_OF(Transformer);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask = {}, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& src_key_padding_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {});
  // (sz, sz): 0 where a place may be looked at, -inf after it.
  static Tensor generate_square_subsequent_mask(int64_t sz);
  AnyModule encoder, decoder;

 protected:
  TAEDA_DEFAULT_ARGS;
};
TORCH_MODULE(Transformer);

}  // namespace torch::nn
