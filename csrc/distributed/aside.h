// A call that cannot be ended is made in a thread of its own, so that whoever waits for it can go.
#pragma once
#include <condition_variable>
#include <exception>
#include <memory>

#include "distributed/key_table.h"
#include "distributed/quiet_thread.h"

namespace taeda::distributed {

// Returns when `call` has, or raises what it does. A DistBackend error when the timeout passes, or `trouble` says why
// the call will never return; the call goes on then, so that it must own what it uses.
template <class Call, class Trouble>
void run_aside(Call call, Milliseconds timeout, const char* what, Trouble&& trouble) {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    std::exception_ptr error;
  };
  auto state = std::make_shared<State>();
  quiet_thread([state, call = std::move(call)] {
    std::exception_ptr error;
    try {
      call();
    } catch (...) {
      error = std::current_exception();
    }
    std::lock_guard<std::mutex> lock(state->mutex);
    state->error = error;
    state->done = true;
    state->changed.notify_all();
  }).detach();
  auto deadline = deadline_of(timeout);
  std::unique_lock<std::mutex> lock(state->mutex);
  while (!state->changed.wait_for(lock, kSlice, [&] { return state->done; })) {
    check_interruption();
    std::string why = trouble();
    TAEDA_CHECK_KIND(DistBackend, why.empty(), why, "; this process was waiting in ", what);
    TAEDA_CHECK_KIND(DistBackend, Clock::now() < deadline, what, " took longer than ", int64_t{timeout.count()}, " ms");
  }
  if (state->error) std::rethrow_exception(state->error);
}

}  // namespace taeda::distributed
