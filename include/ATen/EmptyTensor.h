// New tensors without the dispatcher's hop.
#pragma once
#include <ATen/Functions.h>

namespace at::detail {

inline Tensor empty_cpu(IntArrayRef size, ScalarType dtype, bool pin_memory = false,
                        std::optional<MemoryFormat> format = std::nullopt) {
  return at::empty(size, TensorOptions(dtype).device(kCPU).pinned_memory(pin_memory), format);
}
inline Tensor empty_cpu(IntArrayRef size, const TensorOptions& options) {
  return at::empty(size, options.device(kCPU));
}
inline Tensor empty_strided_cpu(IntArrayRef size, IntArrayRef stride, ScalarType dtype, bool pin_memory = false) {
  return at::empty_strided(size, stride, TensorOptions(dtype).device(kCPU).pinned_memory(pin_memory));
}
inline Tensor empty_meta(IntArrayRef size, ScalarType dtype, std::optional<MemoryFormat> format = std::nullopt) {
  return at::empty(size, TensorOptions(dtype).device(kMeta), format);
}
inline Tensor empty_strided_meta(IntArrayRef size, IntArrayRef stride, ScalarType dtype) {
  return at::empty_strided(size, stride, TensorOptions(dtype).device(kMeta));
}

}  // namespace at::detail
