// What generated declarations of ops:: need: handles, lists and default values.
#pragma once
#include <array>
#include <cmath>
#include <tuple>

#include "taeda/core/allocator.h"
#include "taeda/core/generator.h"
#include "taeda/core/tensor.h"

namespace taeda {

namespace detail {
template <class T, T... values>
inline constexpr std::array<T, sizeof...(values)> kValueArray{values...};
template <class T, size_t count, T value>
inline constexpr std::array<T, count> kRepeatedArray = [] {
  std::array<T, count> array{};
  array.fill(value);
  return array;
}();
}  // namespace detail

// Default lists: kValues<int64_t, -2, -1>, and kList<int64_t, 2, 1> for int[2]=1.
template <class T, T... values>
inline constexpr std::span<const T> kValues{detail::kValueArray<T, values...>};
template <class T, size_t count, T value>
inline constexpr std::span<const T> kList{detail::kRepeatedArray<T, count, value>};

// A function without tensor arguments runs on the device it is asked for.
inline KeySet factory_keys(std::optional<Device> device) {
  const DeviceType type = device.value_or(default_device()).type;
  if (is_name_alone(type)) [[unlikely]]
    allocator(type);  // says that there is none
  return KeySet(type) | Functionality::Dense;
}

}  // namespace taeda
