// What a thread carries from call to call. It is one small struct so that a hot call touches one cache line, and
// so that the backward engine can hand a thread's state to the thread that works for it.
#pragma once
#include "taeda/core/key_set.h"

namespace taeda {

struct ThreadState {
  KeySet include;                            // added to each call's key set
  KeySet exclude = Functionality::Autocast;  // taken from it
  bool grad_mode = true;
  bool inference_mode = false;
  bool forward_grad = false;  // some dual level is open
  bool deterministic_warn = false;
  bool any_grad_layout = false;  // a gradient may be taken over however it lies in memory
  bool multithreading = true;    // a backward pass may use the threads of devices
};

// initial-exec: one register-relative load, as the library is always loaded before its threads start.
#define TAEDA_TLS __attribute__((tls_model("initial-exec")))
// constinit: without it, each use in another file would first call a function that might initialise it.
TAEDA_API extern constinit thread_local ThreadState t_state TAEDA_TLS;

inline KeySet effective(KeySet keys) { return (keys | t_state.include) - t_state.exclude; }

// Sets a field for a scope: Scoped grad_off(t_state.grad_mode, false);
template <class T>
class Scoped {
 public:
  Scoped(T& field, T value) : field_(field), saved_(field) { field = value; }
  ~Scoped() { field_ = saved_; }
  Scoped(const Scoped&) = delete;

 private:
  T& field_;
  T saved_;
};

// Calls made in the scope skip the given functionalities.
struct Below : Scoped<KeySet> {
  explicit Below(KeySet skipped) : Scoped(t_state.exclude, t_state.exclude | skipped) {}
};
struct BelowAutograd : Below {
  BelowAutograd() : Below(kAutogradKeys) {}
};

}  // namespace taeda
