// A transformer's encoder and decoder: layers one after another.
#pragma once
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/transformerlayer.h>

namespace torch::nn {

struct TransformerEncoderOptions {
  TORCH_API TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers);
  TORCH_API TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options, int64_t num_layers);
  TORCH_ARG(TransformerEncoderLayer, encoder_layer) = nullptr;
  TORCH_ARG(int64_t, num_layers);
  TORCH_ARG(AnyModule, norm) = {};
};
struct TransformerDecoderOptions {
  TORCH_API TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers);
  TORCH_API TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options, int64_t num_layers);
  TORCH_ARG(TransformerDecoderLayer, decoder_layer) = nullptr;
  TORCH_ARG(int64_t, num_layers);
  TORCH_ARG(AnyModule, norm) = {};
};

class TORCH_API TransformerEncoderImpl : public Cloneable<TransformerEncoderImpl> {
 public:
  TAEDA_MADE_OF(TransformerEncoder);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {});
  ModuleList layers = nullptr;

 protected:
  TAEDA_DEFAULT_ARGS;
};
TORCH_MODULE(TransformerEncoder);

class TORCH_API TransformerDecoderImpl : public Cloneable<TransformerDecoderImpl> {
 public:
  TAEDA_MADE_OF(TransformerDecoder);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {});
  ModuleList layers = nullptr;

 protected:
  TAEDA_DEFAULT_ARGS;
};
TORCH_MODULE(TransformerDecoder);

}  // namespace torch::nn
