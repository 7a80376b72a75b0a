// Attention: the blocked kernel where it applies, else products, softmax and dropout.
#include <cmath>
#include <limits>

#include "composite/ops/attention.h"
#include "composite/records.h"
#include "shape/spec.h"
#include "taeda/ops/attention.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/dropout.h"
#include "taeda/ops/linalg.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/rearrange.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/softmax.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

using shape::Dims;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, bool is_causal) {
  TAEDA_CHECK(query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2,
              "query, key and value must have at least 2 dimensions; got shapes ", query.sizes(), ", ", key.sizes(),
              " and ", value.sizes());
  TAEDA_CHECK(query.dtype() == key.dtype() && query.dtype() == value.dtype(),
              "query, key and value must have one dtype; got ", query.dtype(), ", ", key.dtype(), " and ",
              value.dtype());
  TAEDA_CHECK(!(mask.defined() && is_causal), "attn_mask and is_causal exclude each other");
  TAEDA_CHECK(!mask.defined() || mask.dtype() == DType::Bool || is_floating(mask.dtype()),
              "attn_mask must be bool or floating; got ", mask.dtype());
}

// What is added to the scores.
Tensor as_bias(const Tensor& mask, DType dtype) {
  if (!mask.defined() || mask.dtype() != DType::Bool) return mask;
  Tensor zeros = ops::zeros(mask.sizes(), dtype, {}, mask.device());
  return ops::masked_fill(zeros, ops::logical_not(mask), Scalar(-kInfinity));
}

Tensor causal_bias(int64_t queries, int64_t keys, const Tensor& like) {
  Tensor hidden = ops::triu(ops::ones(Dims{queries, keys}, DType::Bool, {}, like.device()), 1);
  return ops::masked_fill(ops::zeros(Dims{queries, keys}, like.dtype(), {}, like.device()), hidden, Scalar(-kInfinity));
}

// The softmax of rows that may be masked altogether: these give zeros, and no NaN on the way, nor on the way back.
Tensor safe_softmax(const Tensor& scores, bool masked) {
  if (!masked || scores.size(-1) == 0) return ops::softmax(scores, -1);
  Tensor empty = ops::eq(ops::amax(ops::detach(scores), Dims{-1}, true), Scalar(-kInfinity));
  return ops::masked_fill(ops::softmax(ops::masked_fill(scores, empty, Scalar(0)), -1), empty, Scalar(0));
}

Tensor weights_of(const Tensor& query, const Tensor& key, const Tensor& bias, bool is_causal, double scale) {
  Tensor scores = ops::mul(ops::matmul(query, ops::transpose(key, -2, -1)), Scalar(scale));
  Tensor added = is_causal ? causal_bias(query.size(-2), key.size(-2), query) : bias;
  return safe_softmax(added.defined() ? ops::add(scores, added) : scores, added.defined());
}

// To (N, H, length, E): leading dimensions are joined or added.
Tensor four(const Tensor& t) {
  if (t.dim() == 4) return t;
  if (t.dim() == 2) return ops::unsqueeze(ops::unsqueeze(t, 0), 0);
  return ops::reshape(t, Dims{1, t.numel() / std::max<int64_t>(t.size(-1) * t.size(-2), 1), t.size(-2), t.size(-1)});
}

bool is_blocked(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, double dropout_p) {
  bool plain = is_floating(query.dtype()) && dropout_p == 0 && query.dim() == key.dim() && key.dim() == value.dim();
  if (!plain || may_record(mask)) return false;
  for (int64_t d = 0; d < query.dim() - 2; ++d) plain &= query.size(d) == key.size(d) && key.size(d) == value.size(d);
  return plain && query.size(-1) == key.size(-1) && key.size(-2) == value.size(-2);
}

// Key heads repeated for the query heads that share them.
Tensor shared(const Tensor& t, int64_t heads) {
  TAEDA_CHECK(t.dim() >= 3 && t.size(-3) > 0 && heads % t.size(-3) == 0, "enable_gqa: the ", heads,
              " query heads must be a multiple of the key and value heads; got shape ", t.sizes());
  return heads == t.size(-3) ? t : ops::repeat_interleave(t, heads / t.size(-3), -3);
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  check(query, key, value, attn_mask, is_causal);
  if (enable_gqa) {
    TAEDA_CHECK(query.dim() >= 3, "enable_gqa needs a dimension of heads; got shape ", query.sizes());
    return ops::scaled_dot_product_attention(query, shared(key, query.size(-3)), shared(value, query.size(-3)),
                                             attn_mask, dropout_p, is_causal, scale, false);
  }
  const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  Tensor bias = as_bias(attn_mask, query.dtype());
  if (is_blocked(query, key, value, bias, dropout_p)) {
    if (bias.defined()) {
      Dims sizes(query.sizes().first(query.dim() - 2));
      sizes.push_back(query.size(-2));
      sizes.push_back(key.size(-2));
      if (bias.size(-1) != key.size(-2)) bias = ops::contiguous(ops::expand(bias, Dims{query.size(-2), key.size(-2)}));
      bias = four(ops::expand(ops::contiguous(bias), sizes));
    }
    Tensor rows = query.dim() == 4 ? query : four(ops::contiguous(query));
    Tensor result = std::get<0>(ops::attention_rows(rows, four(key), four(value), bias, is_causal, factor));
    Dims sizes(query.sizes());
    sizes[sizes.size() - 1] = value.size(-1);
    return query.dim() == 4 ? result : ops::reshape(result, sizes);
  }
  Tensor weights = weights_of(query, key, bias, is_causal, factor);
  return ops::matmul(dropout_p > 0 ? ops::dropout(weights, dropout_p, true) : weights, value);
}

std::tuple<Tensor, Tensor, Tensor> attention_backward(const Tensor& grad, const Tensor& query, const Tensor& key,
                                                      const Tensor& value, const Tensor& bias, const Tensor& output,
                                                      const Tensor& logsumexp, bool is_causal, double scale) {
  if (!may_record(grad, query, key, value))
    return ops::attention_grads(grad, query, key, value, bias, output, logsumexp, is_causal, scale);
  Tensor p = weights_of(query, key, bias, is_causal, scale);
  Tensor dp = ops::matmul(grad, ops::transpose(value, -2, -1));
  Tensor ds = ops::mul(ops::mul(p, ops::sub(dp, ops::sum(ops::mul(p, dp), Dims{-1}, true))), Scalar(scale));
  return {ops::matmul(ds, key), ops::matmul(ops::transpose(ds, -2, -1), query),
          ops::matmul(ops::transpose(p, -2, -1), grad)};
}

}  // namespace taeda::composite
