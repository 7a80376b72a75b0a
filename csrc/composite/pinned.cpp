// Memory of the host that a device reaches sooner. Without hooks of a device any memory will do.
#include "composite/ops/predicate.h"
#include "taeda/core/device_hooks.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"

namespace taeda::composite {

bool is_pinned(const Tensor& self, std::optional<Device> device) {
  const DeviceHooks* hooks = self.is_cpu() ? pinning_hooks(device) : nullptr;
  return hooks && self->storage() && hooks->is_pinned(self->storage()->data());
}

Tensor _pin_memory(const Tensor& self, std::optional<Device> device) {
  const DeviceHooks* hooks = pinning_hooks(device);
  if (!hooks) return ops::clone(self, std::nullopt);
  Tensor pinned = ops::empty_like(self, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
  const size_t bytes = pinned->storage()->nbytes();
  DataPtr block = hooks->allocate_pinned(bytes);
  TAEDA_CHECK(block.device().type == DeviceType::CPU && (block.get() || bytes == 0),
              "the device's allocator of pinned memory must give memory of the host; got some on ", block.device());
  pinned->set_storage(make_ref<StorageImpl>(std::move(block), bytes, false));
  ops::copy_(pinned, self);
  return pinned;
}

}  // namespace taeda::composite
