// From a C++ signature to boxed calls and back; instantiated once per distinct signature (generated signatures.cpp).
#pragma once
#include <tuple>

#include "taeda/dispatch/op.h"

namespace taeda {

// How an argument of a C++ type is read from a Value: `Held` is what lives while the call lasts.
template <class T>
struct Unbox;

#define TAEDA_UNBOX(type, held, expression)                 \
  template <>                                               \
  struct Unbox<type> {                                      \
    using Held = held;                                      \
    static Held read(const Value& v) { return expression; } \
  };
TAEDA_UNBOX(const Tensor&, Tensor, v.to_tensor())
TAEDA_UNBOX(Tensor, Tensor, v.to_tensor())
TAEDA_UNBOX(TensorList, TensorList, v.to_tensor_list())
TAEDA_UNBOX(const Scalar&, Scalar, v.to_scalar())
TAEDA_UNBOX(Scalar, Scalar, v.to_scalar())
TAEDA_UNBOX(const std::optional<Scalar>&, std::optional<Scalar>, v.is_none() ? std::optional<Scalar>() : v.to_scalar())
TAEDA_UNBOX(std::span<const Scalar>, std::span<const Scalar>, v.to_scalar_list())
TAEDA_UNBOX(int64_t, int64_t, v.to_int())
TAEDA_UNBOX(double, double, v.to_float())
TAEDA_UNBOX(bool, bool, v.to_bool())
TAEDA_UNBOX(IntList, IntList, v.to_int_list())
TAEDA_UNBOX(std::span<const double>, std::span<const double>, v.to_float_list())
TAEDA_UNBOX(std::vector<Tensor>, std::vector<Tensor>,
            std::vector<Tensor>(v.to_tensor_list().begin(), v.to_tensor_list().end()))
TAEDA_UNBOX(std::string_view, std::string_view, v.to_string())
TAEDA_UNBOX(DType, DType, v.to_dtype())
TAEDA_UNBOX(Device, Device, v.to_device())
TAEDA_UNBOX(Layout, Layout, v.to_layout())
TAEDA_UNBOX(MemoryFormat, MemoryFormat, v.to_memory_format())
TAEDA_UNBOX(const Ref<Generator>&, Ref<Generator>, v.to_generator())
#undef TAEDA_UNBOX
template <class T>
struct Unbox<std::optional<T>> {
  using Held = std::optional<T>;
  static Held read(const Value& v) { return v.is_none() ? Held() : Held(Unbox<T>::read(v)); }
};

template <class T>
[[gnu::noinline]] void push(Stack& stack, const T& value) {
  stack.emplace_back(value);
}

template <class R>
struct Results {
  static void push(Stack& stack, R&& result) { stack.emplace_back(std::move(result)); }
  static R pop(Stack& stack) {
    R result = Unbox<R>::read(stack.back());
    stack.pop_back();
    return result;
  }
};
template <class... Ts>
struct Results<std::tuple<Ts...>> {
  static void push(Stack& stack, std::tuple<Ts...>&& results) {
    std::apply([&](Ts&... parts) { (Results<Ts>::push(stack, std::move(parts)), ...); }, results);
  }
  static std::tuple<Ts...> pop(Stack& stack) { return pop(stack, std::index_sequence_for<Ts...>()); }
  template <size_t... I>
  static std::tuple<Ts...> pop(Stack& stack, std::index_sequence<I...>) {
    constexpr size_t n = sizeof...(Ts);
    size_t base = stack.size() - n;
    std::tuple<Ts...> results{Unbox<Ts>::read(stack[base + I])...};
    stack.resize(base);
    return results;
  }
};

// What a signature needs to cross between the two kinds of call. In-place and out ops return nothing in C++; boxed,
// their results are the mutable arguments: Signature::call_unboxed leaves the arguments of a void function in `stack`
// for the caller (Op::call_boxed) to pick those from.
template <class Sig>
struct Boxing;

template <class R, class... Args>
struct Boxing<R(Args...)> {
  using Plain = R (*)(Args...);
  using Layer = R (*)(KeySet, Args...);
  static const Signature signature;

  [[gnu::always_inline]] static R call(void* function, bool is_layer, KeySet keys, Args... args) {
    if (is_layer) return reinterpret_cast<Layer>(function)(keys, std::forward<Args>(args)...);
    return reinterpret_cast<Plain>(function)(std::forward<Args>(args)...);
  }

  // The hot path: one function for all ops of the signature, which ends in a jump to the kernel.
  [[gnu::noinline]] static R dispatch(const Op& op, KeySet keys, Args... args) {
    keys = keys - op.skipped();
    uintptr_t slot = op.slot(slot_of(keys));
    if (static_cast<intptr_t>(slot) <= 0) [[unlikely]]
      return call_slow(op, keys, std::forward<Args>(args)...);
    return call(reinterpret_cast<void*>(slot & ~kSlotBits), slot & kLayerBit, keys, std::forward<Args>(args)...);
  }

  // What a slot that is unknown as yet, or boxed, comes to.
  [[gnu::noinline]] static R call_slow(const Op& op, KeySet keys, Args... args) {
    uintptr_t slot = op.resolve(keys);
    void* address = reinterpret_cast<void*>(slot & ~kSlotBits);
    if (!(slot & kBoxedBit)) return call(address, slot & kLayerBit, keys, std::forward<Args>(args)...);
    Stack stack;
    stack.reserve(sizeof...(Args) + 2);
    (push(stack, args), ...);
    static_cast<const Kernel*>(address)->boxed(op, keys, stack);
    if constexpr (!std::is_void_v<R>) return Results<R>::pop(stack);
  }

  static void call_unboxed(void* function, bool is_layer, KeySet keys, Stack& stack) {
    [&]<size_t... I>(std::index_sequence<I...>) {
      size_t base = stack.size() - sizeof...(Args);
      if constexpr (std::is_void_v<R>) {
        call(function, is_layer, keys, Unbox<Args>::read(stack[base + I])...);
      } else {
        R result = call(function, is_layer, keys, Unbox<Args>::read(stack[base + I])...);
        stack.resize(base);
        Results<R>::push(stack, std::move(result));
      }
    }(std::index_sequence_for<Args...>());
  }
};

template <class R, class... Args>
constexpr Signature Boxing<R(Args...)>::signature{&Boxing::call_unboxed};

}  // namespace taeda
