// Conversions that may give the tensor itself back.
#include "shape/ops/copy.h"
#include "shape/view_rules.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/view.h"
#include "taeda/ops/view_gradients.h"

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

void fill_diagonal_(const Tensor& self, const Scalar& fill_value, bool wrap) {
  TAEDA_CHECK(self.dim() >= 2, "takes a tensor of two dimensions or more; got shape ", self.sizes());
  if (self.dim() == 2) {
    int64_t rows = self.sizes()[0], columns = self.sizes()[1];
    for (int64_t top = 0; top < (wrap ? rows : std::min<int64_t>(rows, 1)); top += columns + 1)
      ops::fill_(ops::diagonal(ops::slice(self, 0, top, rows)), fill_value);
    return;
  }
  for (int64_t size : self.sizes())
    TAEDA_CHECK(size == self.sizes()[0], "more than two dimensions must all have the same size; got shape ",
                self.sizes());
  Tensor diagonal = ops::diagonal(self, 0, 0, 1);
  while (diagonal.dim() > 1) diagonal = ops::diagonal(diagonal, 0, 0, -1);
  ops::fill_(diagonal, fill_value);
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
               (format == MemoryFormat::Preserve || shape::suggested_format(self) == format) &&
               (!layout || *layout == self->layout());
  if (stays && !copy) return self;
  return ops::_to_copy(self, dtype, layout, device, std::nullopt, non_blocking, memory_format);
}

}  // namespace

Tensor to(const Tensor& self, DType dtype, bool non_blocking, bool copy, std::optional<MemoryFormat> memory_format) {
  return converted(self, dtype, std::nullopt, non_blocking, copy, memory_format);
}

Tensor to_dense(const Tensor& self, std::optional<DType> dtype, std::optional<bool>) {
  return dtype ? ops::to(self, *dtype) : self;
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
