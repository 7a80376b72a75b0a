#include "taeda/core/parallel.h"

#include <omp.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

#include "taeda/core/fork.h"

namespace taeda {

namespace {

std::atomic<int> g_threads{0};  // 0: not asked yet
thread_local bool t_inside = false;

// libgomp's threads do not exist in a forked child, whose first parallel region would wait for them for ever. They must
// be let go before the fork: in the child, letting them go waits for them too.
void release_pool() { omp_pause_resource_all(omp_pause_hard); }
const bool g_registered = [] {
  at_fork({release_pool, nullptr, nullptr});
  return true;
}();

struct FirstError {
  std::mutex mutex;
  std::exception_ptr error;
  std::atomic<bool> failed{false};
  void keep() {
    std::lock_guard lock(mutex);
    if (!error) error = std::current_exception();
    failed.store(true, std::memory_order_relaxed);
  }
};

struct Inside {
  bool saved = std::exchange(t_inside, true);
  ~Inside() { t_inside = saved; }
};

}  // namespace

int num_threads() {
  int count = g_threads.load(std::memory_order_relaxed);
  if (count == 0) {
    count = std::max(1, omp_get_max_threads());
    g_threads.store(count, std::memory_order_relaxed);
  }
  return count;
}

void set_num_threads(int count) {
  TAEDA_CHECK(count >= 1, "the number of threads must be at least 1; got ", count);
  g_threads.store(count, std::memory_order_relaxed);
}

namespace {
bool flush_denormal_here([[maybe_unused]] bool value) {
#if defined(__x86_64__)
  constexpr unsigned kResultsAndOperands = 0x8040;
  unsigned others = __builtin_ia32_stmxcsr() & ~kResultsAndOperands;
  __builtin_ia32_ldmxcsr(value ? others | kResultsAndOperands : others);
  return true;
#elif defined(__aarch64__)
  constexpr uint64_t kFlush = uint64_t{1} << 24;
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  control = value ? control | kFlush : control & ~kFlush;
  __asm__ volatile("msr fpcr, %0" : : "r"(control));
  return true;
#else
  return false;
#endif
}
}  // namespace

// Threads that the pool starts later inherit it from the one that starts them.
bool set_flush_denormal(bool value) {
  if (!t_inside && num_threads() > 1) {
#pragma omp parallel num_threads(num_threads())
    flush_denormal_here(value);
  }
  return flush_denormal_here(value);
}

void detail::run_pieces(int64_t begin, int64_t end, int64_t grain, Piece piece, const void* body) {
  if (end <= begin) return;
  grain = std::max<int64_t>(grain, 1);
  if (end - begin <= grain) return piece(body, begin, end);
  int64_t pieces = (end - begin + grain - 1) / grain;
  int threads = static_cast<int>(std::min<int64_t>(num_threads(), pieces));
  if (threads == 1 || t_inside) {
    for (int64_t i = 0; i < pieces; ++i) piece(body, begin + i * grain, std::min(end, begin + (i + 1) * grain));
    return;
  }
  FirstError first;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < pieces; ++i) {
    if (first.failed.load(std::memory_order_relaxed)) continue;
    Inside inside;
    try {
      piece(body, begin + i * grain, std::min(end, begin + (i + 1) * grain));
    } catch (...) {
      first.keep();
    }
  }
  if (first.error) std::rethrow_exception(first.error);
}

}  // namespace taeda
