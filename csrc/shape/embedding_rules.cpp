#include "shape/embedding_rules.h"

#include "shape/index_rules.h"

namespace taeda::shape {

void check_table(const Tensor& weight, const Tensor& indices) {
  check_index_dtype(indices);
  TAEDA_CHECK(weight.dim() == 2, "weight must be a matrix; got shape ", weight.sizes());
}

Spec embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights, int64_t, bool) {
  check_index_dtype(indices);
  TAEDA_CHECK(num_weights >= 0, "num_weights must not be negative; got ", num_weights);
  bool fits = grad_output.dim() == indices.dim() + 1;
  for (int64_t d = 0; fits && d < indices.dim(); ++d) fits = grad_output.sizes()[d] == indices.sizes()[d];
  TAEDA_CHECK(fits || (grad_output.dim() == 2 && grad_output.sizes()[0] == indices.numel()), "grad_output of shape ",
              grad_output.sizes(), " must have a row for each of the indices ", indices.sizes());
  return {{num_weights, grad_output.sizes().back()}, grad_output.dtype()};
}

namespace {

// PyTorch leaves offset2bag empty for plain sums over rows of these dtypes.
bool lists_owners(const Tensor& weight, int64_t mode, const Tensor& per_sample_weights, int64_t padding_idx) {
  bool dense = weight.strides()[1] == 1 && (!per_sample_weights.defined() || per_sample_weights.strides()[0] == 1);
  return mode != 0 || padding_idx >= 0 || !dense || weight.dtype() == DType::Float64;
}

}  // namespace

std::array<Spec, 4> embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool,
                                  int64_t mode, bool, const Tensor& per_sample_weights, bool include_last_offset,
                                  int64_t padding_idx) {
  check_table(weight, indices);
  check_index_dtype(offsets);
  TAEDA_CHECK(is_floating(weight.dtype()), "weight must be floating-point; got ", weight.dtype());
  TAEDA_CHECK(indices.dim() == 1, "indices must be a vector; got shape ", indices.sizes());
  TAEDA_CHECK(offsets.dim() == 1, "offsets must be a vector; got shape ", offsets.sizes());
  TAEDA_CHECK(mode >= 0 && mode <= 2, "mode must be 0 (sum), 1 (mean) or 2 (max); got ", mode);
  TAEDA_CHECK(!include_last_offset || offsets.numel() > 0, "include_last_offset needs at least one offset");
  if (per_sample_weights.defined()) {
    TAEDA_CHECK(mode == 0, "per_sample_weights go with mode 0 (sum) only; got mode ", mode);
    TAEDA_CHECK(per_sample_weights.dtype() == weight.dtype(), "per_sample_weights must have the dtype of weight (",
                weight.dtype(), "); got ", per_sample_weights.dtype());
    TAEDA_CHECK(per_sample_weights.dim() == 1 && per_sample_weights.numel() == indices.numel(),
                "per_sample_weights must be a vector of ", indices.numel(), " elements; got shape ",
                per_sample_weights.sizes());
  }
  int64_t bags = offsets.numel() - (include_last_offset ? 1 : 0), width = weight.sizes()[1];
  DType counts = indices.dtype() == DType::Int64 || offsets.dtype() == DType::Int64 ? DType::Int64 : DType::Int32;
  bool listed = lists_owners(weight, mode, per_sample_weights, padding_idx);
  return {Spec{{bags, width}, weight.dtype()}, Spec{{listed ? indices.numel() : 0}, counts}, Spec{{bags}, counts},
          Spec{mode == 2 ? Dims{bags, width} : Dims{bags}, counts}};
}

}  // namespace taeda::shape
