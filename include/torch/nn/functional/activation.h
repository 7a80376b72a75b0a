// Activations as functions, and their options.
#pragma once
#include <torch/nn/options_base.h>

namespace torch::nn {

struct ELUOptions {
  TORCH_ARG(double, alpha) = 1.0;
  TORCH_ARG(bool, inplace) = false;
};
struct SELUOptions {
  SELUOptions(bool inplace = false) : inplace_(inplace) {}
  TORCH_ARG(bool, inplace);
};
struct CELUOptions {
  TORCH_ARG(double, alpha) = 1.0;
  TORCH_ARG(bool, inplace) = false;
};
struct GLUOptions {
  GLUOptions(int64_t dim = -1) : dim_(dim) {}
  TORCH_ARG(int64_t, dim);
};
struct GELUOptions {
  TORCH_ARG(std::string, approximate) = "none";
};
struct HardshrinkOptions {
  HardshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  TORCH_ARG(double, lambda);
};
struct HardtanhOptions {
  TORCH_ARG(double, min_val) = -1.0;
  TORCH_ARG(double, max_val) = 1.0;
  TORCH_ARG(bool, inplace) = false;
};
struct LeakyReLUOptions {
  TORCH_ARG(double, negative_slope) = 1e-2;
  TORCH_ARG(bool, inplace) = false;
};
// Of softmax, softmin and log_softmax: the dimension, and as functions the dtype to compute in.
#define TAEDA_SOFTMAX_OPTIONS(Name)                               \
  struct Name##Options {                                          \
    TAEDA_OPTIONS_OF(Name##Options, int64_t, dim)                 \
    TORCH_ARG(int64_t, dim);                                      \
  };                                                              \
  namespace functional {                                          \
  struct Name##FuncOptions {                                      \
    TAEDA_OPTIONS_OF(Name##FuncOptions, int64_t, dim)             \
    TORCH_ARG(int64_t, dim);                                      \
    TORCH_ARG(std::optional<torch::Dtype>, dtype) = std::nullopt; \
  };                                                              \
  }
TAEDA_SOFTMAX_OPTIONS(Softmax)
TAEDA_SOFTMAX_OPTIONS(Softmin)
TAEDA_SOFTMAX_OPTIONS(LogSoftmax)
#undef TAEDA_SOFTMAX_OPTIONS
struct PReLUOptions {
  TORCH_ARG(int64_t, num_parameters) = 1;
  TORCH_ARG(double, init) = 0.25;
};
struct ReLUOptions {
  ReLUOptions(bool inplace = false) : inplace_(inplace) {}
  TORCH_ARG(bool, inplace);
};
struct ReLU6Options {
  ReLU6Options(bool inplace = false) : inplace_(inplace) {}
  TORCH_ARG(bool, inplace);
};
struct RReLUOptions {
  TORCH_ARG(double, lower) = 1.0 / 8.0;
  TORCH_ARG(double, upper) = 1.0 / 3.0;
  TORCH_ARG(bool, inplace) = false;
};
struct SoftplusOptions {
  TORCH_ARG(double, beta) = 1.0;
  TORCH_ARG(double, threshold) = 20.0;
};
struct SoftshrinkOptions {
  SoftshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  TORCH_ARG(double, lambda);
};
struct ThresholdOptions {
  ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value) {}
  TORCH_ARG(double, threshold);
  TORCH_ARG(double, value);
  TORCH_ARG(bool, inplace) = false;
};
struct MultiheadAttentionOptions {
  MultiheadAttentionOptions(int64_t embed_dim, int64_t num_heads)
      : embed_dim_(embed_dim), num_heads_(num_heads), kdim_(embed_dim), vdim_(embed_dim) {}
  TORCH_ARG(int64_t, embed_dim);
  TORCH_ARG(int64_t, num_heads);
  TORCH_ARG(double, dropout) = 0.0;
  TORCH_ARG(bool, bias) = true;
  TORCH_ARG(bool, add_bias_kv) = false;
  TORCH_ARG(bool, add_zero_attn) = false;
  TORCH_ARG(int64_t, kdim);
  TORCH_ARG(int64_t, vdim);
};

