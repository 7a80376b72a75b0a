// A view of elements that lie one after another in memory; it owns nothing.
#pragma once
#include <array>
#include <initializer_list>
#include <iterator>
#include <ostream>
#include <span>
#include <vector>

#include <c10/util/Exception.h>
#include <c10/util/Optional.h>

namespace c10 {

template <class T>
class ArrayRef {
 public:
  using value_type = T;
  using size_type = size_t;
  using iterator = const T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end) : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  // What has data() and size(): vectors, arrays, spans.
  template <class Container>
    requires(!std::is_same_v<std::remove_cvref_t<Container>, ArrayRef>) && requires(const Container& c) {
      { c.data() } -> std::convertible_to<const T*>;
      { c.size() } -> std::convertible_to<size_t>;
    }
  constexpr ArrayRef(const Container& container) : data_(container.data()), size_(container.size()) {}
  template <size_t N>
  constexpr ArrayRef(const T (&array)[N]) : data_(array), size_(N) {}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
  constexpr ArrayRef(const std::initializer_list<T>& list) : data_(list.begin()), size_(list.size()) {}
#pragma GCC diagnostic pop

  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr iterator begin() const { return data_; }
  constexpr iterator end() const { return data_ + size_; }
  constexpr iterator cbegin() const { return begin(); }
  constexpr iterator cend() const { return end(); }
  constexpr reverse_iterator rbegin() const { return reverse_iterator(end()); }
  constexpr reverse_iterator rend() const { return reverse_iterator(begin()); }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  constexpr const T& at(size_t i) const {
    TORCH_CHECK_INDEX(i < size_, "index ", i, " is outside of an array of ", size_);
    return data_[i];
  }
  constexpr const T& front() const {
    TORCH_CHECK(size_ > 0, "front() of an empty array");
    return data_[0];
  }
  constexpr const T& back() const {
    TORCH_CHECK(size_ > 0, "back() of an empty array");
    return data_[size_ - 1];
  }
  constexpr ArrayRef slice(size_t begin, size_t count) const {
    TORCH_CHECK(begin + count <= size_, "a slice of ", count, " from ", begin, " is outside of an array of ", size_);
    return {data_ + begin, count};
  }
  constexpr ArrayRef slice(size_t begin) const { return slice(begin, size_ - begin); }
  bool equals(ArrayRef other) const {
    if (size_ != other.size_) return false;
    for (size_t i = 0; i < size_; ++i)
      if (!(data_[i] == other.data_[i])) return false;
    return true;
  }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
  template <class F>
  bool allMatch(const F& f) const {
    for (const T& item : *this)
      if (!f(item)) return false;
    return true;
  }

  // As the core takes it, of a class that T is without more data, too.
  constexpr operator std::span<const T>() const { return {data_, size_}; }
  template <class Base>
    requires std::is_base_of_v<Base, T> && (!std::is_same_v<Base, T>) && (sizeof(Base) == sizeof(T))
  operator std::span<const Base>() const {
    return {static_cast<const Base*>(data_), size_};
  }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

template <class T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> list) {
  out << "[";
  for (size_t i = 0; i < list.size(); ++i) out << (i ? ", " : "") << list[i];
  return out << "]";
}
template <class T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <class T>
bool operator==(const std::vector<T>& a, ArrayRef<T> b) {
  return ArrayRef<T>(a).equals(b);
}
template <class T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) {
  return a.equals(ArrayRef<T>(b));
}

template <class T>
ArrayRef<T> makeArrayRef(const std::vector<T>& list) {
  return list;
}
template <class T>
ArrayRef<T> makeArrayRef(const T* data, size_t size) {
  return {data, size};
}
template <class T, size_t N>
ArrayRef<T> makeArrayRef(const std::array<T, N>& list) {
  return list;
}
template <class T>
class MutableArrayRef : public ArrayRef<T> {
 public:
  using ArrayRef<T>::ArrayRef;
  MutableArrayRef(std::vector<T>& list) : ArrayRef<T>(list) {}
  T* data() const { return const_cast<T*>(ArrayRef<T>::data()); }
  T* begin() const { return data(); }
  T* end() const { return data() + this->size(); }
  T& operator[](size_t i) const { return data()[i]; }
};

using IntArrayRef = ArrayRef<int64_t>;
using IntList = ArrayRef<int64_t>;

}  // namespace c10
