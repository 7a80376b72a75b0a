// Which kernels a call may reach: a set of backends (low bits) and functionalities (high bits).
// Dispatch takes the highest functionality in the set and, where that is per backend, the highest backend.
#pragma once
#include <bit>
#include <cstdint>

#include "taeda/core/device.h"

namespace taeda {

// From the kernel outwards. A later one sees the call first.
enum class Functionality : uint8_t {
  Dense,  // per backend from here ...
  Quantized,
  Sparse,
  SparseCsr,
  Nested,
  Memoryless,  // ... to here. Of a class whose __torch_dispatch__ answers: kernels must not look for elements
  BackendSelect,
  Python,
  TransformBack,
  Functionalize,
  Conjugate,
  Negative,
  ADInplaceOrView,
  Autograd,  // per backend
  Tracer,
  Autocast,  // per backend
  Batched,
  TransformFront,
  PythonSnapshot,
  Profiler,  // in a thread's include set while it is profiled (dispatch/profiler.h)
  Recorder,  // in a thread's include set while it records calls: its slot is never filled, so each call is resolved
  Count
};
constexpr int kFunctionalities = static_cast<int>(Functionality::Count);
constexpr int kBackendBits = 8;

constexpr bool is_per_backend(Functionality f) {
  return f <= Functionality::Memoryless || f == Functionality::Autograd || f == Functionality::Autocast;
}
// Layers stand between the caller and the backend; their kernels are told the key set, so that they can go on below.
constexpr bool is_layer(Functionality f) { return f >= Functionality::TransformBack; }

class KeySet {
 public:
  constexpr KeySet() = default;
  constexpr explicit KeySet(uint64_t bits) : bits_(bits) {}
  constexpr KeySet(Functionality f) : bits_(uint64_t{1} << (kBackendBits + static_cast<int>(f))) {}
  // Empty for a device that is a name alone.
  constexpr KeySet(DeviceType backend) : bits_(uint64_t{1} << static_cast<int>(backend) & kBackendMask) {}

  constexpr KeySet operator|(KeySet other) const { return KeySet(bits_ | other.bits_); }
  constexpr KeySet operator&(KeySet other) const { return KeySet(bits_ & other.bits_); }
  constexpr KeySet operator-(KeySet other) const { return KeySet(bits_ & ~other.bits_); }
  constexpr KeySet operator^(KeySet other) const { return KeySet(bits_ ^ other.bits_); }
  constexpr bool has(Functionality f) const { return bits_ >> (kBackendBits + static_cast<int>(f)) & 1; }
  constexpr bool has(DeviceType backend) const { return !(*this & backend).empty(); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr uint64_t bits() const { return bits_; }
  friend constexpr bool operator==(KeySet, KeySet) = default;

  // What is left once functionality f has had its turn; the recorder sees what follows, too.
  static constexpr KeySet below(Functionality f) {
    return KeySet((uint64_t{1} << (kBackendBits + static_cast<int>(f))) - 1) | KeySet(Functionality::Recorder);
  }
  // Requires: some functionality is in the set.
  constexpr Functionality top() const {
    return static_cast<Functionality>(63 - std::countl_zero(bits_ | (1 << kBackendBits)) - kBackendBits);
  }
  constexpr DeviceType backend() const {
    return static_cast<DeviceType>(31 - std::countl_zero(static_cast<uint32_t>(bits_ & 0xff) | 1u));
  }

 private:
  static constexpr uint64_t kBackendMask = (uint64_t{1} << kBackendBits) - 1;
  uint64_t bits_ = 0;
};
static_assert(kDeviceTypes <= kBackendBits);

namespace detail {
struct SlotTable {
  uint8_t first[kFunctionalities];
  uint8_t per_backend[kFunctionalities];
  int count;
};
constexpr SlotTable make_slot_table() {
  SlotTable table{};
  int next = 0;
  for (int f = 0; f < kFunctionalities; ++f) {
    bool per_backend = is_per_backend(static_cast<Functionality>(f));
    table.first[f] = static_cast<uint8_t>(next);
    table.per_backend[f] = per_backend ? 0xff : 0;
    next += per_backend ? kDeviceTypes : 1;
  }
  table.count = next;
  return table;
}
}  // namespace detail
inline constexpr detail::SlotTable kSlotTable = detail::make_slot_table();
constexpr int kSlots = kSlotTable.count;

constexpr int slot_of(Functionality f, DeviceType backend) {
  return kSlotTable.first[static_cast<int>(f)] +
         (static_cast<int>(backend) & kSlotTable.per_backend[static_cast<int>(f)]);
}
inline int slot_of(KeySet keys) { return slot_of(keys.top(), keys.backend()); }
constexpr int kFirstLayerSlot = kSlotTable.first[static_cast<int>(Functionality::TransformBack)];

constexpr KeySet kAutogradKeys = KeySet(Functionality::ADInplaceOrView) | KeySet(Functionality::Autograd);
// What a tensor's elements still have to go through before they are its values (taeda/dispatch/op.h).
constexpr KeySet kLazyKeys = KeySet(Functionality::Conjugate) | KeySet(Functionality::Negative);
// A strided tensor on this backend, as made outside inference mode.
constexpr KeySet dense_keys(DeviceType backend) {
  return KeySet(backend) | Functionality::Dense | kAutogradKeys | Functionality::Autocast;
}

}  // namespace taeda
