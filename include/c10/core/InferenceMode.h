// Whether calls are recorded for gradients.
#pragma once
#include <c10/macros/Macros.h>
#include <taeda/core/thread_state.h>

namespace c10 {

struct GradMode {
  static bool is_enabled() { return ::taeda::t_state.grad_mode; }
  static void set_enabled(bool enabled) { ::taeda::t_state.grad_mode = enabled; }
};
struct AutoGradMode : ::taeda::Scoped<bool> {
  explicit AutoGradMode(bool enabled) : Scoped(::taeda::t_state.grad_mode, enabled) {}
};
struct NoGradGuard : AutoGradMode {
  NoGradGuard() : AutoGradMode(false) {}
};
struct AutoFwGradMode : ::taeda::Scoped<bool> {
  explicit AutoFwGradMode(bool enabled) : Scoped(::taeda::t_state.forward_grad, enabled) {}
};

// Tensors made in the scope are never part of a graph, and count no writes.
class InferenceMode {
 public:
  explicit InferenceMode(bool enabled = true) : before_(::taeda::t_state) {
    ::taeda::ThreadState& state = ::taeda::t_state;
    state.inference_mode = enabled;
    state.grad_mode = !enabled;
    state.forward_grad = before_.forward_grad && !enabled;
    const ::taeda::KeySet writes = ::taeda::Functionality::ADInplaceOrView;
    state.include = enabled ? before_.include - writes : before_.include | writes;
    state.exclude = enabled ? before_.exclude | ::taeda::Functionality::Autograd
                            : before_.exclude - ::taeda::KeySet(::taeda::Functionality::Autograd);
  }
  ~InferenceMode() { ::taeda::t_state = before_; }
  InferenceMode(const InferenceMode&) = delete;
  static bool is_enabled() { return ::taeda::t_state.inference_mode; }

 private:
  ::taeda::ThreadState before_;
};

}  // namespace c10

namespace at {
using c10::AutoFwGradMode, c10::AutoGradMode, c10::GradMode, c10::InferenceMode, c10::NoGradGuard;
}
