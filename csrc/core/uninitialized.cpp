#include "core/uninitialized.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "taeda/core/determinism.h"

namespace taeda {

namespace {
std::atomic<bool> g_fills{true};  // in deterministic mode

template <class T>
T undefined_value() {
  if constexpr (std::is_integral_v<T>) return std::numeric_limits<T>::max();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  return convert<T>(complex128(kNaN, kNaN));
}
}  // namespace

bool fills_uninitialized() { return determinism() != Determinism::Open && g_fills.load(std::memory_order_relaxed); }
void set_fills_uninitialized(bool fills) { g_fills.store(fills, std::memory_order_relaxed); }

void fill_uninitialized(const Storage& storage, DType dtype, size_t first) {
  auto* data = static_cast<std::byte*>(storage->data());
  if (static_cast<int>(dtype) >= kReadDTypes) return;  // bytes of which programs make something
  if (data == nullptr || storage->device().type != DeviceType::CPU || first >= storage->nbytes()) return;
  visit_stored(dtype, [&]<class T>() {
    std::fill_n(reinterpret_cast<T*>(data + first), (storage->nbytes() - first) / sizeof(T), undefined_value<T>());
  });
}

}  // namespace taeda
