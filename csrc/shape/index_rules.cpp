#include "shape/index_rules.h"

#include <algorithm>

#include "shape/elementwise.h"
#include "shape/view_rules.h"
#include "taeda/core/warn.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/view.h"

namespace taeda::shape {

namespace {

bool is_mask(const Tensor& t) { return t.dtype() == DType::Bool || t.dtype() == DType::UInt8; }

void add_mask(const Tensor& self, const Tensor& mask, std::vector<Tensor>& result) {
  int64_t first = static_cast<int64_t>(result.size());
  for (int64_t d = 0; d < mask.dim(); ++d) {
    TAEDA_CHECK_INDEX(first + d < self.dim(), "too many indices for a tensor of ", self.dim(), " dimensions");
    TAEDA_CHECK_INDEX(mask.sizes()[d] == self.sizes()[first + d], "a mask of shape ", mask.sizes(),
                      " does not fit a tensor of shape ", self.sizes(), ": its dimension ", d, " meets dimension ",
                      first + d, " of size ", self.sizes()[first + d]);
  }
  Tensor places = ops::nonzero(mask);
  for (int64_t d = 0; d < mask.dim(); ++d) result.push_back(ops::select(places, 1, d));
}

}  // namespace

std::vector<Tensor> positions_of(const Tensor& self, TensorList indices) {
  std::vector<Tensor> result;
  result.reserve(indices.size());
  for (const Tensor& index : indices) {
    if (!index.defined()) {
      result.emplace_back();
    } else if (is_mask(index)) {
      if (index.dtype() == DType::UInt8)
        warn("a uint8 tensor as an index is deprecated; make it bool to choose by truth");
      add_mask(self, index, result);
    } else {
      TAEDA_CHECK_INDEX(index.dtype() == DType::Int64 || index.dtype() == DType::Int32,
                        "tensors used as indices must be int64, int32, bool or uint8; got ", index.dtype());
      result.push_back(index);
    }
  }
  TAEDA_CHECK_INDEX(static_cast<int64_t>(result.size()) <= self.dim(), "too many indices (", result.size(),
                    ") for a tensor of ", self.dim(), " dimensions");
  for (Tensor& t : result)
    if (t.defined() && t.device() != self.device()) t = ops::_to_copy(t, std::nullopt, std::nullopt, self.device());
  return result;
}

namespace {

void check_one_apart(const Tensor& self, const Tensor& in) {
  if (!in.defined() || !self->storage() || self->storage() != in->storage() || !self.numel() || !in.numel()) return;
  bool simple = self->is_non_overlapping_and_dense() && in->is_non_overlapping_and_dense();
  const char *a = self.data<char>(), *b = in.data<char>();
  bool meet = a < b + in.numel() * in.itemsize() && b < a + self.numel() * self.itemsize();
  TAEDA_CHECK(!self.is(in) && !(simple && meet),
              "the tensor that is written and one that is read share memory; clone one of them first");
}

}  // namespace

void check_apart(const Tensor& self, std::initializer_list<const Tensor*> read) {
  for (const Tensor* t : read) check_one_apart(self, *t);
}

void check_apart(const Tensor& self, TensorList read) {
  for (const Tensor& t : read) check_one_apart(self, t);
}

void warn_of_expanded(const Tensor& self) {
  if (self.is_contiguous()) return;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (self.sizes()[d] > 1 && self.strides()[d] == 0)
      return warn(str("several elements of the tensor that is written share one place in memory (shape ", self.sizes(),
                      ", strides ", self.strides(), "), which is deprecated; clone() it first"));
}

Indexed indexed(const Tensor& self, TensorList positions) {
  for (size_t d = static_cast<size_t>(self.dim()); d < positions.size(); ++d)
    TAEDA_CHECK_INDEX(!positions[d].defined(), "too many indices for a tensor of ", self.dim(), " dimensions");
  Indexed result;
  bool any = false, apart = false;
  int64_t last = 0;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d >= static_cast<int64_t>(positions.size()) || !positions[d].defined()) {
      result.kept.push_back(d);
      continue;
    }
    IntList sizes = positions[d].sizes();
    if (!any) {
      result.positions = Dims(sizes);
      result.at = result.kept.size();
    } else {
      apart |= last + 1 != d;
      for (size_t i = 0; i < std::min(sizes.size(), result.positions.size()); ++i) {
        int64_t a = sizes[sizes.size() - 1 - i], b = result.positions[result.positions.size() - 1 - i];
        TAEDA_CHECK_INDEX(a == b || a == 1 || b == 1, "the indices must have shapes that broadcast; got ",
                          IntList(result.positions), " and ", sizes);
      }
      result.positions = broadcast_sizes(IntList(result.positions), sizes);
    }
    any = true;
    last = d;
  }
  if (apart) result.at = 0;
  for (size_t i = 0; i <= result.kept.size(); ++i) {
    if (i == result.at && any)
      for (int64_t size : result.positions) result.sizes.push_back(size);
    if (i < result.kept.size()) result.sizes.push_back(self.sizes()[result.kept[i]]);
  }
  return result;
}

