// Resizing of images: one dimension after another, the last one first.
#include <cmath>

#include "composite/ops/upsample.h"
#include "shape/spec.h"
#include "taeda/ops/upsample.h"

namespace taeda::composite {

namespace {

using shape::Dims;
using Factors = std::span<const std::optional<double>>;

Tensor resized(const Tensor& self, int64_t rank, IntList output_size, int64_t mode, bool align_corners,
               Factors scales) {
  TAEDA_CHECK(self.dim() == rank + 2, "input must be (N, C) and ", rank, " spatial dimensions; got shape ",
              self.sizes());
  TAEDA_CHECK(static_cast<int64_t>(output_size.size()) == rank, "output_size must have ", rank, " sizes; got ",
              output_size);
  Tensor t = self;
  for (int64_t d = rank - 1; d >= 0; --d) {
    bool same = output_size[d] == self.size(d + 2) && (!scales[d] || *scales[d] == 1);
    if (!same || d == 0) t = ops::resample(t, d + 2, output_size[d], mode, align_corners, scales[d]);
  }
  return t;
}

// Exactly one of output_size and factors is given; a size from a factor is rounded down.
Tensor resized(const Tensor& self, int64_t rank, std::optional<IntList> output_size, int64_t mode, bool align_corners,
               std::optional<std::span<const double>> factors) {
  TAEDA_CHECK(output_size.has_value() != factors.has_value(), "exactly one of output_size and scale_factors is needed");
  std::vector<std::optional<double>> scales(rank);
  if (output_size) return resized(self, rank, *output_size, mode, align_corners, scales);
  TAEDA_CHECK(static_cast<int64_t>(factors->size()) == rank && self.dim() == rank + 2, "scale_factors must have ", rank,
              " numbers for an input of (N, C) and as many spatial dimensions; got ",
              static_cast<int64_t>(factors->size()), " and shape ", self.sizes());
  Dims sizes;
  for (int64_t d = 0; d < rank; ++d) {
    scales[d] = (*factors)[d];
    sizes.push_back(static_cast<int64_t>(std::floor(static_cast<double>(self.size(d + 2)) * *scales[d])));
  }
  return resized(self, rank, sizes, mode, align_corners, scales);
}

enum Mode : int64_t { kNearest, kNearestExact, kLinear, kCubic, kLinearAll, kCubicAll };
using Scale = std::optional<double>;
using SizeList = std::optional<IntList>;
using FactorList = std::optional<std::span<const double>>;

}  // namespace

#define TAEDA_NEAREST(name, mode)                                                                                     \
  Tensor name##1d(const Tensor& self, IntList size, Scale w) {                                                        \
    return resized(self, 1, size, mode, false, std::array{w});                                                        \
  }                                                                                                                   \
  Tensor name##1d(const Tensor& self, SizeList size, FactorList f) { return resized(self, 1, size, mode, false, f); } \
  Tensor name##2d(const Tensor& self, IntList size, Scale h, Scale w) {                                               \
    return resized(self, 2, size, mode, false, std::array{h, w});                                                     \
  }                                                                                                                   \
  Tensor name##2d(const Tensor& self, SizeList size, FactorList f) { return resized(self, 2, size, mode, false, f); } \
  Tensor name##3d(const Tensor& self, IntList size, Scale d, Scale h, Scale w) {                                      \
    return resized(self, 3, size, mode, false, std::array{d, h, w});                                                  \
  }                                                                                                                   \
  Tensor name##3d(const Tensor& self, SizeList size, FactorList f) { return resized(self, 3, size, mode, false, f); }
TAEDA_NEAREST(upsample_nearest, kNearest)
TAEDA_NEAREST(_upsample_nearest_exact, kNearestExact)
#undef TAEDA_NEAREST

Tensor upsample_linear1d(const Tensor& self, IntList size, bool align_corners, Scale w) {
  return resized(self, 1, size, kLinear, align_corners, std::array{w});
}
Tensor upsample_linear1d(const Tensor& self, SizeList size, bool align_corners, FactorList f) {
  return resized(self, 1, size, kLinear, align_corners, f);
}
Tensor upsample_trilinear3d(const Tensor& self, IntList size, bool align_corners, Scale d, Scale h, Scale w) {
  return resized(self, 3, size, kLinear, align_corners, std::array{d, h, w});
}
Tensor upsample_trilinear3d(const Tensor& self, SizeList size, bool align_corners, FactorList f) {
  return resized(self, 3, size, kLinear, align_corners, f);
}

#define TAEDA_PLANE(name, mode)                                                         \
  Tensor name(const Tensor& self, IntList size, bool align_corners, Scale h, Scale w) { \
    return resized(self, 2, size, mode, align_corners, std::array{h, w});               \
  }                                                                                     \
  Tensor name(const Tensor& self, SizeList size, bool align_corners, FactorList f) {    \
    return resized(self, 2, size, mode, align_corners, f);                              \
  }
TAEDA_PLANE(upsample_bilinear2d, kLinear)
TAEDA_PLANE(upsample_bicubic2d, kCubic)
TAEDA_PLANE(_upsample_bilinear2d_aa, kLinearAll)
TAEDA_PLANE(_upsample_bicubic2d_aa, kCubicAll)
#undef TAEDA_PLANE

}  // namespace taeda::composite
