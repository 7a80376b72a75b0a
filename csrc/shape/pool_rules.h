// Rules of pooling: the last one to three dimensions are pooled, those before them are planes.
#pragma once
#include <tuple>

#include "shape/spec.h"

namespace taeda::shape {

using PooledAndIndices = std::tuple<Spec, Spec>;

// A window's arguments, checked, with a number for each of `rank` dimensions; an empty stride is the kernel's size.
struct PoolGeometry {
  Dims image, kernel, stride, padding, dilation, count;
  PoolGeometry(IntList sizes, int64_t rank, IntList kernel_size, IntList strides, IntList paddings, IntList dilations,
               bool ceil_mode);
};

PooledAndIndices max_pool2d(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, IntList dilation,
                            bool ceil_mode);
PooledAndIndices max_pool3d(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, IntList dilation,
                            bool ceil_mode);
Spec max_pool_backward(const Tensor& upper, const Tensor& indices, IntList sizes, int64_t rank);
Spec avg_pool2d(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, bool ceil_mode,
                bool count_include_pad, std::optional<int64_t> divisor_override);
Spec avg_pool3d(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, bool ceil_mode,
                bool count_include_pad, std::optional<int64_t> divisor_override);
Spec avg_pool2d_gradient(const Tensor& upper, IntList sizes, IntList kernel_size, IntList stride, IntList padding,
                         bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override);
Spec avg_pool3d_gradient(const Tensor& upper, IntList sizes, IntList kernel_size, IntList stride, IntList padding,
                         bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override);
Spec adaptive_avg_pool2d(const Tensor& self, IntList output_size);
Spec adaptive_avg_pool3d(const Tensor& self, IntList output_size);
Spec adaptive_avg_pool_backward(const Tensor& upper, IntList sizes, int64_t rank);
PooledAndIndices adaptive_max_pool2d(const Tensor& self, IntList output_size);
PooledAndIndices adaptive_max_pool3d(const Tensor& self, IntList output_size);

}  // namespace taeda::shape
