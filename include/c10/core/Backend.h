// Device and layout in one name, that of their dispatch key.
#pragma once
#include <c10/core/DispatchKey.h>
#include <c10/core/Layout.h>

namespace c10 {

// clang-format off
#define TAEDA_FORALL_BACKENDS(_) \
  _(CPU) _(CUDA) _(XPU) _(MPS) _(Meta) _(PrivateUse1) _(SparseCPU) _(SparseCUDA) _(SparsePrivateUse1) \
  _(SparseCsrCPU) _(SparseCsrCUDA) _(QuantizedCPU) _(QuantizedCUDA) _(QuantizedPrivateUse1)
// clang-format on

#define TAEDA_NAME(name) name,
enum class Backend { TAEDA_FORALL_BACKENDS(TAEDA_NAME) Undefined, NumOptions };
#undef TAEDA_NAME
namespace detail {
#define TAEDA_KEY(name) DispatchKey::name,
inline constexpr DispatchKey kBackendKeys[] = {TAEDA_FORALL_BACKENDS(TAEDA_KEY)};
#undef TAEDA_KEY
}  // namespace detail

constexpr DispatchKey backendToDispatchKey(Backend backend) {
  return backend < Backend::Undefined ? detail::kBackendKeys[static_cast<size_t>(backend)] : DispatchKey::Undefined;
}
// Undefined where the key is none of a backend's.
constexpr Backend dispatchKeyToBackend(DispatchKey key) {
  int at = 0;
  while (at < static_cast<int>(Backend::Undefined) && detail::kBackendKeys[at] != key) ++at;
  return static_cast<Backend>(at);
}
inline DeviceType backendToDeviceType(Backend backend) {
  TORCH_CHECK(backend < Backend::Undefined, "backendToDeviceType: an undefined backend has no device");
  return DispatchKeySet(backendToDispatchKey(backend)).keys().backend();
}
constexpr Layout layout_from_backend(Backend backend) {
  const DispatchKeySet keys(backendToDispatchKey(backend));
  if (keys.keys().has(::taeda::Functionality::Sparse)) return Layout::Sparse;
  return keys.keys().has(::taeda::Functionality::SparseCsr) ? Layout::SparseCsr : Layout::Strided;
}
inline const char* toString(Backend backend) {
  return backend < Backend::Undefined ? toString(backendToDispatchKey(backend)) : "UNKNOWN_BACKEND";
}
inline std::ostream& operator<<(std::ostream& out, Backend backend) { return out << toString(backend); }

}  // namespace c10
namespace at {
using c10::Backend;
}
