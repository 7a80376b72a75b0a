#include "taeda/core/sparse.h"

#include <algorithm>

namespace taeda {

std::atomic<void (*)()> before_first_sparse{nullptr};

namespace {

KeySet functionality_of(Layout layout) {
  if (layout == Layout::Jagged) return {};
  return layout == Layout::Sparse ? Functionality::Sparse : Functionality::SparseCsr;
}

void load_kernels() {
  if (auto load = before_first_sparse.load(std::memory_order_acquire)) load();
}

KeySet keys_of(Layout layout, const Tensor& values) {
  KeySet keys = KeySet(values.device().type) | Functionality::Autocast | functionality_of(layout);
  return t_state.inference_mode ? keys : keys | kAutogradKeys;
}

Tensor without_history(const Tensor& t) { return t.defined() ? Tensor(t->shallow_copy()) : t; }

bool has_elements(const Tensor& t) { return t->storage() || t.device().type == DeviceType::Meta; }

void check_coordinates(const Tensor& indices, const Tensor& values, IntList sizes) {
  TAEDA_CHECK(indices.dim() == 2, "indices of coordinates must have shape (sparse dimensions, elements); got ",
              indices.sizes());
  TAEDA_CHECK(indices.dtype() == DType::Int64, "indices of coordinates must be int64; got ", indices.dtype());
  int64_t sparse = indices.sizes()[0], dense = static_cast<int64_t>(sizes.size()) - sparse;
  TAEDA_CHECK(dense >= 0 && values.dim() == dense + 1, "values must have shape (elements, *dense sizes) with ", dense,
              " dense dimensions, as there are ", sparse, " rows of indices for sizes ", sizes, "; got shape ",
              values.sizes());
  TAEDA_CHECK(indices.sizes()[1] == values.sizes()[0], "there must be as many values as indices; got ",
              values.sizes()[0], " and ", indices.sizes()[1]);
  TAEDA_CHECK(std::ranges::equal(values.sizes().subspan(1), sizes.subspan(static_cast<size_t>(sparse))),
              "values of shape ", values.sizes(), " do not end with the dense part of the sizes ", sizes);
}

void check_compressed(Layout layout, const SparseImpl::Parts& parts, IntList sizes) {
  const Tensor &pointers = parts.indices, &plain = parts.plain, &values = parts.values;
  TAEDA_CHECK(pointers.dtype() == plain.dtype() && (plain.dtype() == DType::Int64 || plain.dtype() == DType::Int32),
              "both kinds of indices must be int32 or int64, and of one dtype; got ", pointers.dtype(), " and ",
              plain.dtype());
  TAEDA_CHECK(pointers.dim() >= 1 && pointers.dim() == plain.dim(),
              "compressed and plain indices must have the same number of dimensions; got shapes ", pointers.sizes(),
              " and ", plain.sizes());
  size_t batch = static_cast<size_t>(pointers.dim()) - 1, block = has_blocks(layout) ? 2 : 0;
  TAEDA_CHECK(sizes.size() >= batch + 2, "sizes ", sizes, " must have two dimensions after the batch's ", batch);
  size_t dense = sizes.size() - batch - 2;
  TAEDA_CHECK(static_cast<size_t>(values.dim()) == batch + 1 + block + dense, "values must have ",
              batch + 1 + block + dense, " dimensions (batch, elements", block ? ", block" : "", ", dense) for sizes ",
              sizes, "; got shape ", values.sizes());
  auto starts_as = [&](const Tensor& t) { return std::ranges::equal(t.sizes().first(batch), sizes.first(batch)); };
  TAEDA_CHECK(starts_as(pointers) && starts_as(plain) && starts_as(values), "the batch of sizes ", sizes,
              " must begin the shapes of indices and values; got ", pointers.sizes(), ", ", plain.sizes(), " and ",
              values.sizes());
  TAEDA_CHECK(plain.sizes()[batch] == values.sizes()[batch], "there must be as many values as plain indices; got ",
              values.sizes()[batch], " and ", plain.sizes()[batch]);
  TAEDA_CHECK(std::ranges::equal(values.sizes().subspan(batch + 1 + block), sizes.subspan(batch + 2)),
              "values of shape ", values.sizes(), " do not end with the dense part of the sizes ", sizes);
  const bool rows = is_by_rows(layout);
  int64_t compressed = sizes[batch + (rows ? 0 : 1)];
  for (size_t d = 0; d < block; ++d) {
    int64_t side = values.sizes()[batch + 1 + d];
    TAEDA_CHECK(side > 0 && sizes[batch + d] % side == 0, "blocks of ", values.sizes()[batch + 1], " x ",
                values.sizes()[batch + 2], " must divide a matrix of ", sizes[batch], " x ", sizes[batch + 1]);
  }
  if (block) compressed /= values.sizes()[batch + 1 + (rows ? 0 : 1)];
  TAEDA_CHECK(pointers.sizes()[batch] == compressed + 1, "there must be one compressed index more than the ",
              compressed, rows ? " rows" : " columns", block ? " of blocks" : "", " that they are for; got ",
              pointers.sizes()[batch]);
}

}  // namespace

SparseImpl::SparseImpl(Layout layout, Parts parts, IntList sizes, bool coalesced)
    : TensorImpl(Storage(), parts.values.dtype(), parts.values.device(), keys_of(layout, parts.values)),
      layout_(layout),
      coalesced_(coalesced),
      parts_(std::move(parts)) {
  set_contiguous(sizes);
  virtual_geometry_ = true;
}

int64_t SparseImpl::sparse_dim() const { return layout_ == Layout::Sparse ? parts_.indices.sizes()[0] : 2; }

int64_t SparseImpl::dense_dim() const {
  int64_t before = layout_ == Layout::Sparse ? 1 : parts_.plain.dim() + (has_blocks(layout_) ? 2 : 0);
  return parts_.values.dim() - before;
}

int64_t SparseImpl::stored() const {
  return layout_ == Layout::Sparse ? parts_.indices.sizes()[1] : parts_.plain.sizes().back();
}

IntList SparseImpl::virtual_strides() const {
  TAEDA_FAIL(Runtime, "a tensor of a sparse layout has no strides; to_dense() gives one that has");
}

Ref<TensorImpl> SparseImpl::shallow_copy() const {
  Parts same{without_history(parts_.indices), without_history(parts_.plain), without_history(parts_.values)};
  Ref<SparseImpl> copy = make_ref<SparseImpl>(layout_, std::move(same), sizes(), coalesced_);
  copy->row_pointers_ = row_pointers_;
  return copy;
}

void SparseImpl::take_data_of(const TensorImpl& other) {
  TAEDA_CHECK(other.layout() == layout_, "a sparse tensor takes the data of one of its own layout only");
  const auto& source = static_cast<const SparseImpl&>(other);
  Parts same{without_history(source.parts_.indices), without_history(source.parts_.plain),
             without_history(source.parts_.values)};
  Tensor pointers = source.row_pointers_;
  set_contiguous(std::vector<int64_t>(other.sizes().begin(), other.sizes().end()));
  set_dtype(other.dtype());
  set_device(other.device());
  parts_ = std::move(same);
  coalesced_ = source.coalesced_;
  row_pointers_ = std::move(pointers);
}

KeySet keys_for_sparse(Layout layout) {
  load_kernels();
  return functionality_of(layout);
}

Tensor new_sparse(Layout layout, SparseImpl::Parts parts, IntList sizes, bool coalesced) {
  load_kernels();
  for (const Tensor* t : {&parts.indices, &parts.values})
    TAEDA_CHECK(t->defined() && (*t)->layout() == Layout::Strided && has_elements(*t) && !(*t)->is_lazy(),
                "indices and values of a sparse tensor must be strided tensors with memory");
  TAEDA_CHECK(parts.indices.device() == parts.values.device(), "indices and values must be on one device; got ",
              parts.indices.device(), " and ", parts.values.device());
  if (layout == Layout::Sparse) {
    check_coordinates(parts.indices, parts.values, sizes);
  } else {
    TAEDA_CHECK(parts.plain.defined() && parts.plain->layout() == Layout::Strided && has_elements(parts.plain),
                "plain indices of a compressed tensor must be a strided tensor with memory");
    TAEDA_CHECK(parts.plain.device() == parts.values.device(), "indices and values must be on one device; got ",
                parts.plain.device(), " and ", parts.values.device());
    check_compressed(layout, parts, sizes);
  }
  SparseImpl::Parts own{without_history(parts.indices), without_history(parts.plain), without_history(parts.values)};
  return Tensor(make_ref<SparseImpl>(layout, std::move(own), sizes, coalesced));
}

}  // namespace taeda
