#include "shape/attention_rules.h"

#include <algorithm>

namespace taeda::shape {

namespace {

Spec heads_inside(IntList sizes, DType dtype) {
  const int64_t h = sizes[1], l = sizes[2], e = sizes[3];
  return {Dims(sizes), dtype, Dims{l * h * e, e, h * e, 1}};
}

}  // namespace

std::tuple<Spec, Spec> attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias, bool,
                                 double) {
  if (!is_floating(query.dtype())) TAEDA_FAIL(NotImplemented, "is for floating-point tensors; got ", query.dtype());
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
  return {heads_inside(Dims{q[0], q[1], q[2], v[3]}, query.dtype()),
          Spec{{q[0], q[1], q[2]}, compute_type(query.dtype())}};
}

std::tuple<Spec, Spec, Spec> attention_grads(const Tensor&, const Tensor& query, const Tensor& key, const Tensor& value,
                                             const Tensor&, const Tensor&, const Tensor&, bool, double) {
  return {heads_inside(query.sizes(), query.dtype()), heads_inside(key.sizes(), key.dtype()),
          heads_inside(value.sizes(), value.dtype())};
}

}  // namespace taeda::shape
