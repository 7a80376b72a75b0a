// A value that is reached only while its lock is held.
#pragma once
#include <mutex>

namespace c10 {

template <class T>
class Synchronized {
 public:
  Synchronized() = default;
  explicit Synchronized(T value) : value_(std::move(value)) {}
  Synchronized(const Synchronized&) = delete;
  Synchronized& operator=(const Synchronized&) = delete;

  template <class F>
  auto withLock(F&& function) {
    std::lock_guard guard(mutex_);
    return function(value_);
  }
  template <class F>
  auto withLock(F&& function) const {
    std::lock_guard guard(mutex_);
    return function(value_);
  }

 private:
  mutable std::mutex mutex_;
  T value_;
};

}  // namespace c10
