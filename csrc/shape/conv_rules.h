// Rules of convolutions.
#pragma once
#include "shape/spec.h"

namespace taeda::shape {

// What the arguments of a convolution say, checked, with every list spelled out for each spatial dimension.
struct ConvGeometry {
  bool transposed;
  int64_t groups;
  Dims stride, padding, dilation, output_padding;
};
ConvGeometry conv_geometry(const Tensor& input, const Tensor& weight, IntList stride, IntList padding, IntList dilation,
                           bool transposed, IntList output_padding, int64_t groups);

// How many elements a kernel spans; RuntimeError if that does not fit.
int64_t reach(int64_t kernel, int64_t dilation);

Spec convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride, IntList padding,
                 IntList dilation, bool transposed, IntList output_padding, int64_t groups);
Spec convolution_weight_grad(const Tensor& grad, const Tensor& input, IntList kernel_size, IntList stride,
                             IntList padding, IntList dilation, int64_t groups);
Spec im2col(const Tensor& self, IntList kernel_size, IntList dilation, IntList padding, IntList stride);
Spec col2im(const Tensor& self, IntList output_size, IntList kernel_size, IntList dilation, IntList padding,
            IntList stride);

}  // namespace taeda::shape
