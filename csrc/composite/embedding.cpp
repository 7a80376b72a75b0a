// Embeddings over the index ops, and the gradients of bags.
#include "composite/ops/embedding.h"
#include "shape/embedding_rules.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/embedding.h"
#include "taeda/ops/index.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/pad.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/scatter.h"
#include "taeda/ops/search.h"
#include "taeda/ops/sparse.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

// Zeros for the rows whose index is the padding's.
Tensor without_padding(const Tensor& rows, const Tensor& indices, int64_t padding_idx) {
  if (padding_idx < 0) return rows;
  Tensor padded = ops::eq(indices, Scalar(padding_idx));
  return ops::masked_fill(rows, rows.dim() > indices.dim() ? ops::unsqueeze(padded, -1) : padded, Scalar(0));
}

// The gradient of a table that is told by rows: as they come, one for each index, which may repeat.
Tensor sparse_rows(Tensor rows, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
                   bool scale_grad_by_freq) {
  TAEDA_CHECK(!scale_grad_by_freq, "scale_grad_by_freq goes with dense gradients: use sparse=False");
  const int64_t shape[] = {-1, rows.size(-1)};
  Tensor flat = ops::to(ops::reshape(indices, kValues<int64_t, -1>), DType::Int64);
  rows = rows.numel() == 0 ? ops::reshape(rows, std::initializer_list<int64_t>{flat.numel(), rows.size(-1)})
                           : ops::reshape(rows, shape);
  if (padding_idx >= 0) {
    Tensor kept = ops::squeeze(ops::nonzero(ops::ne(flat, Scalar(padding_idx))), -1);
    flat = ops::index_select(flat, 0, kept);
    rows = ops::index_select(rows, 0, kept);
  }
  return ops::_sparse_rows(flat, rows, num_weights);
}

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t, bool, bool) {
  shape::check_table(weight, indices);
  if (indices.dim() == 1) return ops::index_select(weight, 0, indices);
  std::vector<int64_t> sizes(indices.sizes().begin(), indices.sizes().end());
  sizes.push_back(weight.sizes()[1]);
  return ops::view(ops::index_select(weight, 0, ops::reshape(indices, kValues<int64_t, -1>)), sizes);
}

Tensor embedding_backward(const Tensor& grad, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
                          bool scale_grad_by_freq, bool sparse) {
  if (sparse) return sparse_rows(grad, indices, num_weights, padding_idx, scale_grad_by_freq);
  return ops::embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq);
}

Tensor embedding_double_backward(const Tensor& grad, const Tensor& indices, int64_t padding_idx,
                                 bool scale_grad_by_freq) {
  Tensor rows = without_padding(ops::embedding(grad, indices), indices, padding_idx);
  if (!scale_grad_by_freq || indices.numel() == 0) return rows;
  Tensor flat = ops::reshape(indices, kValues<int64_t, -1>);
  Tensor count = ops::reshape(ops::index_select(ops::bincount(flat), 0, flat), indices.sizes());
  return ops::div(rows, ops::unsqueeze(count, -1));
}

using Bag = std::tuple<Tensor, Tensor, Tensor, Tensor>;

// Without gradients PyTorch sizes the zeros that stand for bag sizes in sums by the offsets.
Bag _embedding_bag_forward_only(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                                bool scale_grad_by_freq, int64_t mode, bool sparse, const Tensor& per_sample_weights,
                                bool include_last_offset, int64_t padding_idx) {
  Bag bag = ops::_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
                                include_last_offset, padding_idx);
  if (mode != 0 || !include_last_offset) return bag;
  auto& [output, offset2bag, bag_size, max_indices] = bag;
  bag_size = ops::zeros(offsets.sizes(), bag_size.dtype(), std::nullopt, bag_size.device());
  max_indices = ops::zeros_like(bag_size);
  return bag;
}

namespace {

Bag bags(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq, int64_t mode,
         bool sparse, const Tensor& per_sample_weights, bool include_last_offset, int64_t padding_idx) {
  auto run = weight->needs_autograd() ? ops::_embedding_bag : ops::_embedding_bag_forward_only;
  return run(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
             padding_idx);
}

}  // namespace

Bag embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq,
                  int64_t mode, bool sparse, const Tensor& per_sample_weights, bool include_last_offset,
                  std::optional<int64_t> padding_idx) {
  const int64_t rows = weight.size(0);
  TAEDA_CHECK(!padding_idx || (*padding_idx >= -rows && *padding_idx < rows), "padding_idx ", padding_idx.value_or(0),
              " is outside a table of ", rows, " rows");
  int64_t padding = padding_idx ? wrap_dim(*padding_idx, rows) : -1;
  return bags(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
              padding);
}

Bag embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq,
                  int64_t mode, bool sparse, const Tensor& per_sample_weights, bool include_last_offset) {
  return bags(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, -1);
}

