#include "distributed/work.h"

#include <deque>

#include "distributed/quiet_thread.h"

namespace taeda::distributed {

namespace {

// The threads that callbacks run in. Never destroyed: they end with the process.
struct Pool {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> waiting;
  size_t idle = 0;

  void serve() {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      ++idle;
      changed.wait(lock, [&] { return !waiting.empty(); });
      --idle;
      auto callback = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      callback();
      callback = nullptr;
      lock.lock();
    }
  }
};

Pool* g_pool = nullptr;

Pool& pool() {
  static std::once_flag once;
  std::call_once(once, [] {
    g_pool = new Pool;
    at_fork({nullptr, nullptr, [] { g_pool = new Pool; }});  // a child has no threads of its parent's
  });
  return *g_pool;
}

}  // namespace

void run_callback(std::function<void()> callback) {
  Pool& all = pool();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.waiting.push_back(std::move(callback));
  if (all.idle < all.waiting.size()) quiet_thread([&all] { all.serve(); }).detach();
  all.changed.notify_one();
}

const char* name_of(Collective collective) {
  constexpr const char* kNames[] = {"broadcast",      "all_reduce", "reduce",  "all_gather", "gather", "scatter",
                                    "reduce_scatter", "all_to_all", "barrier", "send",       "recv"};
  return kNames[static_cast<size_t>(collective)];
}

void EngineWork::finish(std::exception_ptr error) {
  std::vector<std::function<void()>> callbacks;
  {
    Lock lock(mutex_);
    if (done_) return;
    error_ = error;
    done_.store(true, std::memory_order_release);
    callbacks.swap(callbacks_);
    changed_.notify_all();
  }
  for (auto& callback : callbacks) run_callback(std::move(callback));
}

void EngineWork::wait(Milliseconds timeout) {
  if (!is_completed()) {
    std::unique_lock<std::mutex> lock(mutex_);
    auto deadline = timeout.count() > 0 ? deadline_of(timeout) : Clock::time_point::max();
    while (!changed_.wait_for(lock, kSlice, [&] { return is_completed(); })) {
      lock.unlock();
      check_interruption();
      TAEDA_CHECK_KIND(DistBackend, Clock::now() < deadline, "timed out: waited ", int64_t{timeout.count()},
                       " ms for work that goes on");
      lock.lock();
    }
  }
  if (std::exception_ptr what = error()) std::rethrow_exception(what);
}

std::exception_ptr EngineWork::error() {
  Lock lock(mutex_);
  return error_;
}

void EngineWork::then(std::function<void()> callback) {
  {
    Lock lock(mutex_);
    if (!done_) return callbacks_.push_back(std::move(callback));
  }
  run_callback(std::move(callback));
}

int EngineWork::source_rank() { TAEDA_FAIL(Runtime, "only a receive has a source rank"); }

}  // namespace taeda::distributed
