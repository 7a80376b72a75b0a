// Rules of padding and resizing.
#pragma once
#include "shape/spec.h"

namespace taeda::shape {

Spec pad_by_itself(const Tensor& self, IntList padding, int64_t rank, int64_t mode);
Spec pad_by_itself_backward(const Tensor& upper, IntList sizes, IntList padding, int64_t rank, int64_t mode);
Spec resample(const Tensor& self, int64_t dim, int64_t size, int64_t mode, bool align_corners,
              std::optional<double> scale);
Spec resample_backward(const Tensor& upper, int64_t dim, int64_t size, int64_t mode, bool align_corners,
                       std::optional<double> scale);

}  // namespace taeda::shape
