// A vector whose first N elements live inside it: most nodes have one output and one or two inputs.
#pragma once
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace taeda::autograd {

template <class T, uint32_t N>
class InlineVector {
 public:
  InlineVector() = default;
  InlineVector(InlineVector&& other) noexcept { take(other); }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) {
      clear_and_free();
      take(other);
    }
    return *this;
  }
  ~InlineVector() { clear_and_free(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  operator std::span<T>() { return {data_, size_}; }
  operator std::span<const T>() const { return {data_, size_}; }

  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) [[unlikely]]
      grow(2 * capacity_);
    return *std::construct_at(data_ + size_++, std::forward<Args>(args)...);
  }
  void push_back(T value) { emplace_back(std::move(value)); }
  // New elements are value-initialised.
  void resize(size_t size) {
    if (size > capacity_) [[unlikely]]
      grow(static_cast<uint32_t>(size));
    while (size_ < size) std::construct_at(data_ + size_++);
    while (size_ > size) std::destroy_at(data_ + --size_);
  }
  void clear() { resize(0); }

 private:
  T* inline_data() { return reinterpret_cast<T*>(inline_); }
  void grow(uint32_t capacity) {
    T* wider = std::allocator<T>().allocate(capacity);
    std::uninitialized_move(begin(), end(), wider);
    std::destroy(begin(), end());
    free_heap();
    data_ = wider;
    capacity_ = capacity;
  }
  void free_heap() {
    if (data_ != inline_data()) std::allocator<T>().deallocate(data_, capacity_);
  }
  void clear_and_free() {
    std::destroy(begin(), end());
    free_heap();
  }
  void take(InlineVector& other) {
    size_ = other.size_;
    if (other.data_ == other.inline_data()) {
      data_ = inline_data();
      capacity_ = N;
      std::uninitialized_move(other.begin(), other.end(), data_);
      std::destroy(other.begin(), other.end());
    } else {
      data_ = std::exchange(other.data_, other.inline_data());
      capacity_ = std::exchange(other.capacity_, N);
    }
    other.size_ = 0;
  }

  T* data_ = inline_data();
  uint32_t size_ = 0;
  uint32_t capacity_ = N;
  alignas(T) unsigned char inline_[N * sizeof(T)];
};

}  // namespace taeda::autograd
