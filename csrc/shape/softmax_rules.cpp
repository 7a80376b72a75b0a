#include "shape/softmax_rules.h"

#include <algorithm>

namespace taeda::shape {

Spec softmax(const Tensor& self, int64_t dim, bool half_to_float) {
  wrap_dim(dim, self.dim());
  if (!is_floating(self.dtype()))
    TAEDA_FAIL(NotImplemented, "is for floating-point tensors; got ", self.dtype(), " (dtype= converts)");
  TAEDA_CHECK(!half_to_float || self.dtype() == DType::Float16, "half_to_float is for float16; got ", self.dtype());
  return {Dims(self.sizes()), half_to_float ? DType::Float32 : self.dtype()};
}

Spec softmax_backward(const Tensor& grad_output, const Tensor& output, int64_t dim, DType input_dtype) {
  wrap_dim(dim, output.dim());
  TAEDA_CHECK(std::ranges::equal(grad_output.sizes(), output.sizes()) && grad_output.dtype() == output.dtype(),
              "the gradient must be like the output, ", output.dtype(), " of shape ", output.sizes(), "; got ",
              grad_output.dtype(), " of shape ", grad_output.sizes());
  check_floating(output);
  bool narrows = output.dtype() == DType::Float32 && input_dtype == DType::Float16;  // half_to_float back
  return {Dims(output.sizes()), narrows ? input_dtype : output.dtype()};
}

}  // namespace taeda::shape
