// Hooks of a device of one's own:
//
//   struct Hooks final : at::PrivateUse1HooksInterface { ... };
//   at::RegisterPrivateUse1HooksInterface(new Hooks);
#pragma once
#include <ATen/core/GeneratorForPrivateuseone.h>
#include <ATen/detail/AcceleratorHooksInterface.h>
#include <c10/core/Storage.h>
#include <c10/util/Registry.h>

namespace at {

struct TORCH_API PrivateUse1HooksInterface : AcceleratorHooksInterface {
  bool hasPrimaryContext(DeviceIndex) const override { refuse("hasPrimaryContext"); }
  void init() const override {}
  Generator getNewGenerator(DeviceIndex device_index = -1) const override {
    return GetGeneratorForPrivateuse1(device_index);
  }
  // A storage gets another size, its bytes stay: by the device's allocator.
  virtual void resizePrivateUse1Bytes(const c10::Storage& storage, size_t newsize) const;
};
struct TORCH_API PrivateUse1HooksArgs {};

// Once for the process; the hooks live as long.
TORCH_API void RegisterPrivateUse1HooksInterface(PrivateUse1HooksInterface* hooks);
TORCH_API bool isPrivateUse1HooksRegistered();

namespace detail {
TORCH_API const PrivateUse1HooksInterface& getPrivateUse1Hooks();  // RuntimeError if there are none
TORCH_API void initPrivateUse1();                                  // calls init() once
}  // namespace detail

}  // namespace at
