// From a C++ function to a primitive: the arguments are read from the stack by the function's parameter types.
#pragma once
#include <type_traits>

#include "jit/dtype_numbers.h"
#include "jit/primitive.h"
#include "taeda/dispatch/boxing.h"
#include "taeda/dispatch/collections.h"

namespace taeda::jit {

template <class T>
struct Read {
  using Held = typename Unbox<T>::Held;
  static Held from(const Value& value) { return Unbox<T>::read(value); }
};
// One that is there.
template <>
struct Read<const Tensor&> {
  using Held = Tensor;
  static Held from(const Value& value) {
    TAEDA_CHECK_TYPE(!value.is_none(), "a tensor was expected; got None");
    return value.to_tensor();
  }
};
template <>
struct Read<const Value&> {
  using Held = const Value&;
  static Held from(const Value& value) { return value; }
};
template <>
struct Read<Value&&> {
  using Held = Value&&;
  static Held from(Value& value) { return std::move(value); }
};
template <>
struct Read<ListRef> {
  using Held = ListRef;
  static Held from(const Value& value) { return ListRef(value); }
};
template <>
struct Read<Dict&> {
  using Held = Dict&;
  static Held from(const Value& value) { return value.to_dict(); }
};
template <>
struct Read<complex128> {
  using Held = complex128;
  static Held from(const Value& value) { return value.to_scalar().to<complex128>(); }
};
// Of programs these are ints.
template <>
struct Read<DType> {
  using Held = DType;
  static Held from(const Value& value) {
    return value.tag() == Value::Tag::Int ? dtype_numbered(value.to_int()) : value.to_dtype();
  }
};
template <class T>
struct Read<std::optional<T>> {
  using Held = std::optional<T>;
  static Held from(const Value& value) { return value.is_none() ? Held() : Held(Read<T>::from(value)); }
};

namespace detail {

template <class R, class... Args, size_t... I>
void call_typed(R (*function)(Args...), Stack& stack, std::index_sequence<I...>) {
  size_t base = stack.size() - sizeof...(Args);
  if constexpr (std::is_void_v<R>) {
    function(Read<Args>::from(stack[base + I])...);
    stack.resize(base);
  } else {
    R result = function(Read<Args>::from(stack[base + I])...);
    stack.resize(base);
    Results<R>::push(stack, std::move(result));
  }
}
template <class R, class... Args>
void call_typed(R (*function)(Args...), Stack& stack) {
  call_typed(function, stack, std::index_sequence_for<Args...>());
}

}  // namespace detail

// {"aten::add.int(int a, int b) -> int", typed<[](int64_t a, int64_t b) { return a + b; }>}
template <auto function>
void typed(Stack& stack, size_t) {
  detail::call_typed(+function, stack);
}

// Each file of primitives is one of these.
PrimitiveTable number_primitives();
PrimitiveTable math_primitives();
PrimitiveTable text_primitives();
PrimitiveTable format_primitives();
PrimitiveTable list_primitives();
PrimitiveTable dict_primitives();
PrimitiveTable tensor_primitives();
PrimitiveTable device_primitives();
PrimitiveTable forwarding_primitives();
PrimitiveTable object_primitives();

// Text as print, str and format show a value; inside a collection strings are quoted.
std::string shown(const Value& value, bool inside = false);
std::string shown(double number);  // as Python's repr
std::string quoted(std::string_view text);

}  // namespace taeda::jit
