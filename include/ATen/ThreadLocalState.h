// What a thread carries from call to call, taken to a thread that works for it.
#pragma once
#include <optional>

#include <taeda/autograd/engine.h>

#include <c10/macros/Macros.h>

namespace at {

class ThreadLocalState {
 public:
  ThreadLocalState() : state_(::taeda::autograd::capture_thread_state()) {}  // this thread's
  void set_grad_mode(bool on) { grad_mode_ = on; }
  static void setThreadLocalState(const ThreadLocalState& state) {
    ::taeda::autograd::exchange_thread_state(state.state_);
    if (state.grad_mode_) ::taeda::t_state.grad_mode = *state.grad_mode_;
  }

 private:
  ::taeda::Ref<::taeda::RefCounted> state_;
  std::optional<bool> grad_mode_;
};

// Another thread's state for a scope.
class ThreadLocalStateGuard {
 public:
  explicit ThreadLocalStateGuard(const ThreadLocalState& state) { ThreadLocalState::setThreadLocalState(state); }
  ~ThreadLocalStateGuard() { ThreadLocalState::setThreadLocalState(before_); }
  ThreadLocalStateGuard(const ThreadLocalStateGuard&) = delete;
  ThreadLocalStateGuard& operator=(const ThreadLocalStateGuard&) = delete;

 private:
  const ThreadLocalState before_;
};

// The function, with the state of the thread that wraps it wherever it is called.
template <class F>
auto wrapPropagateTLSState(F function) {
  return [state = ThreadLocalState(), function = std::move(function)](auto&&... args) {
    ThreadLocalStateGuard guard(state);
    return function(std::forward<decltype(args)>(args)...);
  };
}

}  // namespace at
