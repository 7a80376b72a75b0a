// The hot path: from ops::add(...) to a kernel.
#pragma once
#include "dispatch/boxing.h"
#include "dispatch/op.h"

namespace taeda {

// An op as C++ calls it: its entry of the table, and its signature.
template <class Sig>
struct TypedOp;

template <class R, class... Args>
struct TypedOp<R(Args...)> {
  using Plain = R (*)(Args...);
  using Layer = R (*)(KeySet, Args...);
  static const Signature boxing;

  const Op& op;

  // `keys` is effective already.
  [[gnu::always_inline]] R operator()(KeySet keys, Args... args) const {
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

template <class R, class... Args>
constexpr Signature TypedOp<R(Args...)>::boxing{&Boxing<R(Args...)>::call_unboxed};

// Entries of a table of kernels; the op's type chooses among the functions of that name.
#define TAEDA_KERNEL(kind, backend, op, name) \
  {KernelKind::kind, DeviceType::backend, reinterpret_cast<void*>(static_cast<decltype(table::op)::Plain>(&name))}
#define TAEDA_LAYER(kind, op, name) \
  {KernelKind::kind, DeviceType::CPU, reinterpret_cast<void*>(static_cast<decltype(table::op)::Layer>(&name))}

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
