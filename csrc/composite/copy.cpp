// Conversions that may give the tensor itself back.
#include "api/ops.h"
#include "shape/ops/copy.h"

namespace taeda::composite {

Tensor contiguous(const Tensor& self, MemoryFormat memory_format) {
  TAEDA_CHECK(memory_format != MemoryFormat::Preserve, "contiguous takes a format of its own, not preserve_format");
  return self.is_contiguous(memory_format) ? self : ops::clone(self, memory_format);
}

Tensor copy_backward(const Tensor& grad, IntList sizes, DType dtype) {
  return ops::to_copy_backward(ops::sum_to_size(grad, sizes), dtype);
}

Tensor to_copy_backward(const Tensor& grad, DType dtype) {
  if (grad.dtype() == dtype) return grad;
  Tensor part = is_complex(grad.dtype()) && !is_complex(dtype) ? ops::real(grad) : grad;
  return part.dtype() == dtype ? part : ops::_to_copy(part, dtype);
}

}  // namespace taeda::composite
