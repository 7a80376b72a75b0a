// Lists of types, and what a function takes and gives, as PyTorch's headers name them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace c10::guts {

template <class>
struct false_t : std::false_type {};
template <template <class> class>
struct false_higher_t : std::false_type {};

namespace typelist {

template <class... Ts>
struct typelist final {
  typelist() = delete;
};

namespace detail {
template <class T>
struct type_ final {
  using type = T;
};
// What is made of a list's types: each struct below has the list's parts at hand.
template <class List>
struct Parts;
template <class... Ts>
struct Parts<typelist<Ts...>> {
  static constexpr size_t size = sizeof...(Ts);
  using tuple = std::tuple<Ts...>;
  template <template <class> class F>
  using map = typelist<F<Ts>...>;
  template <template <class> class Condition>
  static constexpr size_t count = (size_t{0} + ... + (Condition<Ts>::value ? 1 : 0));
  template <class T>
  static constexpr bool has = (std::is_same_v<T, Ts> || ...);
  template <template <class> class Condition>
  static constexpr size_t first = [] {
    size_t at = 0;
    (void)((Condition<Ts>::value || (++at, false)) || ...);
    return at;
  }();
  // From `begin` on so many, forwards (step 1) or backwards.
  template <size_t begin, ptrdiff_t step, size_t... i>
  static typelist<std::tuple_element_t<begin + static_cast<size_t>(step* static_cast<ptrdiff_t>(i)), tuple>...> pick(
      std::index_sequence<i...>);
  template <size_t begin, size_t count>
  using slice = decltype(pick<begin, 1>(std::make_index_sequence<count>()));
  template <class F>
  static auto values(F&& f) {
    return std::tuple<decltype(f(type_<Ts>()))...>{f(type_<Ts>())...};
  }
};
template <class... Lists>
struct Joined {
  using type = typelist<>;
};
template <class... Ts>
struct Joined<typelist<Ts...>> {
  using type = typelist<Ts...>;
};
template <class... As, class... Bs, class... Rest>
struct Joined<typelist<As...>, typelist<Bs...>, Rest...> : Joined<typelist<As..., Bs...>, Rest...> {};
template <template <class> class Condition, class List>
struct Filtered;
template <template <class> class Condition, class... Ts>
struct Filtered<Condition, typelist<Ts...>>
    : Joined<std::conditional_t<Condition<Ts>::value, typelist<Ts>, typelist<>>...> {};
template <class Tuple>
struct OfTuple;
template <class... Ts>
struct OfTuple<std::tuple<Ts...>> {
  using type = typelist<Ts...>;
};
}  // namespace detail

template <class List>
struct size : std::integral_constant<size_t, detail::Parts<List>::size> {};
template <class List>
using to_tuple_t = typename detail::Parts<List>::tuple;
template <class Tuple>
using from_tuple_t = typename detail::OfTuple<Tuple>::type;
template <class... Lists>
using concat_t = typename detail::Joined<Lists...>::type;
template <template <class> class Condition, class List>
using filter_t = typename detail::Filtered<Condition, List>::type;
template <template <class> class Condition, class List>
struct count_if : std::integral_constant<size_t, detail::Parts<List>::template count<Condition>> {};
template <class List, class T>
using contains = std::bool_constant<detail::Parts<List>::template has<T>>;
template <template <class> class Condition, class List>
struct all : std::bool_constant<count_if<Condition, List>::value == size<List>::value> {};
template <template <class> class Condition, class List>
struct true_for_any_type : std::bool_constant<(count_if<Condition, List>::value > 0)> {};
template <template <class> class F, class List>
using map_t = typename detail::Parts<List>::template map<F>;
template <size_t i, class List>
using element_t = std::tuple_element_t<i, to_tuple_t<List>>;
template <class List>
using head_t = element_t<0, List>;
template <class Default, class List>
using head_with_default_t = head_t<concat_t<List, typelist<Default>>>;
template <class List>
using last_t = element_t<size<List>::value - 1, List>;
template <class List, size_t count>
  requires(count <= size<List>::value)
using take_t = typename detail::Parts<List>::template slice<0, count>;
template <class List, size_t count>
  requires(count <= size<List>::value)
using drop_t = typename detail::Parts<List>::template slice<count, size<List>::value - count>;
template <class List, size_t count>
using drop_if_nonempty_t = drop_t<List, std::min(count, size<List>::value)>;
template <class List>
using reverse_t = decltype(detail::Parts<List>::template pick<size<List>::value - 1, -1>(
    std::make_index_sequence<size<List>::value>()));
template <class List, template <class> class Condition>
struct find_if : std::integral_constant<size_t, detail::Parts<List>::template first<Condition>> {
  static_assert(true_for_any_type<Condition, List>::value, "find_if: the condition holds for no type of the list");
};
// f(type_<T>) for each type, as a tuple.
template <class List, class F>
auto map_types_to_values(F&& f) {
  return detail::Parts<List>::values(std::forward<F>(f));
}

}  // namespace typelist

