// A type of device and which one of them, in the stable interface.
#pragma once
#include <string>

#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/enums.h>

namespace torch::stable {

using DeviceType = torch::headeronly::DeviceType;
using DeviceIndex = accelerator::DeviceIndex;

class Device {
 public:
  Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) { check(); }
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_10_0
  // "cpu", "cuda:1".
  Device(const std::string& text) {
    uint32_t type = 0;
    STABLE_TORCH_ERROR_CODE_CHECK(torch_parse_device_string(text.c_str(), &type, &index_));
    type_ = detail::enum_numbered<DeviceType>(static_cast<int32_t>(type));
    check();
  }
  Device(const char* text) : Device(std::string(text)) {}
#endif
  DeviceType type() const noexcept { return type_; }
  DeviceIndex index() const noexcept { return index_; }
  bool has_index() const noexcept { return index_ != -1; }
  void set_index(DeviceIndex index) { index_ = index; }
  bool is_cuda() const noexcept { return type_ == DeviceType::CUDA; }
  bool is_cpu() const noexcept { return type_ == DeviceType::CPU; }
  bool operator==(const Device& other) const noexcept = default;

 private:
  void check() const {
    STD_TORCH_CHECK(index_ >= -1 && (type_ != DeviceType::CPU || index_ <= 0), "a device has no number ", index_,
                    type_ == DeviceType::CPU ? ": the CPU is one" : "");
  }
  DeviceType type_;
  DeviceIndex index_ = -1;
};

}  // namespace torch::stable
