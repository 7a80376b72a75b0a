// A value that is held or one of someone else's, which must outlive this; who uses it need not know which.
#pragma once
#include <optional>
#include <utility>

namespace c10 {

template <class T>
class MaybeOwned {
 public:
  MaybeOwned() = default;
  static MaybeOwned borrowed(const T& value) {
    MaybeOwned made;
    made.borrowed_ = &value;
    return made;
  }
  static MaybeOwned owned(T&& value) { return owned(std::in_place, std::move(value)); }
  template <class... Args>
  static MaybeOwned owned(std::in_place_t, Args&&... args) {
    MaybeOwned made;
    made.owned_.emplace(std::forward<Args>(args)...);
    return made;
  }
  const T& operator*() const& { return owned_ ? *owned_ : *borrowed_; }
  T operator*() && { return owned_ ? std::move(*owned_) : *borrowed_; }
  const T* operator->() const { return &**this; }
  bool unsafeIsBorrowed() const { return !owned_; }

 private:
  std::optional<T> owned_;
  const T* borrowed_ = nullptr;
};

}  // namespace c10