namespace functional {

using ELUFuncOptions = ELUOptions;
using SELUFuncOptions = SELUOptions;
using CELUFuncOptions = CELUOptions;
using GLUFuncOptions = GLUOptions;
using GELUFuncOptions = GELUOptions;
using HardshrinkFuncOptions = HardshrinkOptions;
using HardtanhFuncOptions = HardtanhOptions;
using LeakyReLUFuncOptions = LeakyReLUOptions;
using ReLUFuncOptions = ReLUOptions;
using ReLU6FuncOptions = ReLU6Options;
using SoftplusFuncOptions = SoftplusOptions;
using SoftshrinkFuncOptions = SoftshrinkOptions;
using ThresholdFuncOptions = ThresholdOptions;
struct RReLUFuncOptions {
  TORCH_ARG(double, lower) = 1.0 / 8.0;
  TORCH_ARG(double, upper) = 1.0 / 3.0;
  TORCH_ARG(bool, training) = false;
  TORCH_ARG(bool, inplace) = false;
};
struct GumbelSoftmaxFuncOptions {
  TORCH_ARG(double, tau) = 1.0;
  TORCH_ARG(bool, hard) = false;
  TORCH_ARG(int, dim) = -1;
};
struct MultiheadAttentionForwardFuncOptions {
  MultiheadAttentionForwardFuncOptions(int64_t embed_dim_to_check, int64_t num_heads, Tensor in_proj_weight,
                                       Tensor in_proj_bias, Tensor bias_k, Tensor bias_v, bool add_zero_attn,
                                       double dropout_p, Tensor out_proj_weight, Tensor out_proj_bias)
      : embed_dim_to_check_(embed_dim_to_check),
        num_heads_(num_heads),
        in_proj_weight_(std::move(in_proj_weight)),
        in_proj_bias_(std::move(in_proj_bias)),
        bias_k_(std::move(bias_k)),
        bias_v_(std::move(bias_v)),
        add_zero_attn_(add_zero_attn),
        dropout_p_(dropout_p),
        out_proj_weight_(std::move(out_proj_weight)),
        out_proj_bias_(std::move(out_proj_bias)) {}
  TORCH_ARG(int64_t, embed_dim_to_check);
  TORCH_ARG(int64_t, num_heads);
  TORCH_ARG(Tensor, in_proj_weight);
  TORCH_ARG(Tensor, in_proj_bias);
  TORCH_ARG(Tensor, bias_k);
  TORCH_ARG(Tensor, bias_v);
  TORCH_ARG(bool, add_zero_attn);
  TORCH_ARG(double, dropout_p);
  TORCH_ARG(Tensor, out_proj_weight);
  TORCH_ARG(Tensor, out_proj_bias);
  TORCH_ARG(bool, training) = true;
  TORCH_ARG(Tensor, key_padding_mask) = {};
  TORCH_ARG(bool, need_weights) = true;
  TORCH_ARG(Tensor, attn_mask) = {};
  TORCH_ARG(bool, use_separate_proj_weight) = false;
  TORCH_ARG(Tensor, q_proj_weight) = {};
  TORCH_ARG(Tensor, k_proj_weight) = {};
  TORCH_ARG(Tensor, v_proj_weight) = {};
  TORCH_ARG(Tensor, static_k) = {};
  TORCH_ARG(Tensor, static_v) = {};
  TORCH_ARG(bool, average_attn_weights) = true;
};

TORCH_API Tensor elu(const Tensor& input, const ELUFuncOptions& options = {});
TORCH_API Tensor selu(const Tensor& input, const SELUFuncOptions& options = {});
TORCH_API Tensor celu(const Tensor& input, const CELUFuncOptions& options = {});
TORCH_API Tensor glu(const Tensor& input, const GLUFuncOptions& options = {});
TORCH_API Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {});
TORCH_API Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options = {});
TORCH_API Tensor hardtanh(const Tensor& input, const HardtanhFuncOptions& options = {});
TORCH_API Tensor leaky_relu(const Tensor& input, const LeakyReLUFuncOptions& options = {});
TORCH_API Tensor logsigmoid(const Tensor& input);
TORCH_API Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options = {});
TORCH_API Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options);
TORCH_API Tensor softmin(const Tensor& input, const SoftminFuncOptions& options);
TORCH_API Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options);
TORCH_API Tensor silu(const Tensor& input);
TORCH_API Tensor mish(const Tensor& input);
TORCH_API Tensor prelu(const Tensor& input, const Tensor& weight);
TORCH_API Tensor relu(const Tensor& input, const ReLUFuncOptions& options = {});
TORCH_API Tensor relu6(const Tensor& input, const ReLU6FuncOptions& options = {});
TORCH_API Tensor rrelu(const Tensor& input, const RReLUFuncOptions& options = {});
TORCH_API Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options = {});
TORCH_API Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options = {});
TORCH_API Tensor softsign(const Tensor& input);
TORCH_API Tensor tanhshrink(const Tensor& input);
TORCH_API Tensor threshold(const Tensor& input, const ThresholdFuncOptions& options);
// The result and, if asked for, the weights of attention.
TORCH_API std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key,
                                                                  const Tensor& value,
                                                                  const MultiheadAttentionForwardFuncOptions& options);

}  // namespace functional
}  // namespace torch::nn
