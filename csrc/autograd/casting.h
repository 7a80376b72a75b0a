// Autocast: while it is on for a device type, ops that say so in their declarations compute in a dtype that suits them.
// The generated kernels of that layer (autocast/ops/*.cpp) pass their tensors through a casting::Scope.
#pragma once
#include <vector>

#include "taeda/core/tensor.h"
#include "taeda/core/thread_state.h"

namespace taeda::casting {

// --- what this thread has on
TAEDA_API bool is_known(DeviceType type);  // whether it may be on for this type of device
TAEDA_API bool enabled(DeviceType type);
TAEDA_API void set_enabled(DeviceType type, bool on);
TAEDA_API DType lower_dtype(DeviceType type);
TAEDA_API void set_lower_dtype(DeviceType type, DType dtype);

// --- the cache of converted weights, which all threads share
TAEDA_API bool cache_enabled();
TAEDA_API void set_cache_enabled(bool on);
TAEDA_API void clear_cache();
// How many autocast blocks this thread is in; returns the new number.
TAEDA_API int enter();
TAEDA_API int leave();
// The blocks of compiled programs: what a block changes comes back when it is left.
TAEDA_API void enter_block(DeviceType type, bool on, DType lower);
TAEDA_API void leave_block();
TAEDA_API size_t blocks();  // that this thread entered so and has not left

enum class Rule : uint8_t {
  Lower,    // to the lower-precision dtype of the device type
  Fp32,     // to float32
  Promote,  // to the widest among the arguments
};

// Floating-point tensors on the device type, float64 left out.
TAEDA_API bool is_eligible(const Tensor& t, DeviceType type);
// Those in the dtype, weights from the cache; what else there is, as it is.
TAEDA_API Tensor cast(const Tensor& t, DType to, DeviceType type);

// One call's casts. The calls made in its lifetime are not cast again.
class TAEDA_API Scope : Below {
 public:
  // `keys` tell the backend. Rule::Promote looks at `tensors`, the others do not.
  template <class... Ts>
  Scope(KeySet keys, Rule rule, const Ts&... tensors) : Below(Functionality::Autocast), type_(keys.backend()) {
    if (!enabled(type_)) return;
    active_ = true;
    to_ = rule == Rule::Lower ? lower_dtype(type_) : DType::Float32;
    if (rule != Rule::Promote) return;
    active_ = false;
    (widen(tensors), ...);
  }
  Tensor operator()(const Tensor& t) const { return active_ ? cast(t, to_, type_) : t; }
  std::vector<Tensor> operator()(TensorList list) const;

 private:
  void widen(const Tensor& t);
  void widen(TensorList list);

  DeviceType type_;
  DType to_ = DType::Float32;
  bool active_ = false;
};

}  // namespace taeda::casting
