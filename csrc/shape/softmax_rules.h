// Rules of softmax and its logarithm.
#pragma once
#include "shape/spec.h"

namespace taeda::shape {

Spec softmax(const Tensor& self, int64_t dim, bool half_to_float);
Spec softmax_backward(const Tensor& grad_output, const Tensor& output, int64_t dim, DType input_dtype);

}  // namespace taeda::shape
