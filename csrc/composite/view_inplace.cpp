// Copies of a tensor with another one in a part of it.
#include "composite/ops/view_inplace.h"
#include "composite/fresh.h"
#include "shape/view_rules.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/view.h"
#include "taeda/ops/view_inplace.h"

namespace taeda::composite {

void swapaxes_(const Tensor& self, int64_t axis0, int64_t axis1) { ops::transpose_(self, axis0, axis1); }
void swapdims_(const Tensor& self, int64_t dim0, int64_t dim1) { ops::transpose_(self, dim0, dim1); }

void resize_as_(const Tensor& self, const Tensor& the_template, std::optional<MemoryFormat> memory_format) {
  if (memory_format == MemoryFormat::Preserve) memory_format = shape::suggested_format(the_template);
  ops::resize_(self, the_template.sizes(), memory_format);
}

namespace {
// A copy with the strides and the offset of `self`, gaps between elements included; one that overlaps itself is a
// plain clone. A view of the copy shows what it would show of `self`.
Tensor copy_in_place_of(const Tensor& self) {
  if (shape::may_overlap(self.sizes(), self.strides())) return ops::clone(self);
  int64_t length = static_cast<int64_t>(self->storage()->nbytes()) / self.itemsize();
  Tensor whole = ops::clone(ops::as_strided(self, IntList(&length, 1), kList<int64_t, 1, 1>, 0));
  return ops::as_strided(whole, self.sizes(), self.strides(), self.storage_offset());
}

void place(const Tensor& part, const Tensor& src) {
  TAEDA_CHECK(std::ranges::equal(part.sizes(), src.sizes()), "src must have the shape of the part that it replaces, ",
              part.sizes(), "; got ", src.sizes());
  ops::copy_(part, src);
}
}  // namespace

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  Tensor result = copy_in_place_of(self);
  place(ops::select(result, dim, index), src);
  return unwritten(result);
}

Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim, std::optional<int64_t> start,
                     std::optional<int64_t> end, int64_t step) {
  Tensor result = copy_in_place_of(self);
  place(ops::slice(result, dim, start, end, step), src);
  return unwritten(result);
}

Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) {
  Tensor result = copy_in_place_of(self);
  place(ops::diagonal(result, offset, dim1, dim2), src);
  return unwritten(result);
}

Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntList size, IntList stride,
                          std::optional<int64_t> storage_offset) {
  Tensor result = copy_in_place_of(self);
  place(ops::as_strided(result, size, stride, storage_offset), src);
  return unwritten(result);
}

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  int64_t rank = self.dim() + 1;
  dim1 = wrap_dim(dim1, rank);
  dim2 = wrap_dim(dim2, rank);
  TAEDA_CHECK(dim1 != dim2, "the two dimensions of a diagonal must differ; got ", dim1, " twice");
  TAEDA_CHECK(self.dim() > 0, "a tensor without dimensions has none to put on a diagonal");
  int64_t side;
  TAEDA_CHECK(offset != INT64_MIN && !__builtin_add_overflow(self.sizes().back(), std::abs(offset), &side), "offset ",
              offset, " is too large");
  shape::Dims sizes(self.sizes().first(self.dim() - 1));
  sizes.insert(std::min(dim1, dim2), side);
  sizes.insert(std::max(dim1, dim2), side);
  Tensor result = ops::zeros(sizes, self.dtype(), std::nullopt, self.device());
  ops::copy_(ops::diagonal(result, offset, dim1, dim2), self);
  return unwritten(result);
}

}  // namespace taeda::composite
