// Where memory lives.
#pragma once
#include <cstdint>
#include <string>

#include "core/error.h"

namespace taeda {

enum class DeviceType : uint8_t { CPU, CUDA, Meta, PrivateUse1, PrivateUse2, PrivateUse3 };
constexpr int kDeviceTypes = 6;

struct Device {
  DeviceType type = DeviceType::CPU;
  int8_t index = -1;  // -1: the current one of its type
  friend bool operator==(Device, Device) = default;
  bool is_cpu() const { return type == DeviceType::CPU; }
};

// "cpu", "cuda", "meta", or the name that a PrivateUse backend was given.
TAEDA_API std::string device_type_name(DeviceType type);
TAEDA_API void rename_privateuse(int which, std::string name);  // which: 1 to 3
TAEDA_API Device parse_device(std::string_view text);           // "cuda:1"; RuntimeError if malformed
TAEDA_API void append(std::string& out, Device device);

// The device of new tensors made without device=.
TAEDA_API Device default_device();
TAEDA_API void set_default_device(Device device);

}  // namespace taeda
