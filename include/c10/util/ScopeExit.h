// Runs a function when the scope ends.
#pragma once
#include <utility>

namespace c10 {

template <class F>
class scope_exit {
 public:
  explicit scope_exit(F&& f) : f_(std::move(f)) {}
  scope_exit(scope_exit&& other) noexcept : f_(std::move(other.f_)), active_(std::exchange(other.active_, false)) {}
  ~scope_exit() {
    if (active_) f_();
  }
  void release() { active_ = false; }

 private:
  F f_;
  bool active_ = true;
};
template <class F>
scope_exit<F> make_scope_exit(F&& f) {
  return scope_exit<F>(std::forward<F>(f));
}

}  // namespace c10
