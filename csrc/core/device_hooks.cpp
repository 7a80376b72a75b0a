#include "taeda/core/device_hooks.h"

#include <atomic>

namespace taeda {

namespace {
std::atomic<const DeviceHooks*> g_hooks[kDeviceTypes];
}

const DeviceHooks* device_hooks(DeviceType type) {
  return is_name_alone(type) ? nullptr : g_hooks[static_cast<int>(type)].load(std::memory_order_acquire);
}
void set_device_hooks(DeviceType type, const DeviceHooks* hooks) {
  TAEDA_CHECK(!is_name_alone(type), "'", device_type_name(type), "' is a name alone: no device can be added to it");
  g_hooks[static_cast<int>(type)].store(hooks, std::memory_order_release);
}

const DeviceHooks* pinning_hooks(std::optional<Device> device) {
  if (device) return device_hooks(device->type);
  for (const auto& hooks : g_hooks)
    if (const DeviceHooks* found = hooks.load(std::memory_order_acquire)) return found;
  return nullptr;
}

}  // namespace taeda
