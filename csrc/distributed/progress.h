// MPI moves messages while somebody calls it, and counts one as sent that it has only taken over: the end of a long one
// would wait for the sender's next collective, and for ever if the sender waits for something else. So a thread of this
// process calls MPI from time to time.
#pragma once
#include <atomic>
#include <condition_variable>
#include <thread>

#include "distributed/mpi_library.h"
#include "taeda/core/fork.h"

namespace taeda::distributed {

class Progress {
 public:
  explicit Progress(const MpiLibrary& mpi);
  // Something was given to MPI: it is looked at more often for a while.
  void renew() { posted_.fetch_add(1, std::memory_order_relaxed); }
  // Gives what was sent lately a moment to go, and ends.
  void stop();

 private:
  void run();
  void call();

  const MpiLibrary& mpi_;
  std::atomic<uint64_t> posted_{0};
  Mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace taeda::distributed
