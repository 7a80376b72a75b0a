// Casts that kernels make under the Autocast key, and what this thread has on.
//
//   TORCH_LIBRARY_IMPL(mine, AutocastCPU, m) { m.impl("op", [](const at::Tensor& x) {
//     c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::DispatchKey::AutocastCPU);
//     return call_op(at::autocast::cached_cast(at::kFloat, x, c10::DeviceType::CPU)); }); }
#pragma once
#include <ATen/core/Tensor.h>

namespace at::autocast {

TORCH_API bool is_autocast_enabled(c10::DeviceType type);
TORCH_API void set_autocast_enabled(c10::DeviceType type, bool on);
TORCH_API ScalarType get_autocast_dtype(c10::DeviceType type);
TORCH_API void set_autocast_dtype(c10::DeviceType type, ScalarType dtype);
TORCH_API bool is_autocast_cache_enabled();
TORCH_API void set_autocast_cache_enabled(bool on);
TORCH_API void clear_cache();
TORCH_API int increment_nesting();
TORCH_API int decrement_nesting();

inline bool is_cpu_enabled() { return is_autocast_enabled(c10::DeviceType::CPU); }
inline ScalarType get_autocast_cpu_dtype() { return get_autocast_dtype(c10::DeviceType::CPU); }
inline ScalarType get_lower_precision_fp_from_device_type(c10::DeviceType type) { return get_autocast_dtype(type); }

// Floating-point tensors on the device type, float64 left out, in the dtype; what else there is, as it is.
TORCH_API bool is_eligible(const Tensor& t, c10::DeviceType type = c10::DeviceType::CUDA);
TORCH_API Tensor cached_cast(ScalarType to, const Tensor& t, c10::DeviceType type = c10::DeviceType::CUDA);
inline std::optional<Tensor> cached_cast(ScalarType to, const std::optional<Tensor>& t,
                                         c10::DeviceType type = c10::DeviceType::CUDA) {
  return t ? std::optional<Tensor>(cached_cast(to, *t, type)) : std::nullopt;
}
inline std::vector<Tensor> cached_cast(ScalarType to, TensorList list, c10::DeviceType type = c10::DeviceType::CUDA) {
  std::vector<Tensor> cast;
  for (const Tensor& t : list) cast.push_back(cached_cast(to, t, type));
  return cast;
}
template <class T>
  requires(!std::is_convertible_v<T, TensorList> && !std::is_convertible_v<T, std::optional<Tensor>>)
T cached_cast(ScalarType, T other, c10::DeviceType = c10::DeviceType::CUDA) {
  return other;
}

}  // namespace at::autocast
