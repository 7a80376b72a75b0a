#include "distributed/progress.h"

#include <algorithm>

#include "distributed/key_table.h"
#include "distributed/quiet_thread.h"

namespace taeda::distributed {

namespace {

using std::chrono::microseconds;

constexpr microseconds kFirstRest(200), kLongestRest(10'000);
constexpr microseconds kLately(1'000'000), kFarewell(50'000);

}  // namespace

Progress::Progress(const MpiLibrary& mpi) : mpi_(mpi), thread_(quiet_thread([this] { run(); })) {}

void Progress::call() {
  int found = 0;
  MpiStatus status{};
  mpi_.iprobe(mpi_.any_source, 0, mpi_.world, &found, &status);  // nobody sends there: it is asked for the asking
}

void Progress::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  uint64_t seen = 0;
  microseconds rest = kFirstRest;
  auto last = Clock::now() - kLately;
  while (!changed_.wait_for(lock, rest, [&] { return stopped_; })) {
    call();
    uint64_t posted = posted_.load(std::memory_order_relaxed);
    if (posted != seen) last = Clock::now();
    rest = posted != seen ? kFirstRest : std::min(rest * 2, kLongestRest);
    seen = posted;
  }
  if (posted_.load(std::memory_order_relaxed) == seen && Clock::now() - last > kLately) return;
  for (auto end = Clock::now() + kFarewell; Clock::now() < end; std::this_thread::sleep_for(kFirstRest)) call();
}

void Progress::stop() {
  {
    Lock lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace taeda::distributed
