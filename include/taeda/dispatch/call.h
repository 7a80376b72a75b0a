// The hot path: from ops::add(...) to a kernel.
#pragma once
#include "taeda/dispatch/boxing.h"
#include "taeda/dispatch/op.h"

namespace taeda {

// An op as C++ calls it: its entry of the table, and its signature.
template <class Sig>
struct TypedOp;

template <class R, class... Args>
struct TypedOp<R(Args...)> {
  using Boxing = taeda::Boxing<R(Args...)>;
  const Op& op;

  // `keys` is effective already.
  R operator()(KeySet keys, Args... args) const { return Boxing::dispatch(op, keys, std::forward<Args>(args)...); }
};

// Entries of a table of kernels; the op's type chooses among the functions of that name.
#define TAEDA_KERNEL(functionality, device, op, name) \
  {functionality, device, reinterpret_cast<void*>(static_cast<decltype(table::op)::Boxing::Plain>(&name))}
#define TAEDA_LAYER(functionality, op, name)   \
  {Functionality::functionality, kEveryDevice, \
   reinterpret_cast<void*>(static_cast<decltype(table::op)::Boxing::Layer>(&name))}

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
