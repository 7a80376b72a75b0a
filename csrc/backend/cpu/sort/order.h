// Elements as unsigned keys with the same order, so that sorting and searching know widths instead of dtypes.
#pragma once
#include <bit>
#include <cstring>
#include <limits>

#include "taeda/core/tensor.h"

namespace taeda::cpu {

template <class T>
constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <class T>
using Compared = std::conditional_t<is_half<T>, float, T>;

template <class T>
using KeyOf = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

template <class T>
bool is_nan(T value) {
  if constexpr (is_half<T>)
    return is_nan(static_cast<float>(value));
  else
    return value != value;
}

// All NaNs are one key above all others; both zeros are one.
template <class T>
KeyOf<T> key_of(T value) {
  using Key = KeyOf<T>;
  constexpr Key kSign = static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));
  if constexpr (std::is_same_v<T, bool>) {
    return static_cast<Key>(value);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<Key>(static_cast<Key>(value) ^ (std::is_signed_v<T> ? kSign : Key{0}));
  } else {
    Key bits = std::bit_cast<Key>(value);
    bits = bits == kSign ? 0 : bits;
    auto signs = static_cast<Key>(static_cast<std::make_signed_t<Key>>(bits) >> (8 * sizeof(Key) - 1));
    auto key = static_cast<Key>(bits ^ (signs | kSign));  // without a branch, as signs cannot be foretold
    return is_nan(value) ? std::numeric_limits<Key>::max() : key;
  }
}

// visit() over what has an order.
template <class F>
decltype(auto) visit_ordered(DType dtype, F&& body) {
  TAEDA_CHECK(!is_complex(dtype), "complex numbers have no order; got ", dtype);
  return visit(dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, complex64> && !std::is_same_v<T, complex128>) body.template operator()<T>();
  });
}

}  // namespace taeda::cpu
