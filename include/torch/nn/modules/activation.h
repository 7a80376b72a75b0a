// Activations.
#pragma once
#include <torch/nn/functional/activation.h>
#include <torch/nn/modules/linear.h>

namespace torch::nn {

TAEDA_PLAIN_MODULE(ELU, const Tensor& input);
TAEDA_PLAIN_MODULE(SELU, const Tensor& input);
TAEDA_PLAIN_MODULE(CELU, const Tensor& input);
TAEDA_PLAIN_MODULE(GLU, const Tensor& input);
TAEDA_PLAIN_MODULE(GELU, const Tensor& input);
TAEDA_PLAIN_MODULE(Hardshrink, const Tensor& input);
TAEDA_PLAIN_MODULE(Hardtanh, const Tensor& input);
TAEDA_PLAIN_MODULE(LeakyReLU, const Tensor& input);
TAEDA_PLAIN_MODULE(Softmax, const Tensor& input);
TAEDA_PLAIN_MODULE(Softmin, const Tensor& input);
TAEDA_PLAIN_MODULE(LogSoftmax, const Tensor& input);
TAEDA_PLAIN_MODULE(ReLU, const Tensor& input);
TAEDA_PLAIN_MODULE(ReLU6, const Tensor& input);
TAEDA_PLAIN_MODULE(RReLU, const Tensor& input);
TAEDA_PLAIN_MODULE(Softplus, const Tensor& input);
TAEDA_PLAIN_MODULE(Softshrink, const Tensor& input);
TAEDA_PLAIN_MODULE(Threshold, const Tensor& input);
TAEDA_BARE_MODULE(LogSigmoid, const Tensor& input);
TAEDA_BARE_MODULE(Softmax2d, const Tensor& input);
TAEDA_BARE_MODULE(Sigmoid, const Tensor& input);
TAEDA_BARE_MODULE(Softsign, const Tensor& input);
TAEDA_BARE_MODULE(Tanh, const Tensor& input);
TAEDA_BARE_MODULE(Tanhshrink, const Tensor& input);
TAEDA_BARE_MODULE(SiLU, const Tensor& input);
TAEDA_BARE_MODULE(Mish, const Tensor& input);

class TORCH_API PReLUImpl : public Cloneable<PReLUImpl> {
 public:
  TAEDA_MADE_OF(PReLU);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
  Tensor weight;
};
TORCH_MODULE(PReLU);

// Attention of several heads over (length, batch, features).
class TORCH_API MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl> {
 public:
  TAEDA_MADE_OF(MultiheadAttention);
  void reset() override;
  void _reset_parameters();
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::MultiheadAttention"; }
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const Tensor& key_padding_mask = {}, bool need_weights = true,
                                     const Tensor& attn_mask = {}, bool average_attn_weights = true);

  bool _qkv_same_embed_dim = true;
  Tensor in_proj_weight, in_proj_bias;
  Linear out_proj = nullptr;
  Tensor bias_k, bias_v;
  int64_t head_dim = 0;
  Tensor q_proj_weight, k_proj_weight, v_proj_weight;

 protected:
  TAEDA_DEFAULT_ARGS;
};
TORCH_MODULE(MultiheadAttention);

}  // namespace torch::nn
