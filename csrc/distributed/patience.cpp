#include "distributed/patience.h"

#include <algorithm>
#include <thread>

namespace taeda::distributed {

namespace {

using std::chrono::microseconds;

constexpr microseconds kYielding(500);  // so long a waiting thread only lets others run
// How long one rest may be, in shares of the time waited so far: a sixteenth at first, far less in long waits, where a
// millisecond is noticed less than the processor's time.
constexpr int kShare = 16, kLongShare = 256;
constexpr microseconds kShortRest(1000), kLongestRest(10'000);
// What a rank that is gone had sent may still arrive.
constexpr Milliseconds kGrace(300);

}  // namespace

bool Ending::set(const std::string& reason) {
  Lock lock(mutex_);
  if (is_set()) return false;
  reason_ = reason;
  set_.store(true, std::memory_order_release);
  return true;
}

void Ending::check() const {
  if (!is_set()) return;
  Lock lock(mutex_);
  TAEDA_FAIL(DistBackend, reason_);
}

void Patience::relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

const char* Patience::rest(int peer) {
  auto now = Clock::now();
  if (deadline_ == Clock::time_point{})
    deadline_ = now + std::min<Milliseconds>(timeout_, std::chrono::hours(24 * 365));
  if (rounds_ == kSpins) begin_ = now;
  ending_.check();
  if (trouble_.empty()) trouble_ = transport_.trouble(peer), trouble_since_ = now;
  if (!trouble_.empty() && now - trouble_since_ > kGrace) return trouble_.c_str();
  if (now > deadline_) return "";
  if (interruptible_ && now - looked_ > kSlice) {
    if (looked_ != Clock::time_point{}) check_interruption();
    looked_ = now;
  }
  auto waited = std::chrono::duration_cast<microseconds>(now - begin_);
  if (waited < kYielding)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::min(waited / kShare, std::clamp(waited / kLongShare, kShortRest, kLongestRest)));
  return nullptr;
}

void Patience::fail_wait(const char* why, const std::string& peers) const {
  if (*why) TAEDA_FAIL(DistBackend, why, "; this is rank ", transport_.rank(), ", waiting for ", peers);
  TAEDA_FAIL(DistBackend, "timed out: rank ", transport_.rank(), " waited ", int64_t{timeout_.count()}, " ms for ",
             peers, "; do all ranks make the same calls in the same order?");
}

}  // namespace taeda::distributed
