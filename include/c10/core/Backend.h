// Device and layout in one name.
#pragma once
#include <c10/core/DispatchKey.h>
#include <c10/core/Layout.h>

namespace c10 {

// A backend is named as its dispatch key.
#define TAEDA_FORALL_BACKENDS(_)            \
  _(CPU, CPU, Strided)                      \
  _(CUDA, CUDA, Strided)                    \
  _(XPU, XPU, Strided)                      \
  _(MPS, MPS, Strided)                      \
  _(Meta, Meta, Strided)                    \
  _(PrivateUse1, PrivateUse1, Strided)      \
  _(SparseCPU, CPU, Sparse)                 \
  _(SparseCUDA, CUDA, Sparse)               \
  _(SparsePrivateUse1, PrivateUse1, Sparse) \
  _(SparseCsrCPU, CPU, SparseCsr)           \
  _(SparseCsrCUDA, CUDA, SparseCsr)         \
  _(QuantizedCPU, CPU, Strided)             \
  _(QuantizedCUDA, CUDA, Strided)           \
  _(QuantizedPrivateUse1, PrivateUse1, Strided)

enum class Backend {
#define TAEDA_BACKEND(name, device, layout) name,
  TAEDA_FORALL_BACKENDS(TAEDA_BACKEND)
#undef TAEDA_BACKEND
      Undefined,
  NumOptions
};

inline DispatchKey backendToDispatchKey(Backend backend) {
  switch (backend) {
#define TAEDA_BACKEND(name, device, layout) \
  case Backend::name:                       \
    return DispatchKey::name;
    TAEDA_FORALL_BACKENDS(TAEDA_BACKEND)
#undef TAEDA_BACKEND
    default:
      return DispatchKey::Undefined;
  }
}
// Undefined where the key is none of a backend's.
inline Backend dispatchKeyToBackend(DispatchKey key) {
  switch (key) {
#define TAEDA_BACKEND(name, device, layout) \
  case DispatchKey::name:                   \
    return Backend::name;
    TAEDA_FORALL_BACKENDS(TAEDA_BACKEND)
#undef TAEDA_BACKEND
    default:
      return Backend::Undefined;
  }
}
inline DeviceType backendToDeviceType(Backend backend) {
  switch (backend) {
#define TAEDA_BACKEND(name, device, layout) \
  case Backend::name:                       \
    return DeviceType::device;
    TAEDA_FORALL_BACKENDS(TAEDA_BACKEND)
#undef TAEDA_BACKEND
    default:
      TORCH_CHECK(false, "backendToDeviceType: an undefined backend has no device");
  }
}
inline Layout layout_from_backend(Backend backend) {
  switch (backend) {
#define TAEDA_BACKEND(name, device, layout) \
  case Backend::name:                       \
    return Layout::layout;
    TAEDA_FORALL_BACKENDS(TAEDA_BACKEND)
#undef TAEDA_BACKEND
    default:
      return Layout::Strided;
  }
}
inline const char* toString(Backend backend) {
  return backend == Backend::Undefined ? "UNKNOWN_BACKEND" : toString(backendToDispatchKey(backend));
}
inline std::ostream& operator<<(std::ostream& out, Backend backend) { return out << toString(backend); }

}  // namespace c10
namespace at {
using c10::Backend;
}
