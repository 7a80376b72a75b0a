// Hashes of what has none in the standard library: enumerations, pairs and tuples, vectors, optional values.
#pragma once
#include <complex>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

#include <c10/util/ArrayRef.h>

namespace c10 {

inline size_t hash_combine(size_t seed, size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15 + (seed << 6) + (seed >> 2));
}

template <class T>
struct hash;
// The hash of several values, in this order.
template <class... Ts>
size_t get_hash(const Ts&... values) {
  size_t made = 0;
  ((made = hash_combine(made, hash<Ts>()(values))), ...);
  return made;
}

namespace detail {
template <class C>
size_t hash_of_items(const C& items) {
  size_t made = 0;
  for (const auto& item : items) made = hash_combine(made, get_hash(item));
  return made;
}
template <class T>
constexpr bool is_hashed_by_method = requires(const T& value) { T::hash(value); };
}  // namespace detail

// A type has its own by a static method hash(const T&), or by std::hash.
template <class T>
struct hash {
  size_t operator()(const T& value) const {
    if constexpr (detail::is_hashed_by_method<T>)
      return T::hash(value);
    else if constexpr (std::is_enum_v<T>)
      return std::hash<std::underlying_type_t<T>>()(static_cast<std::underlying_type_t<T>>(value));
    else
      return std::hash<T>()(value);
  }
};
template <class T>
struct hash<std::complex<T>> {
  size_t operator()(const std::complex<T>& value) const { return get_hash(value.real(), value.imag()); }
};
template <class... Ts>
struct hash<std::tuple<Ts...>> {
  size_t operator()(const std::tuple<Ts...>& values) const {
    return std::apply([](const Ts&... each) { return get_hash(each...); }, values);
  }
};
template <class A, class B>
struct hash<std::pair<A, B>> {
  size_t operator()(const std::pair<A, B>& values) const { return get_hash(values.first, values.second); }
};
template <class T>
struct hash<std::vector<T>> {
  size_t operator()(const std::vector<T>& items) const { return detail::hash_of_items(items); }
};
template <class T>
struct hash<ArrayRef<T>> {
  size_t operator()(ArrayRef<T> items) const { return detail::hash_of_items(items); }
};
template <class T>
struct hash<std::optional<T>> {
  size_t operator()(const std::optional<T>& value) const { return value ? hash_combine(1, get_hash(*value)) : 0; }
};

}  // namespace c10
namespace torch {
using c10::get_hash;
template <class T>
using hash = c10::hash<T>;
}  // namespace torch
