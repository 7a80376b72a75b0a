// Conversion through a fresh tensor and copy_.
#include "api/ops.h"
#include "shape/ops/copy.h"
#include "shape/view_rules.h"

namespace taeda::everywhere {

Tensor _to_copy(const Tensor& self, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
                std::optional<bool>, bool non_blocking, std::optional<MemoryFormat> memory_format) {
  TAEDA_CHECK(layout.value_or(Layout::Strided) == Layout::Strided, "only the strided layout can be made here");
  shape::Dims strides = shape::strides_for(self, memory_format.value_or(MemoryFormat::Preserve));
  Tensor result = new_tensor_strided(self.sizes(), strides, dtype.value_or(self.dtype()), device.value_or(self.device()));
  ops::copy_(result, self, non_blocking);
  return result;
}

}  // namespace taeda::everywhere
