#include "taeda/core/device.h"

#include <array>
#include <charconv>

#include "taeda/core/fork.h"
#include "taeda/core/warn.h"

namespace taeda {

namespace {
Mutex g_mutex;
std::array<std::string, kDeviceNames>& names() {
  static std::array<std::string, kDeviceNames> table{
      "cpu",    "cuda",   "xpu",    "mps",   "meta", "privateuseone", "privateusetwo", "privateusethree",
      "mkldnn", "opengl", "opencl", "ideep", "hip",  "fpga",          "maia",          "xla",
      "vulkan", "metal",  "hpu",    "ve",    "lazy", "ipu",           "mtia"};
  return table;
}
thread_local Device t_default{};
}  // namespace

std::string device_type_name(DeviceType type) {
  TAEDA_CHECK(static_cast<int>(type) < kDeviceNames, "there is no device type of the number ", static_cast<int>(type));
  Lock lock(g_mutex);
  return names()[static_cast<int>(type)];
}

void rename_privateuse(int which, std::string name) {
  TAEDA_CHECK(which >= 1 && which <= 3, "a backend of one's own takes slot 1, 2 or 3; got ", which);
  Lock lock(g_mutex);
  int own = static_cast<int>(privateuse(which));
  for (int i = 0; i < kDeviceNames; ++i)
    TAEDA_CHECK(names()[i] != name || i == own, "the device name '", name, "' is taken");
  names()[own] = std::move(name);
}

Device parse_device(std::string_view text) {
  size_t colon = text.find(':');
  std::string_view type = text.substr(0, colon);
  int index = -1;
  bool good = true;
  if (colon != std::string_view::npos) {
    std::string_view digits = text.substr(colon + 1);
    auto [end, code] = std::from_chars(digits.begin(), digits.end(), index);
    good = code == std::errc() && end == digits.end() && index >= 0 && index < 128 &&
           (digits.size() == 1 || digits[0] != '0');
  }
  Device found{DeviceType::Metal};  // the one name that is not written
  if (good) {
    Lock lock(g_mutex);
    for (int i = 0; i < kDeviceNames; ++i)
      if (names()[i] == type) found = {static_cast<DeviceType>(i), static_cast<int8_t>(index)};
  }
  if (found.type == DeviceType::MKLDNN) warn("'mkldnn' as a device will go: tensors of oneDNN lie on 'cpu'");
  if (found.type != DeviceType::Metal) return found;
  TAEDA_FAIL(Runtime, "'", text, "' is no device; expected 'cpu', 'meta', 'cuda' or 'cuda:0'");
}

void append(std::string& out, Device device) {
  out += device_type_name(device.type);
  if (device.index >= 0) append_any(out, str(":", static_cast<int>(device.index)));
}

Device default_device() { return t_default; }
void set_default_device(Device device) { t_default = device; }

}  // namespace taeda
