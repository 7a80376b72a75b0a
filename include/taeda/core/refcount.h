// Intrusive reference counting: one word in the object, one word in the handle.
#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

namespace taeda {

class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  virtual ~RefCounted() = default;

  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept {
    // A sole owner cannot race with anyone, so the locked instruction is saved.
    if (count_.load(std::memory_order_acquire) == 1 || count_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      const_cast<RefCounted*>(this)->on_last_release();
  }
  // The first reference to an object that nobody else can see yet: saves the locked instruction of retain().
  void retain_first() const noexcept { count_.store(1, std::memory_order_relaxed); }
  int64_t use_count() const noexcept { return count_.load(std::memory_order_acquire); }
  // Takes a reference unless the object is already dying; for tables of weak pointers under a lock.
  bool try_retain() const noexcept {
    uint32_t count = count_.load(std::memory_order_relaxed);
    while (count != 0)
      if (count_.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) return true;
    return false;
  }

 protected:
  // For a class with weak pointers: called in on_last_release() under the lock that guards them. False when try_retain
  // won the race against the last release; then the object lives on and on_last_release() must return.
  bool confirm_death() noexcept {
    return count_.load(std::memory_order_acquire) == 0 || count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  // Overridden by classes that hand the last reference to Python. No program calls a method of its own so.
  virtual void on_last_release() noexcept {
    count_.store(0, std::memory_order_relaxed);
    delete this;
  }
  mutable std::atomic<uint32_t> count_{0};
};

template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T* object) noexcept : object_(object) {
    if (object_) counted().retain();
  }
  Ref(const Ref& other) noexcept : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  Ref(const Ref<U>& other) noexcept : Ref(other.get()) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  Ref(Ref<U>&& other) noexcept : object_(other.detach()) {}
  ~Ref() {
    if (object_) counted().release();
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  // Takes over a reference that was counted already.
  static Ref adopt(T* object) noexcept {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  T* detach() noexcept { return std::exchange(object_, nullptr); }
  void reset() noexcept { *this = Ref(); }
  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.object_ == b.object_; }

 private:
  // As what it is to us: its class may have methods of the same names.
  const RefCounted& counted() const noexcept { return *object_; }

  T* object_ = nullptr;
};

template <class T, class... Args>
Ref<T> make_ref(Args&&... args) {
  T* object = new T(std::forward<Args>(args)...);
  static_cast<const RefCounted&>(*object).retain_first();
  return Ref<T>::adopt(object);
}

}  // namespace taeda
