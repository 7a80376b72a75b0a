// An option of several numbers that one may stand for: {3, 3} or 3.
#pragma once
#include <array>
#include <optional>
#include <ostream>
#include <vector>

#include <c10/util/ArrayRef.h>

namespace torch {

template <size_t D, class T = int64_t>
class ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T> list) : ExpandingArray(c10::ArrayRef<T>(list)) {}
  ExpandingArray(std::vector<T> list) : ExpandingArray(c10::ArrayRef<T>(list)) {}
  ExpandingArray(c10::ArrayRef<T> list) {
    TORCH_CHECK(list.size() == D, "expected ", D, " numbers; got ", list.size());
    std::copy(list.begin(), list.end(), values_.begin());
  }
  ExpandingArray(T single) { values_.fill(single); }
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}

  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  operator c10::ArrayRef<T>() const { return values_; }
  size_t size() const noexcept { return D; }
  T operator[](size_t i) const { return values_[i]; }
  friend bool operator==(const ExpandingArray& a, const ExpandingArray& b) { return a.values_ == b.values_; }

 protected:
  std::array<T, D> values_;
};
template <size_t D, class T>
std::ostream& operator<<(std::ostream& out, const ExpandingArray<D, T>& array) {
  if (array.size() == 1) return out << array->at(0);
  return out << static_cast<c10::ArrayRef<T>>(array);
}

// The same of numbers that may be none: {std::nullopt, 4}.
template <size_t D, class T = int64_t>
class ExpandingArrayWithOptionalElem : public ExpandingArray<D, std::optional<T>> {
  using Base = ExpandingArray<D, std::optional<T>>;

 public:
  using Base::Base;
  ExpandingArrayWithOptionalElem(std::initializer_list<T> list)
      : ExpandingArrayWithOptionalElem(c10::ArrayRef<T>(list)) {}
  ExpandingArrayWithOptionalElem(std::vector<T> list) : ExpandingArrayWithOptionalElem(c10::ArrayRef<T>(list)) {}
  ExpandingArrayWithOptionalElem(c10::ArrayRef<T> list) : Base(std::optional<T>()) {
    TORCH_CHECK(list.size() == D, "expected ", D, " numbers; got ", list.size());
    std::copy(list.begin(), list.end(), this->values_.begin());
  }
  ExpandingArrayWithOptionalElem(T single) : Base(std::optional<T>(single)) {}
  ExpandingArrayWithOptionalElem(const std::array<T, D>& values)
      : ExpandingArrayWithOptionalElem(c10::ArrayRef<T>(values)) {}
};
template <size_t D, class T>
std::ostream& operator<<(std::ostream& out, const ExpandingArrayWithOptionalElem<D, T>& array) {
  out << (D == 1 ? "" : "[");
  for (size_t i = 0; i < D; ++i) {
    out << (i ? ", " : "");
    if (array[i])
      out << *array[i];
    else
      out << "None";
  }
  return out << (D == 1 ? "" : "]");
}

}  // namespace torch
