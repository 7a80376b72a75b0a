#include "shape/pad_rules.h"

#include <algorithm>

#include "shape/view_rules.h"

namespace taeda::shape {

namespace {

Dims padded_sizes(IntList image, IntList padding, int64_t rank, int64_t mode) {
  TAEDA_CHECK(rank >= 1 && rank <= 3 && (mode == 0 || mode == 1),
              "rank must be from 1 to 3 and mode 0 (reflect) or 1 (replicate); got ", rank, " and ", mode);
  TAEDA_CHECK(static_cast<int64_t>(padding.size()) == 2 * rank, "padding must have ", 2 * rank, " numbers; got ",
              padding);
  const int64_t dims = static_cast<int64_t>(image.size());
  TAEDA_CHECK(dims == rank + 1 || dims == rank + 2, "input must have a channel and ", rank,
              " padded dimensions, with a batch before them or not; got shape ", image);
  TAEDA_CHECK(image[dims - rank - 1] > 0, "only the batch may be empty; got shape ", image);
  Dims sizes(image);
  for (int64_t i = 0; i < rank; ++i) {
    int64_t d = dims - 1 - i, before = padding[2 * i], after = padding[2 * i + 1], size = sizes[d];
    TAEDA_CHECK(size > 0, "only the batch may be empty; got shape ", image);
    TAEDA_CHECK(mode != 0 || (before < size && after < size), "reflection needs a padding below the size of dimension ",
                d, ", ", size, "; got ", before, " and ", after);
    bool fits = !__builtin_add_overflow(size, before, &sizes[d]) && !__builtin_add_overflow(sizes[d], after, &sizes[d]);
    TAEDA_CHECK(fits, "the padding ", padding, " of shape ", image, " is more than 64 bits can count");
    TAEDA_CHECK(sizes[d] >= 1, "the padding ", padding, " leaves nothing of shape ", image);
  }
  return sizes;
}

// Images keep their channels last.
Spec laid_out_like(const Tensor& like, IntList sizes) {
  MemoryFormat format = suggested_format(like);
  if (format == MemoryFormat::Contiguous) return {Dims(sizes), like.dtype()};
  return {Dims(sizes), like.dtype(), Dims(contiguous_strides(sizes, format))};
}

}  // namespace

Spec pad_by_itself(const Tensor& self, IntList padding, int64_t rank, int64_t mode) {
  Dims sizes = padded_sizes(self.sizes(), padding, rank, mode);
  return self.dim() == rank + 2 ? laid_out_like(self, sizes) : Spec{sizes, self.dtype()};
}

Spec pad_by_itself_backward(const Tensor& upper, IntList sizes, IntList padding, int64_t rank, int64_t mode) {
  Dims wanted = padded_sizes(sizes, padding, rank, mode);
  TAEDA_CHECK(std::ranges::equal(upper.sizes(), IntList(wanted)), "the gradient must have the padded shape ",
              IntList(wanted), "; got ", upper.sizes());
  return upper.dim() == rank + 2 ? laid_out_like(upper, sizes) : Spec{Dims(sizes), upper.dtype()};
}

Spec resample(const Tensor& self, int64_t dim, int64_t size, int64_t mode, bool, std::optional<double>) {
  bool fits = is_floating(self.dtype()) || self.dtype() == DType::UInt8;
  if (!fits) TAEDA_FAIL(NotImplemented, "is for floating-point and uint8 tensors; got ", self.dtype());
  TAEDA_CHECK(mode >= 0 && mode <= 5, "the mode must be from 0 to 5; got ", mode);
  dim = wrap_dim(dim, self.dim());
  TAEDA_CHECK(size > 0 && self.sizes()[dim] > 0, "input and output sizes must be positive; got ", self.sizes(), " and ",
              size, " for dimension ", dim);
  Dims sizes(self.sizes());
  sizes[dim] = size;
  return laid_out_like(self, sizes);
}

Spec resample_backward(const Tensor& upper, int64_t dim, int64_t size, int64_t mode, bool align_corners,
                       std::optional<double> scale) {
  check_floating(upper);
  return resample(upper, dim, size, mode, align_corners, scale);
}

}  // namespace taeda::shape
