#include "shape/pad_rules.h"

#include <algorithm>

namespace taeda::shape {

Spec pad_by_itself(const Tensor& self, IntList padding, int64_t rank, int64_t mode) {
  TAEDA_CHECK(static_cast<int64_t>(padding.size()) == 2 * rank, "padding must have ", 2 * rank, " numbers; got ",
              padding);
  TAEDA_CHECK(self.dim() == rank + 1 || self.dim() == rank + 2, "input must have a channel and ", rank,
              " padded dimensions, with a batch before them or not; got shape ", self.sizes());
  Dims sizes(self.sizes());
  for (int64_t i = 0; i < rank; ++i) {
    int64_t d = self.dim() - 1 - i, before = padding[2 * i], after = padding[2 * i + 1], size = sizes[d];
    TAEDA_CHECK(size > 0, "only the batch may be empty; got shape ", self.sizes());
    TAEDA_CHECK(mode != 0 || (before < size && after < size), "reflection needs a padding below the size of dimension ",
                d, ", ", size, "; got ", before, " and ", after);
    sizes[d] = size + before + after;
    TAEDA_CHECK(sizes[d] >= 1, "the padding ", padding, " leaves nothing of shape ", self.sizes());
  }
  return {sizes, self.dtype()};
}

Spec pad_by_itself_backward(const Tensor& upper, IntList sizes, IntList, int64_t, int64_t) {
  return {Dims(sizes), upper.dtype()};
}

Spec resample(const Tensor& self, int64_t dim, int64_t size, int64_t mode, bool, std::optional<double>) {
  bool fits = is_floating(self.dtype()) || (self.dtype() == DType::UInt8 && mode <= 1);
  if (!fits) TAEDA_FAIL(NotImplemented, "is for floating-point tensors; got ", self.dtype());
  dim = wrap_dim(dim, self.dim());
  TAEDA_CHECK(size > 0 && self.sizes()[dim] > 0, "input and output sizes must be positive; got ", self.sizes(), " and ",
              size, " for dimension ", dim);
  Dims sizes(self.sizes());
  sizes[dim] = size;
  return {sizes, self.dtype()};
}

Spec resample_backward(const Tensor& upper, int64_t dim, int64_t size, int64_t mode, bool align_corners,
                       std::optional<double> scale) {
  return resample(upper, dim, size, mode, align_corners, scale);
}

}  // namespace taeda::shape