// --- functions
template <class F>
struct function_traits {
  static_assert(!std::is_same_v<F, F>, "function_traits wants a plain function type, as int(float)");
};
template <class Result, class... Args>
struct function_traits<Result(Args...)> {
  using func_type = Result(Args...);
  using return_type = Result;
  using parameter_types = typelist::typelist<Args...>;
  static constexpr auto number_of_parameters = sizeof...(Args);
};

namespace detail {
template <class Member>
struct strip_class {};
#define TAEDA_STRIP(qualifiers)                               \
  template <class Class, class Result, class... Args>         \
  struct strip_class<Result (Class::*)(Args...) qualifiers> { \
    using type = Result(Args...);                             \
  };
TAEDA_STRIP()
TAEDA_STRIP(const)
TAEDA_STRIP(noexcept)
TAEDA_STRIP(const noexcept)
#undef TAEDA_STRIP
template <class Member>
using strip_class_t = typename strip_class<Member>::type;
}  // namespace detail

template <class F>
struct infer_function_traits {
  using type = function_traits<detail::strip_class_t<decltype(&F::operator())>>;
};
template <class Result, class... Args>
struct infer_function_traits<Result (*)(Args...)> {
  using type = function_traits<Result(Args...)>;
};
template <class Result, class... Args>
struct infer_function_traits<Result(Args...)> {
  using type = function_traits<Result(Args...)>;
};
template <class F>
using infer_function_traits_t = typename infer_function_traits<F>::type;

template <class Result, class List>
struct make_function_traits;
template <class Result, class... Args>
struct make_function_traits<Result, typelist::typelist<Args...>> {
  using type = function_traits<Result(Args...)>;
};
template <class Result, class List>
using make_function_traits_t = typename make_function_traits<Result, List>::type;

// --- questions about types
template <class T>
    struct is_equality_comparable : std::bool_constant < requires(const T& a) {
  static_cast<bool>(a == a);
}>{};
template <class T>
    struct is_hashable : std::bool_constant < requires(T a) {
  std::hash<T>()(a);
}>{};
template <class T>
struct is_function_type : std::bool_constant<std::is_function_v<T>> {};
template <class T>
using is_equality_comparable_t = typename is_equality_comparable<T>::type;
template <class T>
using is_hashable_t = typename is_hashable<T>::type;
template <class T>
using is_function_type_t = typename is_function_type<T>::type;
template <template <class...> class Template, class T>
struct is_instantiation_of : std::false_type {};
template <template <class...> class Template, class... Args>
struct is_instantiation_of<Template, Template<Args...>> : std::true_type {};
template <template <class...> class Template, class T>
using is_instantiation_of_t = typename is_instantiation_of<Template, T>::type;
template <class T>
    struct is_functor : std::bool_constant < requires {
  typename detail::strip_class_t<decltype(&T::operator())>;
}>{};
// A function object that is a pointer to a function as well.
template <class T>
using is_stateless_lambda = std::bool_constant<[] {
  if constexpr (is_functor<std::decay_t<T>>::value)
    return std::is_convertible_v<std::decay_t<T>, typename infer_function_traits_t<std::decay_t<T>>::func_type*>;
  return false;
}()>;
template <template <class> class C>
    struct is_type_condition : std::bool_constant < requires {
  requires std::is_same_v<const bool, decltype(C<int>::value)>;
}>{};
template <class T>
struct is_fundamental : std::is_fundamental<T> {};

// --- parts of tuples
template <class Tuple, size_t... i>
constexpr auto tuple_elements(Tuple t, std::index_sequence<i...>) {
  return std::tuple<std::tuple_element_t<i, Tuple>...>(std::get<i>(t)...);
}
template <class Tuple, size_t start, size_t count>
constexpr auto tuple_slice(Tuple t) {
  return [&]<size_t... i>(std::index_sequence<i...>) {
    return tuple_elements(std::move(t), std::index_sequence<start + i...>());
  }(std::make_index_sequence<count>());
}
// The first so many or, where the number is negative, the last.
template <class Tuple, int count>
constexpr auto tuple_take(Tuple t) {
  constexpr size_t size = std::tuple_size_v<Tuple>, wanted = count < 0 ? size_t(-count) : size_t(count);
  return tuple_slice<Tuple, (count < 0 ? size - wanted : 0), wanted>(std::move(t));
}
template <class... Args, class F>
auto tuple_map(std::tuple<Args...>&& t, const F& f) {
  return std::apply(
      [&](Args&... each) {
        return std::tuple<decltype(f(std::forward<Args>(each)))...>(f(std::forward<Args>(each))...);
      },
      t);
}

}  // namespace c10::guts

namespace torch::headeronly {
namespace guts = c10::guts;
}
