// A function that is called while its owner lives: two words, no copy.
#pragma once
#include <memory>
#include <type_traits>
#include <utility>

namespace c10 {

template <class F>
class function_ref;

template <class R, class... Args>
class function_ref<R(Args...)> {
 public:
  function_ref() = default;
  function_ref(std::nullptr_t) {}
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, function_ref> && std::is_invocable_r_v<R, F&, Args...>)
  function_ref(F&& function)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* at, Args... args) {
          return (*static_cast<std::remove_reference_t<F>*>(at))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }
  explicit operator bool() const { return call_; }

 private:
  void* object_ = nullptr;
  R (*call_)(void*, Args...) = nullptr;
};

}  // namespace c10
