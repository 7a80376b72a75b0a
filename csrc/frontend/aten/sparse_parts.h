// Between sparse tensors and the dense ones that they are made of. What is computed with values is recorded as for any
// other tensor, so that `values_of` and `with_values` are all that needs a derivative of its own.
#pragma once
#include <taeda/core/sparse.h>
#include <torch/types.h>

namespace at::sparse {

using ::taeda::has_blocks;
using ::taeda::is_by_rows;
using ::taeda::SparseImpl;

// Where a tensor has elements: SparseImpl::Parts without the values.
struct Pattern {
  Layout layout;
  Tensor indices, plain;
  std::vector<int64_t> sizes;
  bool coalesced = false;

  int64_t batch() const { return layout == Layout::Sparse ? 0 : indices.dim() - 1; }
};
// Elements, or slices along dense dimensions, by their places (sparse dims, n).
struct Elements {
  Tensor indices, values;
};

SparseImpl& impl_of(const Tensor& t, const char* name);  // RuntimeError that names the function of a dense tensor
Pattern pattern_of(const Tensor& sparse);
// A gradient of the values is one of `sparse` that has its pattern, and the other way round.
Tensor values_of(const Tensor& sparse);
Tensor with_values(const Pattern& pattern, const Tensor& values);
// What a tensor, dense or sparse, has at the places of the elements of `like`, shaped as its values.
Tensor values_at(const Tensor& from, const Tensor& like);

Tensor coalesced(const Tensor& coordinates);
// Each row of `indices` as one number: its place among all that `sizes` has.
Tensor flat_keys(const Tensor& indices, IntArrayRef sizes);
void check_below(const Tensor& indices, IntArrayRef sizes);
// What any layout stores, one by one, in the order in which it is stored.
Elements elements_of(const Tensor& sparse);

Tensor to_dense(const Tensor& sparse);
Tensor to_coordinates(const Tensor& sparse);
Tensor dense_to_coordinates(const Tensor& dense, int64_t sparse_dim);
// Coalesced coordinates, of which the first `batch` dimensions are a batch, in a compressed layout.
Tensor compressed(const Tensor& coordinates, Layout layout, int64_t batch, OptionalIntArrayRef block);

}  // namespace at::sparse
