// Weights as a length times a direction.
#include "composite/ops/weight_norm.h"
#include "shape/spec.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

using shape::Dims;

Tensor norm_except_dim(const Tensor& v, int64_t pow, int64_t dim) {
  if (dim == -1) return ops::norm(v, Scalar(pow));
  dim = wrap_dim(dim, v.dim());
  Dims others;
  for (int64_t d = 0; d < v.dim(); ++d)
    if (d != dim) others.push_back(d);
  if (others.empty()) return ops::abs(v);
  return ops::linalg_vector_norm(v, Scalar(pow), IntList(others), true);
}

std::tuple<Tensor, Tensor> _weight_norm_interface(const Tensor& v, const Tensor& g, int64_t dim) {
  if (!is_floating(v.dtype())) TAEDA_FAIL(NotImplemented, "is for floating-point tensors; got ", v.dtype());
  TAEDA_CHECK(g.dtype() == v.dtype(), "v and g must have the same dtype; got ", v.dtype(), " and ", g.dtype());
  const int64_t along = wrap_dim(dim, v.dim());
  TAEDA_CHECK(dim >= 0 && (along == 0 || along == v.dim() - 1), "dim must be the first or the last of ", v.dim(),
              " dimensions; got ", dim);
  const DType wide = compute_type(v.dtype());
  Tensor from = ops::to(v, wide), norm = norm_except_dim(from, 2, dim);
  Tensor weight = ops::to(ops::mul(from, ops::div(ops::to(g, wide), norm)), v.dtype());
  return {ops::contiguous(weight), ops::detach(norm)};
}

Tensor _weight_norm(const Tensor& v, const Tensor& g, int64_t dim) {
  if (dim == 0 || dim == v.dim() - 1) return std::get<0>(_weight_norm_interface(v, g, dim));
  return ops::contiguous(ops::mul(v, ops::div(g, norm_except_dim(v, 2, dim))));
}

}  // namespace taeda::composite