// --- gradients
namespace {

// Which bag each index is in, where the forward op did not say.
Tensor owners_of(const Tensor& indices, const Tensor& offsets, const Tensor& offset2bag) {
  if (offset2bag.numel() == indices.numel()) return offset2bag;
  Tensor places = ops::arange(Scalar(indices.numel()), offsets.dtype(), std::nullopt, indices.device());
  return ops::sub(ops::searchsorted(offsets, places, false, true), Scalar(1));
}

// include_last_offset may leave indices after the last bag: they belong to a bag without a gradient.
Tensor with_bag_after(const Tensor& grad, const Tensor& offsets) {
  return offsets.numel() > grad.size(0) ? ops::constant_pad_nd(grad, kValues<int64_t, 0, 0, 0, 1>) : grad;
}

// The gradient of each row that was taken, for sums (`mode` 0) and means.
Tensor rows_of_bags(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag, const Tensor& bag_size,
                    int64_t mode, const Tensor& per_sample_weights) {
  TAEDA_CHECK_INDEX(offset2bag.numel() == indices.numel(), "offset2bag must say the bag of each of the ",
                    indices.numel(), " indices; got ", offset2bag.numel());
  Tensor shared = grad;
  if (mode == 1) shared = ops::div(grad, ops::unsqueeze(ops::clamp_min(bag_size, Scalar(1)), 1));
  Tensor rows = ops::index_select(shared, 0, offset2bag);
  return per_sample_weights.defined() ? ops::mul(rows, ops::unsqueeze(per_sample_weights, 1)) : rows;
}

}  // namespace

Tensor _embedding_bag_backward(const Tensor& grad, const Tensor& indices, const Tensor& offsets,
                               const Tensor& offset2bag, const Tensor& bag_size, const Tensor& maximum_indices,
                               int64_t num_weights, bool scale_grad_by_freq, int64_t mode, bool sparse,
                               const Tensor& per_sample_weights, int64_t padding_idx) {
  TAEDA_CHECK(!sparse || mode != 2, "gradients of maxima are dense; use sparse=False");
  if (mode == 2)
    return ops::_embedding_bag_dense_backward(grad, indices, offset2bag, bag_size, maximum_indices, num_weights,
                                              scale_grad_by_freq, mode, per_sample_weights, padding_idx);
  Tensor sizes = offsets.numel() > bag_size.numel() ? ops::constant_pad_nd(bag_size, kValues<int64_t, 0, 1>) : bag_size;
  if (sparse)
    return sparse_rows(rows_of_bags(with_bag_after(grad, offsets), indices, owners_of(indices, offsets, offset2bag),
                                    sizes, mode, per_sample_weights),
                       indices, num_weights, padding_idx, scale_grad_by_freq);
  return ops::_embedding_bag_dense_backward(with_bag_after(grad, offsets), indices,
                                            owners_of(indices, offsets, offset2bag), sizes, maximum_indices,
                                            num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx);
}

Tensor _embedding_bag_dense_backward(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag,
                                     const Tensor& bag_size, const Tensor& maximum_indices, int64_t num_weights,
                                     bool scale_grad_by_freq, int64_t mode, const Tensor& per_sample_weights,
                                     int64_t padding_idx) {
  TAEDA_CHECK(grad.dim() == 2 && num_weights >= 0, "wanted a gradient (bags, width) of a table with a number of rows; ",
              "got the shape ", grad.sizes(), " and ", num_weights);
  if (mode == 2) {
    const int64_t sizes[] = {num_weights, grad.size(1)};
    Tensor zeros = ops::zeros(sizes, grad.dtype(), std::nullopt, grad.device());
    if (num_weights == 0) return zeros;
    Tensor none = ops::unsqueeze(ops::eq(bag_size, Scalar(0)), 1);
    return ops::scatter_add(zeros, 0, ops::to(maximum_indices, DType::Int64), ops::masked_fill(grad, none, Scalar(0)));
  }
  Tensor rows = rows_of_bags(grad, indices, offset2bag, bag_size, mode, per_sample_weights);
  return ops::embedding_dense_backward(rows, indices, num_weights, padding_idx, scale_grad_by_freq);
}

Tensor _embedding_bag_per_sample_weights_backward(const Tensor& grad, const Tensor& weight, const Tensor& indices,
                                                  const Tensor& offsets, const Tensor& offset2bag, int64_t mode,
                                                  int64_t padding_idx) {
  TAEDA_CHECK(mode == 0, "per_sample_weights go with mode 0 (sum) only; got mode ", mode);
  const int64_t along[] = {1};
  Tensor owners = owners_of(indices, offsets, offset2bag);
  Tensor products =
      ops::mul(ops::index_select(with_bag_after(grad, offsets), 0, owners), ops::index_select(weight, 0, indices));
  return without_padding(ops::sum(products, along), indices, padding_idx);
}

}  // namespace taeda::composite