namespace {

// Positions with a dimension for each of the result.
Tensor among(const Tensor& positions, const Indexed& indexed) {
  Dims sizes;
  size_t before = indexed.at + indexed.positions.size() - positions.sizes().size();
  for (size_t i = 0; i < before; ++i) sizes.push_back(1);
  for (int64_t size : positions.sizes()) sizes.push_back(size);
  while (sizes.size() < indexed.sizes.size()) sizes.push_back(1);
  return new_alias(positions, sizes, *view_strides(positions.sizes(), positions.strides(), sizes),
                   positions.storage_offset());
}

// As of an elementwise op that reads the tensor, repeated along the positions' dimensions, and the positions.
Dims index_strides(const Tensor& self, TensorList positions, const Indexed& indexed) {
  auto is_plain = [](const Tensor& t) { return !t.defined() || t.is_contiguous(); };
  if ((self.is_contiguous() && std::ranges::all_of(positions, is_plain)) || self.numel() == 0) return {};
  Dims strides;
  for (size_t i = 0; i <= indexed.kept.size(); ++i) {
    if (i == indexed.at)
      for (size_t d = 0; d < indexed.positions.size(); ++d) strides.push_back(0);
    if (i < indexed.kept.size()) strides.push_back(self.strides()[indexed.kept[i]]);
  }
  std::vector<Tensor> read{new_alias(self, indexed.sizes, strides, self.storage_offset())};
  for (const Tensor& t : positions)
    if (t.defined()) read.push_back(among(t, indexed));
  std::vector<Operand> operands(read.begin(), read.end());
  return result_strides(operands, indexed.sizes);
}

}  // namespace

Spec index_at(const Tensor& self, TensorList positions) {
  Indexed result = indexed(self, positions);
  return {result.sizes, self.dtype(), index_strides(self, positions, result)};
}

void check_index_dtype(const Tensor& index) {
  TAEDA_CHECK(index.dtype() == DType::Int64 || index.dtype() == DType::Int32, "index must be int64 or int32; got ",
              index.dtype());
}

Spec index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  check_index_dtype(index);
  TAEDA_CHECK_INDEX(index.dim() <= 1, "index must be a vector; got shape ", index.sizes());
  dim = wrap_dim(dim, self.dim());
  Dims sizes(self.sizes());
  if (self.dim() > 0)
    sizes[dim] = index.numel();
  else
    TAEDA_CHECK(index.numel() == 1, "index for a number must have one element; got ", index.numel());
  return {sizes, self.dtype()};
}

namespace {

// Sizes of a number as of a vector of one.
IntList sizes_of(const Tensor& t) {
  static constexpr int64_t kOne[] = {1};
  return t.dim() ? t.sizes() : IntList(kOne);
}

// An index has the rank of `self`, and reaches no further except along `dim`.
void check_along(const Tensor& self, int64_t dim, const Tensor& index, bool any_length) {
  IntList sizes = sizes_of(index), limits = sizes_of(self);
  TAEDA_CHECK(sizes.size() == limits.size(), "index must have as many dimensions as self; got shapes ", index.sizes(),
              " and ", self.sizes());
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d)
    TAEDA_CHECK((any_length && d == dim) || sizes[d] <= limits[d], "index of shape ", index.sizes(),
                " reaches outside a tensor of shape ", self.sizes(), " along dimension ", d);
}

}  // namespace

Spec gather(const Tensor& self, int64_t dim, const Tensor& index, bool) {
  dim = wrap_dim(dim, self.dim());
  if (index.numel() == 0) return {Dims(index.sizes()), self.dtype()};
  check_index_dtype(index);
  check_along(self, dim, index, true);
  return {Dims(index.sizes()), self.dtype()};
}

Spec nonzero_static(const Tensor& self, int64_t size, int64_t) {
  TAEDA_CHECK(size >= 0, "size must not be negative; got ", size);
  return {{size, self.dim()}, DType::Int64};
}

Spec take(const Tensor& self, const Tensor& index) {
  TAEDA_CHECK(index.dtype() == DType::Int64, "index must be int64; got ", index.dtype());
  TAEDA_CHECK_INDEX(self.numel() > 0 || index.numel() == 0, "nothing can be taken from an empty tensor");
  return {Dims(index.sizes()), self.dtype()};
}

void check_scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  dim = wrap_dim(dim, self.dim());
  if (src.defined())
    TAEDA_CHECK(src.dtype() == self.dtype(), "self and src must have one dtype; got ", self.dtype(), " and ",
                src.dtype());
  if (index.numel() == 0) return;
  check_index_dtype(index);
  check_along(self, dim, index, true);
  if (src.defined()) check_along(src, -1, index, false);
}

}  // namespace taeda::shape
