#include "shape/sort_rules.h"

#include "shape/view_rules.h"

namespace taeda::shape {

namespace {

int64_t length_along(const Tensor& self, int64_t dim) { return self.dim() ? self.sizes()[dim] : 1; }

ValuesAndIndices both(const Tensor& self, const Dims& sizes) {
  return {Spec{sizes, self.dtype()}, Spec{sizes, DType::Int64}};
}

Dims without(const Tensor& self, int64_t dim, bool keepdim) {
  Dims sizes(self.sizes());
  if (self.dim() == 0) return sizes;
  if (keepdim)
    sizes[dim] = 1;
  else
    sizes.erase(dim);
  return sizes;
}

}  // namespace

ValuesAndIndices sort(const Tensor& self, std::optional<bool>, int64_t dim, bool) {
  wrap_dim(dim, self.dim());
  TAEDA_CHECK(!is_complex(self.dtype()), "complex numbers have no order; got ", self.dtype());
  Dims strides = strides_for(self, MemoryFormat::Preserve);
  return {Spec{Dims(self.sizes()), self.dtype(), strides}, Spec{Dims(self.sizes()), DType::Int64, strides}};
}

ValuesAndIndices topk(const Tensor& self, int64_t k, int64_t dim, bool, bool) {
  dim = wrap_dim(dim, self.dim());
  TAEDA_CHECK(!is_complex(self.dtype()) && self.dtype() != DType::Bool, "is for real numbers; got ", self.dtype());
  TAEDA_CHECK(k >= 0 && k <= length_along(self, dim), "k must be from 0 to ", length_along(self, dim),
              ", the size of dimension ", dim, "; got ", k);
  Dims sizes(self.sizes());
  if (self.dim()) sizes[dim] = k;
  return both(self, sizes);
}

ValuesAndIndices kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  dim = wrap_dim(dim, self.dim());
  TAEDA_CHECK_INDEX(length_along(self, dim) > 0, "dimension ", dim, " is empty");
  TAEDA_CHECK(k >= 1 && k <= length_along(self, dim), "k must be from 1 to ", length_along(self, dim),
              ", the size of dimension ", dim, "; got ", k);
  return both(self, without(self, dim, keepdim));
}

ValuesAndIndices select_along(const Tensor& self, int64_t dim, bool keepdim) {
  dim = wrap_dim(dim, self.dim());
  TAEDA_CHECK_INDEX(length_along(self, dim) > 0, "dimension ", dim, " is empty");
  return both(self, without(self, dim, keepdim));
}

ValuesAndIndices running_extreme(const Tensor& self, int64_t dim) {
  wrap_dim(dim, self.dim());
  if (is_complex(self.dtype())) TAEDA_FAIL(NotImplemented, "complex numbers have no order; got ", self.dtype());
  return both(self, Dims(self.sizes()));
}

Spec running_total(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  wrap_dim(dim, self.dim());
  DType result = dtype.value_or(category(self.dtype()) < Category::Floating ? DType::Int64 : self.dtype());
  return {Dims(self.sizes()), result};
}

Spec logcumsumexp(const Tensor& self, int64_t dim) {
  wrap_dim(dim, self.dim());
  if (!is_differentiable(self.dtype()))
    TAEDA_FAIL(NotImplemented, "is for floating-point and complex tensors; got ", self.dtype());
  return {Dims(self.sizes()), self.dtype()};
}

Spec searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                  std::optional<std::string_view> side, const Tensor& sorter) {
  if (side) {
    TAEDA_CHECK(*side == "left" || *side == "right", "side must be left or right; got ", *side);
    TAEDA_CHECK(*side == "right" || !right, "side is left, but right is True");
  }
  if (sorter.defined()) {
    TAEDA_CHECK(std::ranges::equal(sorter.sizes(), sorted_sequence.sizes()),
                "sorter must have the shape of the sequence ", sorted_sequence.sizes(), "; got ", sorter.sizes());
    TAEDA_CHECK(sorter.dtype() == DType::Int64, "sorter must be int64; got ", sorter.dtype());
  }
  DType common = promote(sorted_sequence.dtype(), self.dtype());
  if (is_complex(common) || common == DType::Bool) TAEDA_FAIL(NotImplemented, "is for real numbers; got ", common);
  TAEDA_CHECK(sorted_sequence.dim() >= 1, "the sequence must have a dimension to search along");
  bool fits = sorted_sequence.dim() == 1 || sorted_sequence.dim() == self.dim();
  for (int64_t d = 0; fits && sorted_sequence.dim() > 1 && d + 1 < self.dim(); ++d)
    fits = sorted_sequence.sizes()[d] == self.sizes()[d];
  TAEDA_CHECK(fits, "the sequence must be a vector or have the sizes of the values but for the last; got ",
              sorted_sequence.sizes(), " and ", self.sizes());
  return {Dims(self.sizes()), out_int32 ? DType::Int32 : DType::Int64};
}

Spec histc(const Tensor& self, int64_t bins, const Scalar&, const Scalar&) {
  check_floating(self);
  TAEDA_CHECK(bins > 0, "bins must be positive; got ", bins);
  return {{bins}, self.dtype()};
}

}  // namespace taeda::shape
