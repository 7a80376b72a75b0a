// Arrays of a fixed length, which kernels take by value.
#pragma once
#include <algorithm>

namespace at::detail {

template <class T, int size_>
struct Array {
  T data[size_];

  Array() = default;
  Array(const T (&values)[size_]) { std::copy_n(values, size_, data); }
  explicit Array(T value) { std::fill_n(data, size_, value); }
  T& operator[](int i) { return data[i]; }
  T operator[](int i) const { return data[i]; }
  static constexpr int size() { return size_; }
};

}  // namespace at::detail
