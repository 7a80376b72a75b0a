// What a device that a program brings offers beside memory and kernels: sources of random bits, the host's memory that
// it reaches sooner (pinned), storages of another size.
#pragma once
#include "taeda/core/generator.h"
#include "taeda/core/storage.h"

namespace taeda {

class TAEDA_API DeviceHooks {
 public:
  virtual ~DeviceHooks() = default;
  virtual Ref<Generator> new_generator(int8_t index) const = 0;
  virtual bool is_pinned(const void* address) const = 0;
  virtual DataPtr allocate_pinned(size_t bytes) const = 0;
  virtual void resize(StorageImpl& storage, size_t bytes) const = 0;
};

TAEDA_API const DeviceHooks* device_hooks(DeviceType type);  // null if it has none
TAEDA_API void set_device_hooks(DeviceType type, const DeviceHooks* hooks);
// The hooks that pin memory for this device; for no device in particular, those of the first that has any.
TAEDA_API const DeviceHooks* pinning_hooks(std::optional<Device> device);

}  // namespace taeda
