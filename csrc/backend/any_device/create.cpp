// Fresh tensors on any device that has an allocator.
#include <algorithm>

#include "backend/any_device/ops/create.h"
#include "core/uninitialized.h"
#include "shape/create_rules.h"
#include "shape/view_rules.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"

namespace taeda::any_device {

namespace {
Device resolve(std::optional<Device> device) { return device.value_or(default_device()); }

Tensor fresh_like(const Tensor& self, std::optional<DType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<MemoryFormat> memory_format) {
  shape::check_strided(layout);
  DType type = dtype.value_or(self.dtype());
  Device where = device.value_or(self.device());
  // Dimensions of size 1 may have any stride, which a copy keeps.
  bool plain = self.is_contiguous() && std::ranges::find(self.sizes(), 1) == self.sizes().end();
  if (!memory_format && plain) return new_tensor(self.sizes(), type, where);
  return new_tensor_strided(self.sizes(), shape::strides_for(self, memory_format.value_or(MemoryFormat::Preserve)),
                            type, where);
}
}  // namespace

namespace {

DType plain(std::optional<DType> dtype) {
  DType type = dtype.value_or(default_dtype());
  TAEDA_CHECK(!is_quantized(type), "a ", type,
              " tensor needs a scale: see _empty_affine_quantized and quantize_per_tensor");
  return type;
}

}  // namespace

Tensor empty(IntList size, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool>, std::optional<MemoryFormat> memory_format) {
  shape::check_strided(layout);
  MemoryFormat format = memory_format.value_or(MemoryFormat::Contiguous);
  TAEDA_CHECK(format != MemoryFormat::Preserve, "there is no tensor whose memory format could be preserved");
  DType type = plain(dtype);
  if (format == MemoryFormat::Contiguous) return as_uninitialized(new_tensor(size, type, resolve(device)));
  return as_uninitialized(new_tensor_strided(size, contiguous_strides(size, format), type, resolve(device)));
}

Tensor empty_strided(IntList size, IntList stride, std::optional<DType> dtype, std::optional<Layout> layout,
                     std::optional<Device> device, std::optional<bool>) {
  shape::check_strided(layout);
  return as_uninitialized(new_tensor_strided(size, stride, plain(dtype), resolve(device)));
}

Tensor empty_like(const Tensor& self, std::optional<DType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<bool>, std::optional<MemoryFormat> memory_format) {
  return as_uninitialized(fresh_like(self, dtype, layout, device, memory_format));
}

Tensor zeros_like(const Tensor& self, std::optional<DType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<bool>, std::optional<MemoryFormat> memory_format) {
  if (layout && *layout != Layout::Strided)
    return ops::zeros(self.sizes(), dtype.value_or(self.dtype()), layout, device.value_or(self.device()));
  Tensor result = fresh_like(self, dtype, layout, device, memory_format);
  ops::zero_(result);
  return result;
}

Tensor full_like(const Tensor& self, const Scalar& fill_value, std::optional<DType> dtype, std::optional<Layout> layout,
                 std::optional<Device> device, std::optional<bool>, std::optional<MemoryFormat> memory_format) {
  Tensor result = fresh_like(self, dtype, layout, device, memory_format);
  ops::fill_(result, fill_value);
  return result;
}

Tensor ones_like(const Tensor& self, std::optional<DType> dtype, std::optional<Layout> layout,
                 std::optional<Device> device, std::optional<bool> pin_memory,
                 std::optional<MemoryFormat> memory_format) {
  return any_device::full_like(self, Scalar(1), dtype, layout, device, pin_memory, memory_format);
}

// --- of another tensor's dtype and device

Tensor new_empty(const Tensor& self, IntList size, std::optional<DType> dtype, std::optional<Layout> layout,
                 std::optional<Device> device, std::optional<bool> pin_memory) {
  return ops::empty(size, dtype.value_or(self.dtype()), layout, device.value_or(self.device()), pin_memory);
}

Tensor new_empty_strided(const Tensor& self, IntList size, IntList stride, std::optional<DType> dtype,
                         std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  return ops::empty_strided(size, stride, dtype.value_or(self.dtype()), layout, device.value_or(self.device()),
                            pin_memory);
}

Tensor new_full(const Tensor& self, IntList size, const Scalar& fill_value, std::optional<DType> dtype,
                std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  return ops::full(size, fill_value, dtype.value_or(self.dtype()), layout, device.value_or(self.device()), pin_memory);
}

Tensor new_zeros(const Tensor& self, IntList size, std::optional<DType> dtype, std::optional<Layout> layout,
                 std::optional<Device> device, std::optional<bool> pin_memory) {
  return ops::zeros(size, dtype.value_or(self.dtype()), layout, device.value_or(self.device()), pin_memory);
}

Tensor new_ones(const Tensor& self, IntList size, std::optional<DType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, std::optional<bool> pin_memory) {
  return ops::ones(size, dtype.value_or(self.dtype()), layout, device.value_or(self.device()), pin_memory);
}

}  // namespace taeda::any_device
