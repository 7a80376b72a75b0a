// Reading an element where its address says nothing of its alignment.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace taeda {

// Of bool every byte but 0 is true: views of other dtypes and memory from elsewhere hold more than 0 and 1.
template <class T>
[[gnu::always_inline]] inline T load(const void* from) {
  std::conditional_t<std::is_same_v<T, bool>, uint8_t, T> value;
  std::memcpy(&value, from, sizeof(T));
  if constexpr (std::is_same_v<T, bool>)
    return value != 0;
  else
    return value;
}

}  // namespace taeda
