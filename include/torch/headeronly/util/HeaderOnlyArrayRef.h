// A view of elements that lie one after another, which somebody else owns.
#pragma once
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <vector>

#include <torch/headeronly/util/Exception.h>

namespace c10 {

template <class T>
class HeaderOnlyArrayRef {
 public:
  using iterator = const T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using size_type = size_t;
  using value_type = T;

  constexpr HeaderOnlyArrayRef() = default;
  constexpr HeaderOnlyArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr HeaderOnlyArrayRef(const T* begin, const T* end) : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  constexpr HeaderOnlyArrayRef(const T& one) : data_(&one), size_(1) {}
  // Of the elements that stand in the very call; they live as long as it does.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
  constexpr HeaderOnlyArrayRef(std::initializer_list<T> items) : data_(items.begin()), size_(items.size()) {}
#pragma GCC diagnostic pop
  template <size_t N>
  constexpr HeaderOnlyArrayRef(const T (&items)[N]) : data_(items), size_(N) {}
  // A vector, an array, a span, or a list of another library.
  template <class Items>
    requires requires(const Items& items) {
      { items.data() } -> std::convertible_to<const T*>;
      { items.size() } -> std::convertible_to<size_t>;
    }
  constexpr HeaderOnlyArrayRef(const Items& items) : data_(items.data()), size_(items.size()) {}

  constexpr iterator begin() const { return data_; }
  constexpr iterator end() const { return data_ + size_; }
  constexpr iterator cbegin() const { return begin(); }
  constexpr iterator cend() const { return end(); }
  constexpr reverse_iterator rbegin() const { return reverse_iterator(end()); }
  constexpr reverse_iterator rend() const { return reverse_iterator(begin()); }
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  constexpr const T& at(size_t i) const {
    STD_TORCH_CHECK(i < size_, "the list has ", size_, " elements; it was asked for number ", i);
    return data_[i];
  }
  constexpr const T& front() const { return at(0); }
  constexpr const T& back() const { return at(size_ - 1); }
  constexpr HeaderOnlyArrayRef slice(size_t first, size_t count) const {
    STD_TORCH_CHECK(first + count <= size_, "elements ", first, " to ", first + count, " of a list of ", size_);
    return {data_ + first, count};
  }
  constexpr HeaderOnlyArrayRef slice(size_t first) const { return slice(first, size_ - first); }
  constexpr bool equals(HeaderOnlyArrayRef other) const {
    return size_ == other.size_ && std::equal(begin(), end(), other.begin());
  }
  constexpr bool allMatch(const std::function<bool(const T&)>& holds) const {
    return std::all_of(begin(), end(), holds);
  }
  std::vector<T> vec() const { return {begin(), end()}; }
  friend constexpr bool operator==(HeaderOnlyArrayRef a, HeaderOnlyArrayRef b) { return a.equals(b); }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace c10

namespace torch::headeronly {
using c10::HeaderOnlyArrayRef;
using IntHeaderOnlyArrayRef = HeaderOnlyArrayRef<int64_t>;
}  // namespace torch::headeronly
