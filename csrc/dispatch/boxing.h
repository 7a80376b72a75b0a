// From a C++ signature to boxed calls and back; instantiated once per distinct signature (generated signatures.cpp).
#pragma once
#include <tuple>

#include "dispatch/op.h"

namespace taeda {

// How an argument of a C++ type is read from a Value; `Held` keeps alive what a span or reference points to.
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

// In-place and out ops return nothing in C++; boxed, their results are the mutable arguments. Signature::call_unboxed
// leaves the arguments of a void function in `stack` for the caller (Op::call_boxed) to pick those from.
template <class Sig>
struct Boxing;

template <class R, class... Args>
struct Boxing<R(Args...)> {
  static R call_boxed(const BoxedFunction& kernel, const Op& op, KeySet keys, Args... args) {
    Stack stack;
    stack.reserve(sizeof...(Args) + 2);
    (stack.emplace_back(args), ...);
    kernel(op, keys, stack);
    if constexpr (!std::is_void_v<R>) return Results<R>::pop(stack);
  }

  static void call_unboxed(void* kernel, bool is_layer, KeySet keys, Stack& stack) {
    call_unboxed(kernel, is_layer, keys, stack, std::index_sequence_for<Args...>());
  }
  template <size_t... I>
  static void call_unboxed(void* kernel, bool is_layer, KeySet keys, Stack& stack, std::index_sequence<I...>) {
    constexpr size_t n = sizeof...(Args);
    size_t base = stack.size() - n;
    std::tuple<typename Unbox<Args>::Held...> held{Unbox<Args>::read(stack[base + I])...};
    auto invoke = [&]() -> R {
      if (is_layer) return reinterpret_cast<R (*)(KeySet, Args...)>(kernel)(keys, std::get<I>(held)...);
      return reinterpret_cast<R (*)(Args...)>(kernel)(std::get<I>(held)...);
    };
    if constexpr (std::is_void_v<R>) {
      invoke();
    } else {
      R result = invoke();
      stack.resize(base);
      Results<R>::push(stack, std::move(result));
    }
  }
};

}  // namespace taeda
