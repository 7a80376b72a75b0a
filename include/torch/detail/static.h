// What templates over modules ask of types.
#pragma once
#include <type_traits>
#include <utility>

namespace torch {
namespace nn {
class Module;
}  // namespace nn

namespace detail {
template <class M>
using is_module = std::is_base_of<nn::Module, std::decay_t<M>>;
template <class M, class T = void>
using enable_if_module_t = std::enable_if_t<is_module<M>::value, T>;

// One forward() that is no template and has no overloads.
template <class T>
concept WithForward = requires { &T::forward; };
template <class T>
using has_forward = std::bool_constant<WithForward<T>>;

// What M's forward(Args...) returns, references and all; void where it has none.
template <class M, class... Args>
struct return_type_of_forward {
  using type = void;
};
template <WithForward M, class... Args>
struct return_type_of_forward<M, Args...> {
  using type = decltype(std::declval<M>().forward(std::declval<Args>()...));
};
template <class M, class... Args>
using return_type_of_forward_t = typename return_type_of_forward<M, Args...>::type;

template <class... Ts>
constexpr bool check_not_lvalue_references() {
  return ((!std::is_lvalue_reference_v<Ts> || std::is_const_v<std::remove_reference_t<Ts>>) && ...);
}
}  // namespace detail
}  // namespace torch
