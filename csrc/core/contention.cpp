#include "core/contention.h"

#include <sys/resource.h>
#include <ctime>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace taeda {

namespace {

constexpr int64_t kLook = 20;   // milliseconds between looks
constexpr int64_t kOften = 60;  // interruptions a second that are usual; a thread that shares its core has hundreds
constexpr int64_t kBurst = 8;   // so many more than usual tell: the system's own work comes in twos and threes
constexpr int64_t kFirstTrial = 200;  // milliseconds until more threads are tried again, doubled after each failure,
constexpr int64_t kLastTrial = 6400;  // up to here

int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

int64_t interruptions() {
  rusage usage;
  return getrusage(RUSAGE_SELF, &usage) ? 0 : usage.ru_nivcsw;
}

// One thread at a time looks; what the others read is whole by itself.
struct Watch {
  std::atomic<int64_t> next{0};
  std::atomic<int> limit{INT32_MAX};
  std::atomic<bool> looking{false};
  int64_t looked_at = 0, seen = 0, trial_at = 0, pause = kFirstTrial;
  int64_t excess = 0;  // thousandths of interruptions beyond the usual

  void look(int64_t time, int wanted) {
    int64_t count = interruptions(), elapsed = time - looked_at, since = count - seen;
    bool is_first = looked_at == 0 || elapsed > 50 * kLook;  // no regions in between: nothing is known of now
    looked_at = time;
    seen = count;
    next.store(time + kLook, std::memory_order_relaxed);
    excess = is_first ? 0 : std::max<int64_t>(0, excess + since * 1000 - kOften * elapsed);
    if (is_first) return;
    int allowed = std::min(limit.load(std::memory_order_relaxed), wanted);
    if (excess > kBurst * 1000) {
      excess = 0;
      if (allowed == 1) return delay(time);
      limit.store(allowed - std::max(1, allowed / 4), std::memory_order_relaxed);
      pause = std::min(2 * pause, kLastTrial);
      trial_at = time + pause;
    } else if (allowed < wanted && time >= trial_at) {
      limit.store(allowed + std::max(1, allowed / 4), std::memory_order_relaxed);
    } else if (allowed == wanted && time >= trial_at + kLastTrial) {
      pause = kFirstTrial;
    }
  }
  // A thread alone that is interrupted still: no others are tried yet.
  void delay(int64_t time) { trial_at = std::max(trial_at, time + kFirstTrial); }
};
Watch g_watch;

}  // namespace

int uncontended_threads(int wanted) {
  int64_t time = now();
  if (time >= g_watch.next.load(std::memory_order_relaxed) &&
      !g_watch.looking.exchange(true, std::memory_order_acquire)) {
    g_watch.look(time, wanted);
    g_watch.looking.store(false, std::memory_order_release);
  }
  return std::min(wanted, g_watch.limit.load(std::memory_order_relaxed));
}

}  // namespace taeda
