// Conversions that may give the tensor itself back.
#include "shape/ops/copy.h"
#include "api/ops.h"

namespace taeda::composite {

Tensor contiguous(const Tensor& self, MemoryFormat memory_format) {
  if (self.is_contiguous(memory_format)) return self;
  TAEDA_CHECK(memory_format != MemoryFormat::Preserve, "takes a format of its own, not preserve_format");
  return ops::clone(self, memory_format);
}

Tensor copy_backward(const Tensor& grad, IntList sizes, DType dtype) {
  return ops::to_copy_backward(ops::sum_to_size(grad, sizes), dtype);
}

Tensor to_copy_backward(const Tensor& grad, DType dtype) {
  if (grad.dtype() == dtype) return grad;
  Tensor part = is_complex(grad.dtype()) && !is_complex(dtype) ? ops::real(grad) : grad;
  return part.dtype() == dtype ? part : ops::_to_copy(part, dtype);
}

Tensor fill(const Tensor& self, const Scalar& value) { return ops::full_like(self, value); }

Tensor fill(const Tensor& self, const Tensor& value) {
  Tensor result = ops::empty_like(self);
  ops::fill_(result, value);
  return result;
}

Tensor copy(const Tensor& self, const Tensor& src, bool non_blocking) {
  Tensor result = ops::empty_like(self);
  ops::copy_(result, src, non_blocking);
  return result;
}

Tensor lift_fresh(const Tensor& self) { return self; }
Tensor lift(const Tensor& self) { return self; }

// --- to

namespace {

// cuda means the current one of several, which is whichever the tensor is on.
bool is_on(const Tensor& t, Device device) {
  return t.device().type == device.type &&
         (device.index < 0 || t.device().index < 0 || t.device().index == device.index);
}

Tensor converted(const Tensor& self, std::optional<DType> dtype, std::optional<Device> device, bool non_blocking,
                 bool copy, std::optional<MemoryFormat> memory_format, std::optional<Layout> layout = {}) {
  MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  bool stays = (!dtype || *dtype == self.dtype()) && (!device || is_on(self, *device)) &&
               (format == MemoryFormat::Preserve || self.is_contiguous(format)) &&
               (!layout || *layout == self->layout());
  if (stays && !copy) return self;
  return ops::_to_copy(self, dtype, layout, device, std::nullopt, non_blocking, memory_format);
}

}  // namespace

Tensor to(const Tensor& self, DType dtype, bool non_blocking, bool copy, std::optional<MemoryFormat> memory_format) {
  return converted(self, dtype, std::nullopt, non_blocking, copy, memory_format);
}

Tensor to(const Tensor& self, const Tensor& other, bool non_blocking, bool copy,
          std::optional<MemoryFormat> memory_format) {
  return converted(self, other.dtype(), other.device(), non_blocking, copy, memory_format);
}

Tensor to(const Tensor& self, std::optional<Device> device, std::optional<DType> dtype, bool non_blocking, bool copy,
          std::optional<MemoryFormat> memory_format) {
  return converted(self, dtype, device, non_blocking, copy, memory_format);
}

Tensor to(const Tensor& self, Device device, DType dtype, bool non_blocking, bool copy,
          std::optional<MemoryFormat> memory_format) {
  return converted(self, dtype, device, non_blocking, copy, memory_format);
}

Tensor to(const Tensor& self, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
          std::optional<bool>, bool non_blocking, bool copy, std::optional<MemoryFormat> memory_format) {
  return converted(self, dtype, device, non_blocking, copy, memory_format, layout);
}

Tensor type_as(const Tensor& self, const Tensor& other) {
  return converted(self, other.dtype(), other.device(), false, false, std::nullopt);
}

}  // namespace taeda::composite
