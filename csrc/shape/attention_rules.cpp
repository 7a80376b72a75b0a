#include "shape/attention_rules.h"

#include <algorithm>

#include "shape/view_rules.h"

namespace taeda::shape {

namespace {

Spec heads_inside(IntList sizes, DType dtype) {
  const int64_t h = sizes[1], l = sizes[2], e = sizes[3];
  return {Dims(sizes), dtype, Dims{l * h * e, e, h * e, 1}};
}

// In the order of the query's dimensions, if its rows are whole.
Spec like_query(const Tensor& query, int64_t value_width) {
  Dims sizes(query.sizes());
  sizes[3] = value_width;
  bool keeps = value_width == query.sizes()[3] && query.strides()[3] == 1;
  return {sizes, query.dtype(), keeps ? strides_for(query, MemoryFormat::Preserve) : Dims()};
}

}  // namespace

std::tuple<Spec, Spec> attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias, bool,
                                 double) {
  check_floating(query);
  TAEDA_CHECK(query.dim() == 4 && key.dim() == 4 && value.dim() == 4,
              "query, key and value must be (N, H, length, E); got shapes ", query.sizes(), ", ", key.sizes(), " and ",
              value.sizes());
  TAEDA_CHECK(query.dtype() == key.dtype() && query.dtype() == value.dtype(),
              "query, key and value must have one dtype; got ", query.dtype(), ", ", key.dtype(), " and ",
              value.dtype());
  IntList q = query.sizes(), k = key.sizes(), v = value.sizes();
  bool fits = q[0] == k[0] && q[1] == k[1] && k[0] == v[0] && k[1] == v[1] && q[3] == k[3] && k[2] == v[2];
  TAEDA_CHECK(fits, "query, key and value do not go together; got shapes ", q, ", ", k, " and ", v);
  if (bias.defined()) {
    const int64_t wanted[] = {q[0], q[1], q[2], k[2]};
    TAEDA_CHECK(std::ranges::equal(bias.sizes(), wanted), "the mask must be expanded to ", IntList(wanted),
                "; got shape ", bias.sizes());
  }
  return {like_query(query, v[3]), Spec{{q[0], q[1], q[2]}, compute_type(query.dtype())}};
}

std::tuple<Spec, Spec, Spec> attention_grads(const Tensor& grad, const Tensor& query, const Tensor& key,
                                             const Tensor& value, const Tensor& bias, const Tensor& output,
                                             const Tensor& logsumexp, bool is_causal, double scale) {
  auto [result, sums] = attention(query, key, value, bias, is_causal, scale);
  for (const Tensor* t : {&grad, &output})
    TAEDA_CHECK(t->dtype() == result.dtype && std::ranges::equal(t->sizes(), IntList(result.sizes)),
                "the result and its gradient must be ", result.dtype, " of shape ", IntList(result.sizes), "; got ",
                t->dtype(), " of shape ", t->sizes());
  TAEDA_CHECK(logsumexp.dtype() == sums.dtype && std::ranges::equal(logsumexp.sizes(), IntList(sums.sizes)) &&
                  logsumexp.is_contiguous(),
              "logsumexp must be ", sums.dtype, " of shape ", IntList(sums.sizes), "; got ", logsumexp.dtype(),
              " of shape ", logsumexp.sizes());
  return {heads_inside(query.sizes(), query.dtype()), heads_inside(key.sizes(), key.dtype()),
          heads_inside(value.sizes(), value.dtype())};
}

}  // namespace taeda::shape
