#include <torch/nn/functional/activation.h>

#include <torch/nn/functional/dropout.h>
#include <torch/nn/functional/linear.h>

namespace torch::nn::functional {

// In place where the options say so: `name` or `name_` of the input and what follows.
#define TAEDA_MAYBE_INPLACE(name, ...) \
  Tensor self = input;                 \
  return options.inplace() ? at::name##_(self __VA_OPT__(, ) __VA_ARGS__) : at::name(self __VA_OPT__(, ) __VA_ARGS__)

Tensor elu(const Tensor& input, const ELUFuncOptions& options) { TAEDA_MAYBE_INPLACE(elu, options.alpha()); }
Tensor selu(const Tensor& input, const SELUFuncOptions& options) { TAEDA_MAYBE_INPLACE(selu); }
Tensor celu(const Tensor& input, const CELUFuncOptions& options) { TAEDA_MAYBE_INPLACE(celu, options.alpha()); }
Tensor hardtanh(const Tensor& input, const HardtanhFuncOptions& options) {
  TAEDA_MAYBE_INPLACE(hardtanh, options.min_val(), options.max_val());
}
Tensor leaky_relu(const Tensor& input, const LeakyReLUFuncOptions& options) {
  TAEDA_MAYBE_INPLACE(leaky_relu, options.negative_slope());
}
Tensor relu(const Tensor& input, const ReLUFuncOptions& options) { TAEDA_MAYBE_INPLACE(relu); }
Tensor relu6(const Tensor& input, const ReLU6FuncOptions& options) { TAEDA_MAYBE_INPLACE(relu6); }
Tensor rrelu(const Tensor& input, const RReLUFuncOptions& options) {
  TAEDA_MAYBE_INPLACE(rrelu, options.lower(), options.upper(), options.training());
}
Tensor threshold(const Tensor& input, const ThresholdFuncOptions& options) {
  TAEDA_MAYBE_INPLACE(threshold, options.threshold(), options.value());
}
#undef TAEDA_MAYBE_INPLACE

Tensor glu(const Tensor& input, const GLUFuncOptions& options) {
  TORCH_CHECK(input.dim() > 0, "glu: halves a dimension, which a scalar has not");
  return at::glu(input, options.dim());
}
Tensor gelu(const Tensor& input, const GELUFuncOptions& options) { return at::gelu(input, options.approximate()); }
Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options) {
  return at::hardshrink(input, options.lambda());
}
Tensor logsigmoid(const Tensor& input) { return at::log_sigmoid(input); }
Tensor silu(const Tensor& input) { return at::silu(input); }
Tensor mish(const Tensor& input) { return at::mish(input); }
Tensor prelu(const Tensor& input, const Tensor& weight) { return at::prelu(input, weight); }
Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options) {
  return at::softplus(input, options.beta(), options.threshold());
}
Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options) {
  return at::softshrink(input, options.lambda());
}
Tensor softsign(const Tensor& input) { return input / (input.abs() + 1); }
Tensor tanhshrink(const Tensor& input) { return input - input.tanh(); }

Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options) {
  return at::softmax(input, options.dim(), options.dtype());
}
Tensor softmin(const Tensor& input, const SoftminFuncOptions& options) {
  return at::softmax(-input, options.dim(), options.dtype());
}
Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options) {
  return at::log_softmax(input, options.dim(), options.dtype());
}

// Jang et al., Categorical reparameterization with Gumbel-softmax.
Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options) {
  Tensor noise = -at::empty_like(logits).exponential_().log();
  Tensor soft = ((logits + noise) / options.tau()).softmax(options.dim());
  if (!options.hard()) return soft;
  Tensor index = std::get<1>(soft.max(options.dim(), true));
  Tensor hard = at::zeros_like(logits).scatter_(options.dim(), index, 1.0);
  return hard - soft.detach() + soft;
}

