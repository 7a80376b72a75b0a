// Fresh tensors on any device that has an allocator.
#include "api/ops.h"
#include "shape/ops/create.h"
#include "shape/view_rules.h"

namespace taeda::everywhere {

namespace {
Device resolve(std::optional<Device> device) { return device.value_or(default_device()); }

void check_strided(std::optional<Layout> layout) {
  TAEDA_CHECK(layout.value_or(Layout::Strided) == Layout::Strided, "only the strided layout can be made here");
}
}  // namespace

Tensor empty(IntList size, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool>, std::optional<MemoryFormat> memory_format) {
  check_strided(layout);
  for (int64_t s : size) TAEDA_CHECK(s >= 0, "sizes must not be negative; got ", size);
  MemoryFormat format = memory_format.value_or(MemoryFormat::Contiguous);
  TAEDA_CHECK(format != MemoryFormat::Preserve, "there is no tensor whose memory format could be preserved");
  DType type = dtype.value_or(default_dtype());
  if (format == MemoryFormat::Contiguous) return new_tensor(size, type, resolve(device));
  return new_tensor_strided(size, contiguous_strides(size, format), type, resolve(device));
}

Tensor zeros_like(const Tensor& self, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
                  std::optional<bool>, std::optional<MemoryFormat> memory_format) {
  check_strided(layout);
  shape::Dims strides = shape::strides_for(self, memory_format.value_or(MemoryFormat::Preserve));
  Tensor result = new_tensor_strided(self.sizes(), strides, dtype.value_or(self.dtype()), device.value_or(self.device()));
  ops::zero_(result);
  return result;
}

}  // namespace taeda::everywhere
