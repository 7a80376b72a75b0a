// Sparse tensors that C++ makes.
#include "taeda/core/sparse.h"

#include "composite/ops/sparse.h"
#include "taeda/ops/create.h"
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

Tensor _sparse_compressed_tensor_with_dims(int64_t nnz, int64_t dense_dim, IntList size, IntList blocksize,
                                           DType index_dtype, std::optional<DType> dtype, std::optional<Layout> layout,
                                           std::optional<Device> device, std::optional<bool>) {
  const Layout kind = layout.value_or(Layout::Strided);
  const bool blocks = has_blocks(kind), by_rows = is_by_rows(kind);
  TAEDA_CHECK(blocks || by_rows || kind == Layout::SparseCsc, "layout must be a compressed one");
  TAEDA_CHECK(blocksize.size() == (blocks ? 2 : 0),
              "blocksize must be two numbers for layouts of blocks, else none; got ", blocksize);
  TAEDA_CHECK(nnz >= 0 && dense_dim >= 0 && dense_dim <= static_cast<int64_t>(size.size()) - 2, "sizes ", size,
              " must have two dimensions before the ", dense_dim, " dense ones");
  const size_t batch = size.size() - static_cast<size_t>(dense_dim) - 2, compressed = by_rows ? 0 : 1;
  std::vector<int64_t> lines(size.begin(), size.begin() + static_cast<std::ptrdiff_t>(batch)), stored = lines;
  stored.push_back(nnz);
  const int64_t side = blocks ? blocksize[compressed] : 1;
  TAEDA_CHECK(side > 0, "blocks must not be empty; got ", blocksize);
  lines.push_back(size[batch + compressed] / side + 1);
  std::vector<int64_t> values = stored;
  values.insert(values.end(), blocksize.begin(), blocksize.end());
  values.insert(values.end(), size.begin() + static_cast<std::ptrdiff_t>(batch) + 2, size.end());
  auto zeros = [&](IntList shape, std::optional<DType> type) { return ops::zeros(shape, type, std::nullopt, device); };
  return new_sparse(kind, {zeros(lines, index_dtype), zeros(stored, index_dtype), zeros(values, dtype)}, size);
}

}  // namespace taeda::composite