// --- attention
namespace {

struct Projected {
  Tensor q, k, v;
};

// Queries, keys and values: by one weight for all where they come from the same features, else by three.
Projected project(const Tensor& query, const Tensor& key, const Tensor& value,
                  const MultiheadAttentionForwardFuncOptions& o) {
  const Tensor& bias = o.in_proj_bias();
  auto bias_part = [&](int64_t i) { return bias.defined() ? bias.chunk(3)[static_cast<size_t>(i)] : Tensor(); };
  if (o.use_separate_proj_weight())
    return {linear(query, o.q_proj_weight(), bias_part(0)), linear(key, o.k_proj_weight(), bias_part(1)),
            linear(value, o.v_proj_weight(), bias_part(2))};
  if (query.is_same(key) && key.is_same(value)) {
    std::vector<Tensor> parts = linear(query, o.in_proj_weight(), bias).chunk(3, -1);
    return {parts[0], parts[1], parts[2]};
  }
  std::vector<Tensor> weights = o.in_proj_weight().chunk(3);
  return {linear(query, weights[0], bias_part(0)), linear(key, weights[1], bias_part(1)),
          linear(value, weights[2], bias_part(2))};
}

// One more column for what was appended to the keys.
Tensor widened(const Tensor& mask) { return mask.defined() ? at::constant_pad_nd(mask, {0, 1}) : mask; }

}  // namespace

std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                        const MultiheadAttentionForwardFuncOptions& o) {
  TORCH_CHECK(query.dim() == 3, "multi_head_attention_forward: query must be (length, batch, features); got ",
              query.sizes());
  const int64_t length = query.size(0), batch = query.size(1), features = query.size(2), heads = o.num_heads();
  TORCH_CHECK(features == o.embed_dim_to_check(), "multi_head_attention_forward: query has ", features,
              " features; expected ", o.embed_dim_to_check());
  TORCH_CHECK(key.sizes() == value.sizes() || key.size(0) == value.size(0),
              "multi_head_attention_forward: key and value must have the same length; got ", key.sizes(), " and ",
              value.sizes());
  TORCH_CHECK(features % heads == 0, "multi_head_attention_forward: heads are equal parts of embed_dim; got ", features,
              " and ", heads);
  const int64_t head_dim = features / heads;

  auto [q, k, v] = project(query, key, value, o);
  Tensor attn_mask = o.attn_mask(), padding_mask = o.key_padding_mask();
  if (o.bias_k().defined() && o.bias_v().defined()) {
    TORCH_CHECK(!o.static_k().defined() && !o.static_v().defined(),
                "multi_head_attention_forward: a bias cannot be added to ",
                o.static_k().defined() ? "static_k" : "static_v", ", which stands for the keys as they are");
    k = at::cat({k, o.bias_k().repeat({1, batch, 1})});
    v = at::cat({v, o.bias_v().repeat({1, batch, 1})});
    attn_mask = widened(attn_mask);
    padding_mask = widened(padding_mask);
  }
  auto by_head = [&](const Tensor& t) { return t.contiguous().view({-1, batch * heads, head_dim}).transpose(0, 1); };
  q = by_head(q * (1 / std::sqrt(static_cast<double>(head_dim))));
  k = o.static_k().defined() ? o.static_k() : by_head(k);
  v = o.static_v().defined() ? o.static_v() : by_head(v);
  if (o.add_zero_attn()) {
    Tensor zeros = at::zeros({batch * heads, 1, head_dim}, k.options());
    k = at::cat({k, zeros}, 1);
    v = at::cat({v, zeros}, 1);
    attn_mask = widened(attn_mask);
    padding_mask = widened(padding_mask);
  }
  const int64_t source = k.size(1);

  Tensor weights = at::bmm(q, k.transpose(1, 2));
  if (attn_mask.defined()) {
    if (attn_mask.dim() == 2) attn_mask = attn_mask.unsqueeze(0);
    weights = attn_mask.scalar_type() == kBool ? weights.masked_fill(attn_mask, -INFINITY) : weights + attn_mask;
  }
  if (padding_mask.defined()) {
    Tensor hidden = padding_mask.to(kBool).unsqueeze(1).unsqueeze(2);
    weights = weights.view({batch, heads, length, source}).masked_fill(hidden, -INFINITY).view({-1, length, source});
  }
  weights = at::softmax(weights, -1);
  weights = dropout(weights, DropoutFuncOptions().p(o.dropout_p()).training(o.training()));
  Tensor output = at::bmm(weights, v).transpose(0, 1).contiguous().view({length, batch, features});
  output = linear(output, o.out_proj_weight(), o.out_proj_bias());
  if (!o.need_weights()) return {output, Tensor()};
  weights = weights.view({batch, heads, length, source});
  return {output, o.average_attn_weights() ? weights.sum(1) / heads : weights};
}

}  // namespace torch::nn::functional
