// The hot path: from ops::add(...) to a kernel.
#pragma once
#include "dispatch/boxing.h"
#include "dispatch/op.h"

namespace taeda {

template <class Sig>
struct Caller;

template <class R, class... Args>
struct Caller<R(Args...)> {
  using Plain = R (*)(Args...);
  using Layer = R (*)(KeySet, Args...);

  // `keys` is effective already.
  [[gnu::always_inline]] static R call(const Op& op, KeySet keys, Args... args) {
    keys = keys - op.skipped();
    uintptr_t slot = op.slot(slot_of(keys));
    if (static_cast<intptr_t>(slot) <= 0) [[unlikely]]  // unknown or boxed
      return slow(op, keys, std::forward<Args>(args)...);
    return enter(slot, keys, std::forward<Args>(args)...);
  }

  [[gnu::noinline]] static R slow(const Op& op, KeySet keys, Args... args) {
    uintptr_t slot = op.resolve(keys);
    if (slot & kBoxedBit) {
      const Kernel& kernel = *reinterpret_cast<const Kernel*>(slot & ~kSlotBits);
      return Boxing<R(Args...)>::call_boxed(kernel.boxed, op, keys, std::forward<Args>(args)...);
    }
    return enter(slot, keys, std::forward<Args>(args)...);
  }

 private:
  [[gnu::always_inline]] static R enter(uintptr_t slot, KeySet keys, Args... args) {
    if (slot & kLayerBit) return reinterpret_cast<Layer>(slot & ~kSlotBits)(keys, std::forward<Args>(args)...);
    return reinterpret_cast<Plain>(slot)(std::forward<Args>(args)...);
  }
};

inline KeySet keys_of(const Tensor& t) { return t.defined() ? t.keys() : KeySet(); }
inline KeySet keys_of(TensorList list) {
  KeySet keys;
  for (const Tensor& t : list) keys = keys | keys_of(t);
  return keys;
}
template <class... Ts>
KeySet dispatch_keys(const Ts&... tensors) {
  return effective((keys_of(tensors) | ... | KeySet()));
}

}  // namespace taeda
