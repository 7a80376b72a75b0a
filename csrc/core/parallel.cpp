#include "taeda/core/parallel.h"

#include <omp.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/contention.h"
#include "taeda/core/fork.h"
#include "taeda/core/thread_state.h"

namespace taeda {

namespace {

std::atomic<int> g_threads{0};                             // 0: not asked yet
thread_local bool t_inside = false;                        // on one of several threads
constinit thread_local bool t_in_piece TAEDA_TLS = false;  // in any piece

// libgomp's threads do not exist in a forked child, whose first parallel region would wait for them for ever. They must
// be let go before the fork: in the child, letting them go waits for them too.
std::atomic<int> g_forks{0};
void release_pool() {
  g_forks.fetch_add(1, std::memory_order_relaxed);
  omp_pause_resource_all(omp_pause_hard);
}
const bool g_registered = [] {
  at_fork({release_pool, nullptr, nullptr});
  return true;
}();

// How many threads libgomp has had for this thread, and since which fork.
struct Team {
  int size = 1;
  int forks = 0;
};
thread_local Team t_team;

// libgomp ends the process where the system refuses a thread, as it does near a limit of memory or of processes: so
// that many are started here first, at once. They end again, and the memory of their stacks serves libgomp's.
bool can_start(int count) {
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  bool all = true;
  try {
    threads.reserve(static_cast<size_t>(count));
    while (static_cast<int>(threads.size()) < count) threads.emplace_back([&over] { over.wait(false); });
  } catch (const std::exception&) {
    all = false;
  }
  over.store(true);
  over.notify_all();
  for (std::thread& thread : threads) thread.join();
  return all;
}

// The size of the team that runs the pieces: of this thread alone where others cannot be had now.
int team_of(int wanted) {
  int forks = g_forks.load(std::memory_order_relaxed);
  if (t_team.forks != forks) t_team = {1, forks};
  if (wanted > t_team.size) [[unlikely]] {
    if (!can_start(wanted - 1)) return t_team.size;
    t_team.size = wanted;
  }
  return wanted;
}

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

struct InPiece {
  bool saved = std::exchange(t_in_piece, true);
  ~InPiece() { t_in_piece = saved; }
};
struct Inside : InPiece {
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

bool in_parallel_piece() { return t_in_piece; }

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
    const int threads = team_of(num_threads());
#pragma omp parallel num_threads(threads)
    flush_denormal_here(value);
  }
  return flush_denormal_here(value);
}

void detail::run_pieces(int64_t begin, int64_t end, int64_t grain, Piece piece, const void* body) {
  if (end <= begin) return;
  grain = std::max<int64_t>(grain, 1);
  if (end - begin <= grain) {
    InPiece one;
    return piece(body, begin, end);
  }
  int64_t pieces = (end - begin + grain - 1) / grain;
  int threads = static_cast<int>(std::min<int64_t>(num_threads(), pieces));
  if (threads > 1 && !t_inside) threads = uncontended_threads(threads);
  if (threads == 1 || t_inside) {
    InPiece one;
    for (int64_t i = 0; i < pieces; ++i) piece(body, begin + i * grain, std::min(end, begin + (i + 1) * grain));
    return;
  }
  threads = team_of(threads);
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
