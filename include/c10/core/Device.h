// Where memory lies: a type of device and which one of them.
#pragma once
#include <functional>
#include <ostream>

#include <c10/util/Exception.h>
#include <c10/util/Optional.h>
#include <taeda/core/device.h>

namespace c10 {

using DeviceType = ::taeda::DeviceType;
using DeviceIndex = int8_t;
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kMeta = DeviceType::Meta;
constexpr DeviceType kXPU = DeviceType::XPU, kMPS = DeviceType::MPS, kPrivateUse1 = DeviceType::PrivateUse1;
constexpr DeviceType kHIP = DeviceType::HIP, kFPGA = DeviceType::FPGA, kMAIA = DeviceType::MAIA;
constexpr DeviceType kXLA = DeviceType::XLA, kVulkan = DeviceType::Vulkan, kMetal = DeviceType::Metal;
constexpr DeviceType kHPU = DeviceType::HPU, kVE = DeviceType::VE, kLazy = DeviceType::Lazy;
constexpr DeviceType kIPU = DeviceType::IPU, kMTIA = DeviceType::MTIA;
constexpr int COMPILE_TIME_MAX_DEVICE_TYPES = ::taeda::kDeviceNames;

inline std::string DeviceTypeName(DeviceType type, bool lower_case = false) {
  std::string name = ::taeda::device_type_name(type);
  if (!lower_case)
    for (char& c : name) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}
}  // namespace c10
namespace taeda {  // where the enumerations are, so that they are found
inline std::ostream& operator<<(std::ostream& out, DeviceType type) { return out << c10::DeviceTypeName(type, true); }
}  // namespace taeda
namespace c10 {
inline bool isValidDeviceType(DeviceType type) { return static_cast<int>(type) < COMPILE_TIME_MAX_DEVICE_TYPES; }
inline void register_privateuse1_backend(const std::string& name) { ::taeda::rename_privateuse(1, name); }
inline std::string get_privateuse1_backend(bool lower_case = true) {
  return DeviceTypeName(DeviceType::PrivateUse1, lower_case);
}
inline bool is_privateuse1_backend_registered() { return get_privateuse1_backend() != "privateuseone"; }

struct Device : ::taeda::Device {
  using Type = DeviceType;
  Device() = default;
  Device(DeviceType type, DeviceIndex index = -1) : ::taeda::Device{type, index} {
    TORCH_CHECK(isValidDeviceType(type), "there is no device of type ", DeviceTypeName(type, true), " here");
  }
  Device(::taeda::Device device) : ::taeda::Device(device) {}
  Device(const std::string& text) : ::taeda::Device(::taeda::parse_device(text)) {}
  Device(const char* text) : Device(std::string(text)) {}

  DeviceType type() const { return ::taeda::Device::type; }
  DeviceIndex index() const { return ::taeda::Device::index; }
  bool has_index() const { return index() != -1; }
  void set_index(DeviceIndex index) { ::taeda::Device::index = index; }
  bool is_cuda() const { return type() == DeviceType::CUDA; }
  bool is_cpu() const { return type() == DeviceType::CPU; }
  bool is_xpu() const { return type() == DeviceType::XPU; }
  bool is_mps() const { return type() == DeviceType::MPS; }
  bool is_meta() const { return type() == DeviceType::Meta; }
  bool is_hip() const { return type() == DeviceType::HIP; }
  bool is_xla() const { return type() == DeviceType::XLA; }
  bool is_hpu() const { return type() == DeviceType::HPU; }
  bool is_mtia() const { return type() == DeviceType::MTIA; }
  bool is_vulkan() const { return type() == DeviceType::Vulkan; }
  bool is_privateuseone() const { return type() == DeviceType::PrivateUse1; }
  std::string str() const { return ::taeda::str(static_cast<const ::taeda::Device&>(*this)); }
  friend bool operator==(const Device& a, const Device& b) { return a.type() == b.type() && a.index() == b.index(); }
  friend std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.str(); }
};

}  // namespace c10

namespace at {
namespace detail {
inline std::optional<::taeda::Device> device_or_none(const std::optional<c10::Device>& device) {
  return device ? std::optional<::taeda::Device>(*device) : std::nullopt;
}
}  // namespace detail
}  // namespace at

template <>
struct std::hash<c10::DeviceType> {
  size_t operator()(c10::DeviceType type) const { return static_cast<size_t>(type); }
};
template <>
struct std::hash<c10::Device> {
  size_t operator()(c10::Device device) const {
    return static_cast<size_t>(device.type()) << 8 | static_cast<uint8_t>(device.index());
  }
};
