// Where memory lives.
#pragma once
#include <cstdint>
#include <string>

#include "taeda/core/error.h"

namespace taeda {

// For XPU and MPS, and all behind the PrivateUse ones, there is the name alone, so that programs may speak of them.
enum class DeviceType : uint8_t {
  CPU,
  CUDA,
  XPU,
  MPS,
  Meta,
  PrivateUse1,
  PrivateUse2,
  PrivateUse3,
  MKLDNN,
  OPENGL,
  OPENCL,
  IDEEP,
  HIP,
  FPGA,
  MAIA,
  XLA,
  Vulkan,
  Metal,
  HPU,
  VE,
  Lazy,
  IPU,
  MTIA,
  COMPILE_TIME_MAX_DEVICE_TYPES
};
// Those that kernels, allocators and keys may be of, and all.
constexpr int kDeviceTypes = static_cast<int>(DeviceType::PrivateUse3) + 1;
constexpr int kDeviceNames = static_cast<int>(DeviceType::COMPILE_TIME_MAX_DEVICE_TYPES);
constexpr bool is_name_alone(DeviceType type) { return static_cast<int>(type) >= kDeviceTypes; }
constexpr DeviceType privateuse(int which) {  // 1 to 3
  return static_cast<DeviceType>(static_cast<int>(DeviceType::PrivateUse1) + which - 1);
}

struct Device {
  DeviceType type = DeviceType::CPU;
  int8_t index = -1;  // -1: the current one of its type
  friend bool operator==(Device, Device) = default;
  bool is_cpu() const { return type == DeviceType::CPU; }
};

// "cpu", "cuda", "meta", ..., or the name that a PrivateUse backend was given.
TAEDA_API std::string device_type_name(DeviceType type);
TAEDA_API void rename_privateuse(int which, std::string name);  // which: 1 to 3
TAEDA_API Device parse_device(std::string_view text);           // "cuda:1"; RuntimeError if malformed
TAEDA_API void append(std::string& out, Device device);

// The device of new tensors made without device=.
TAEDA_API Device default_device();
TAEDA_API void set_default_device(Device device);

}  // namespace taeda
