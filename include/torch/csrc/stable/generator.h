// A generator of random numbers, in the stable interface.
#pragma once
#include <memory>

#include <torch/csrc/stable/device.h>

#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_13_0
namespace torch::stable {

class Generator {
 public:
  // Takes the handle.
  explicit Generator(AtenGeneratorHandle handle)
      : handle_(handle, [](AtenGeneratorHandle old) { torch_delete_generator(old); }) {}
  AtenGeneratorHandle get() const { return handle_.get(); }
  Device device() const {
    int32_t type = 0, index = -1;
    STABLE_TORCH_ERROR_CODE_CHECK(torch_generator_get_device(get(), &type, &index));
    return Device(detail::enum_numbered<DeviceType>(type), index);
  }

 private:
  std::shared_ptr<AtenGeneratorOpaque> handle_;
};

}  // namespace torch::stable
#endif
