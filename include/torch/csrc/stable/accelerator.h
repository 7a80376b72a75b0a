// The current device and stream of the accelerator, through the stable interface.
#pragma once
#include <memory>

#include <torch/csrc/stable/macros.h>

namespace torch::stable::accelerator {

using DeviceIndex = int32_t;
using StreamId = int64_t;

// In its scope another device is the current one.
class DeviceGuard {
 public:
  explicit DeviceGuard(DeviceIndex index) {
    DeviceGuardHandle made = nullptr;
    STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_create_device_guard(index, &made));
    guard_.reset(made);
  }
  void set_index(DeviceIndex index) {
    STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_device_guard_set_index(guard_.get(), index));
  }

 private:
  struct Delete {
    void operator()(DeviceGuardHandle guard) const { aoti_torch_delete_device_guard(guard); }
  };
  std::unique_ptr<DeviceGuardOpaque, Delete> guard_;
};

class Stream {
 public:
  // Takes the handle.
  explicit Stream(StreamHandle handle) : handle_(handle, [](StreamHandle old) { aoti_torch_delete_stream(old); }) {}
  StreamId id() const {
    StreamId id = 0;
    STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_stream_id(handle_.get(), &id));
    return id;
  }
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_13_0
  void* nativeHandle() const {
    void* native = nullptr;
    STABLE_TORCH_ERROR_CODE_CHECK(torch_stream_native_handle(handle_.get(), &native));
    return native;
  }
#endif

 private:
  std::shared_ptr<StreamOpaque> handle_;
};

inline Stream getCurrentStream(DeviceIndex index) {
  StreamHandle made = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_stream(index, &made));
  return Stream(made);
}
inline DeviceIndex getCurrentDeviceIndex() {
  DeviceIndex index = 0;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_device_index(&index));
  return index;
}

}  // namespace torch::stable::accelerator
