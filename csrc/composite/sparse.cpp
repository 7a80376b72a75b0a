// Sparse tensors that C++ makes.
#include "taeda/core/sparse.h"

#include "composite/ops/sparse.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

Tensor _sparse_rows(const Tensor& indices, const Tensor& values, int64_t rows) {
  TAEDA_CHECK(indices.dim() == 1 && values.dim() >= 1,
              "takes a vector of indices and values of at least one dimension; got ", indices.sizes(), " and ",
              values.sizes());
  std::vector<int64_t> sizes(values.sizes().begin(), values.sizes().end());
  sizes[0] = rows;
  return new_sparse(Layout::Sparse, {ops::unsqueeze(indices, 0), {}, values}, sizes);
}

}  // namespace taeda::composite
