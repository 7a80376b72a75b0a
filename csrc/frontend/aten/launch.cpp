// Threads for what may wait for others: those of parallel_for must not.
#include <ATen/Parallel.h>

#include <deque>
#include <iostream>
#include <thread>

#include "taeda/core/fork.h"

namespace at {

namespace {

struct Launches {
  ::taeda::Mutex mutex;
  std::deque<std::function<void()>> waiting;
  size_t threads = 0, limit = std::max(std::thread::hardware_concurrency(), 1u);
  bool is_settled = false;  // the limit was said, or something was launched
};
// Never destroyed: threads may outlive static objects.
Launches& launches() {
  static Launches& all = *[] {
    ::taeda::at_fork({.child = [] {
      launches().threads = 0;  // a child has none of them, and what waited is its parent's
      launches().waiting.clear();
    }});
    return new Launches;
  }();
  return all;
}

void work() {
  while (true) {
    std::function<void()> next;
    {
      ::taeda::Lock lock(launches().mutex);
      if (launches().waiting.empty()) {
        --launches().threads;
        return;
      }
      next = std::move(launches().waiting.front());
      launches().waiting.pop_front();
    }
    try {
      next();
    } catch (const std::exception& error) {
      std::cerr << "at::launch: a function that was launched failed: " << error.what() << '\n';
    } catch (...) {
      std::cerr << "at::launch: a function that was launched failed\n";
    }
  }
}

}  // namespace

void launch(std::function<void()> f) {
  auto as_here = [f = std::move(f), state = ::taeda::t_state] {
    ::taeda::Scoped<::taeda::ThreadState> scope(::taeda::t_state, state);
    f();
  };
  ::taeda::Lock lock(launches().mutex);
  launches().is_settled = true;
  launches().waiting.push_back(std::move(as_here));
  if (launches().threads == launches().limit) return;
  std::thread(work).detach();  // waits for the lock
  ++launches().threads;
}

void set_num_interop_threads(int count) {
  TORCH_CHECK(count > 0, "set_num_interop_threads: the number must be positive; got ", count);
  ::taeda::Lock lock(launches().mutex);
  TORCH_CHECK(!launches().is_settled, "set_num_interop_threads: the number is said once, before the first launch");
  launches().is_settled = true;
  launches().limit = static_cast<size_t>(count);
}
size_t get_num_interop_threads() {
  ::taeda::Lock lock(launches().mutex);
  return launches().limit;
}

}  // namespace at
