// Shared ownership with the count in the object: the core's own.
#pragma once
#include <functional>
#include <memory>
#include <ostream>

#include <c10/util/Exception.h>
#include <taeda/core/refcount.h>

namespace c10 {

// What an intrusive_ptr points to derives from this.
class intrusive_ptr_target : public ::taeda::RefCounted {
 public:
  // Called before the destructor, when the last owner has gone.
  virtual void release_resources() {}

 protected:
  intrusive_ptr_target() = default;
  intrusive_ptr_target(const intrusive_ptr_target&) : RefCounted() {}
  intrusive_ptr_target& operator=(const intrusive_ptr_target&) { return *this; }
  void on_last_release() noexcept override {
    release_resources();
    RefCounted::on_last_release();
  }
};

namespace raw {
struct DontIncreaseRefcount {};
}  // namespace raw

template <class T>
class intrusive_ptr : public ::taeda::Ref<T> {
  using Base = ::taeda::Ref<T>;

 public:
  using element_type = T;
  intrusive_ptr() = default;
  intrusive_ptr(std::nullptr_t) {}
  intrusive_ptr(Base ref) : Base(std::move(ref)) {}
  explicit intrusive_ptr(T* owned, raw::DontIncreaseRefcount) : Base(Base::adopt(owned)) {}
  explicit intrusive_ptr(std::unique_ptr<T> owned) : Base(owned.release()) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  intrusive_ptr(const intrusive_ptr<U>& other) : Base(static_cast<const ::taeda::Ref<U>&>(other)) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  intrusive_ptr(intrusive_ptr<U>&& other) : Base(static_cast<::taeda::Ref<U>&&>(other)) {}

  // Here, as classes make this their friend to keep their constructors to themselves.
  template <class... Args>
  static intrusive_ptr make(Args&&... args) {
    T* object = new T(std::forward<Args>(args)...);
    static_cast<const ::taeda::RefCounted&>(*object).retain_first();  // whatever T's own methods are called
    return Base::adopt(object);
  }
  // A pointer whose reference was given away by release(), taken back.
  static intrusive_ptr reclaim(T* owned) { return Base::adopt(owned); }
  static intrusive_ptr reclaim_copy(T* shared) { return Base(shared); }
  static intrusive_ptr unsafe_reclaim_from_nonowning(T* shared) { return Base(shared); }
  // The object, and the reference to it, now the caller's.
  T* release() noexcept { return Base::detach(); }
  bool defined() const noexcept { return static_cast<bool>(static_cast<const Base&>(*this)); }
  size_t use_count() const noexcept {
    return defined() ? static_cast<size_t>(static_cast<const ::taeda::RefCounted&>(**this).use_count()) : 0;
  }
  bool unique() const noexcept { return use_count() == 1; }
  void swap(intrusive_ptr& other) noexcept { std::swap(*this, other); }
  bool operator<(const intrusive_ptr& other) const noexcept { return this->get() < other.get(); }
};

template <class T, class... Args>
intrusive_ptr<T> make_intrusive(Args&&... args) {
  return intrusive_ptr<T>::make(std::forward<Args>(args)...);
}
template <class To, class From>
intrusive_ptr<To> static_intrusive_pointer_cast(const intrusive_ptr<From>& pointer) {
  return intrusive_ptr<To>::reclaim_copy(static_cast<To*>(pointer.get()));
}
template <class To, class From>
intrusive_ptr<To> dynamic_intrusive_pointer_cast(const intrusive_ptr<From>& pointer) {
  return intrusive_ptr<To>::reclaim_copy(dynamic_cast<To*>(pointer.get()));
}
template <class T>
std::ostream& operator<<(std::ostream& out, const intrusive_ptr<T>& pointer) {
  return out << pointer.get();
}

}  // namespace c10

template <class T>
struct std::hash<c10::intrusive_ptr<T>> {
  size_t operator()(const c10::intrusive_ptr<T>& pointer) const { return std::hash<T*>()(pointer.get()); }
};
