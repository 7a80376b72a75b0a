// Tensors of which only some elements are stored: coordinates (COO), and the four compressed layouts.
#pragma once
#include "taeda/core/tensor.h"

namespace taeda {

// Of compressed layouts: whether elements are blocks, and whether rows are compressed, not columns.
inline bool has_blocks(Layout layout) { return layout == Layout::SparseBsr || layout == Layout::SparseBsc; }
inline bool is_by_rows(Layout layout) { return layout == Layout::SparseCsr || layout == Layout::SparseBsr; }

// Sizes are virtual geometry without strides; there is no storage of its own, so `data()` is null.
class TAEDA_API SparseImpl final : public TensorImpl {
 public:
  // What is stored. Coordinates: `indices` (sparse dims, stored), `values` (stored, *dense sizes), `plain` undefined.
  // Compressed: `indices` (*batch, rows + 1) says where each row, or column, or row of blocks begins, `plain`
  // (*batch, stored) is the other index, `values` (*batch, stored, *block, *dense sizes).
  struct Parts {
    Tensor indices, plain, values;
  };

  SparseImpl(Layout layout, Parts parts, IntList sizes, bool coalesced);

  Layout layout() const override { return layout_; }
  const Parts& parts() const { return parts_; }
  bool is_coalesced() const { return coalesced_; }
  void set_coalesced(bool value) { coalesced_ = value; }
  int64_t sparse_dim() const;
  int64_t dense_dim() const;
  int64_t stored() const;  // elements, or blocks, in each batch

  // Where each row of coalesced coordinates begins, once somebody has computed it; guarded by whoever holds the GIL.
  const Tensor& row_pointers() const { return row_pointers_; }
  void set_row_pointers(Tensor pointers) { row_pointers_ = std::move(pointers); }

  Ref<TensorImpl> shallow_copy() const override;
  void take_data_of(const TensorImpl& other) override;

 protected:
  IntList virtual_strides() const override;

 private:
  Layout layout_;
  bool coalesced_;
  Parts parts_;
  Tensor row_pointers_;
};

// The parts are taken as they are, without their autograd: shapes, dtypes and devices must fit together (RuntimeError
// otherwise), while indices are not read.
TAEDA_API Tensor new_sparse(Layout layout, SparseImpl::Parts parts, IntList sizes, bool coalesced = false);
inline SparseImpl* sparse_impl(const Tensor& t) {  // null for tensors of other layouts
  const Layout layout = t.defined() ? t->layout() : Layout::Strided;
  return layout == Layout::Strided || layout == Layout::Jagged ? nullptr : static_cast<SparseImpl*>(t.impl());
}

// Called before the first sparse tensor is there, so that kernels written in Python can be loaded; then null.
TAEDA_API extern std::atomic<void (*)()> before_first_sparse;
TAEDA_API KeySet keys_for_sparse(Layout layout);
// Which kernels a call may reach that makes a tensor of this layout.
inline KeySet sparse_keys(std::optional<Layout> layout) {
  return layout.value_or(Layout::Strided) == Layout::Strided ? KeySet() : keys_for_sparse(*layout);
}

}  // namespace taeda
