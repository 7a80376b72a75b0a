// What may be hung on tensors and nodes. C++ and Python hooks share these.
#pragma once
#include <span>

#include "taeda/core/tensor.h"

namespace taeda::autograd {

// Sees one gradient; an undefined result keeps it.
struct TensorHook : RefCounted {
  virtual Tensor run(const Tensor& grad) = 0;
};
// Sees a node's incoming gradients and may replace them.
struct PreHook : RefCounted {
  virtual void run(std::span<Tensor> grads) = 0;
};
// Sees a node's outgoing gradients, which it may replace, and the incoming ones.
struct PostHook : RefCounted {
  virtual void run(std::span<Tensor> grad_inputs, std::span<const Tensor> grads) = 0;
};
// Runs after a leaf's gradient was accumulated.
struct AccumulateHook : RefCounted {
  virtual void run(const Tensor& leaf) = 0;
};

// Makes a hook from a callable: make_hook<TensorHook>([](const Tensor& grad) { ... }).
template <class Base, class F>
Ref<Base> make_hook(F function) {
  if constexpr (std::is_same_v<Base, TensorHook>) {
    struct Callable final : Base {
      F call;
      explicit Callable(F f) : call(std::move(f)) {}
      Tensor run(const Tensor& grad) override { return call(grad); }
    };
    return make_ref<Callable>(std::move(function));
  } else if constexpr (std::is_same_v<Base, PreHook>) {
    struct Callable final : Base {
      F call;
      explicit Callable(F f) : call(std::move(f)) {}
      void run(std::span<Tensor> grads) override { call(grads); }
    };
    return make_ref<Callable>(std::move(function));
  } else if constexpr (std::is_same_v<Base, PostHook>) {
    struct Callable final : Base {
      F call;
      explicit Callable(F f) : call(std::move(f)) {}
      void run(std::span<Tensor> grad_inputs, std::span<const Tensor> grads) override { call(grad_inputs, grads); }
    };
    return make_ref<Callable>(std::move(function));
  } else {
    struct Callable final : Base {
      F call;
      explicit Callable(F f) : call(std::move(f)) {}
      void run(const Tensor& leaf) override { call(leaf); }
    };
    return make_ref<Callable>(std::move(function));
  }
}

}  // namespace taeda::autograd
