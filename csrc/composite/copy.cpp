// Conversions that may give the tensor itself back.
#include "composite/ops/copy.h"
#include "shape/view_rules.h"
#include "taeda/ops/copy.h"

namespace taeda::composite {

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

}  // namespace taeda::composite
