// A list that may be absent: nullopt, one number or a list of them.
#pragma once
#include <c10/util/ArrayRef.h>

namespace c10 {

template <class T>
class OptionalArrayRef {
 public:
  constexpr OptionalArrayRef() = default;
  constexpr OptionalArrayRef(std::nullopt_t) {}
  // A number of another type is converted by the caller, where it lives as long as the call.
  constexpr OptionalArrayRef(const T& one) : list_(one), has_value_(true) {}
  constexpr OptionalArrayRef(ArrayRef<T> list) : list_(list), has_value_(true) {}
  constexpr OptionalArrayRef(const std::initializer_list<T>& list) : list_(list), has_value_(true) {}
  template <class U>
    requires(!std::is_same_v<std::remove_cvref_t<U>, OptionalArrayRef> && !std::is_arithmetic_v<U>) &&
                std::is_convertible_v<const U&, ArrayRef<T>>
  constexpr OptionalArrayRef(const U& list) : list_(list), has_value_(true) {}
  constexpr OptionalArrayRef(const std::optional<ArrayRef<T>>& list)
      : list_(list.value_or(ArrayRef<T>())), has_value_(list.has_value()) {}
  constexpr OptionalArrayRef(const std::optional<std::vector<T>>& list)
      : list_(list ? ArrayRef<T>(*list) : ArrayRef<T>()), has_value_(list.has_value()) {}

  void reset() { *this = OptionalArrayRef(); }
  template <class... Args>
  void emplace(Args&&... args) {
    *this = ArrayRef<T>(std::forward<Args>(args)...);
  }
  void swap(OptionalArrayRef& other) noexcept { std::swap(*this, other); }
  constexpr bool has_value() const { return has_value_; }
  constexpr explicit operator bool() const { return has_value_; }
  constexpr ArrayRef<T> value() const {
    TORCH_CHECK(has_value_, "value() of an absent list");
    return list_;
  }
  constexpr const ArrayRef<T>& operator*() const { return list_; }
  constexpr const ArrayRef<T>* operator->() const { return &list_; }
  template <class U>
  constexpr ArrayRef<T> value_or(U&& other) const {
    return has_value_ ? list_ : ArrayRef<T>(std::forward<U>(other));
  }
  std::optional<std::span<const T>> span() const {
    return has_value_ ? std::optional<std::span<const T>>(list_) : std::nullopt;
  }
  operator std::optional<ArrayRef<T>>() const { return has_value_ ? std::optional(list_) : std::nullopt; }

 private:
  ArrayRef<T> list_;
  bool has_value_ = false;
};
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;

}  // namespace c10
