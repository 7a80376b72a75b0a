// Work of a group that an engine below serves.
#pragma once
#include <condition_variable>
#include <optional>

#include "distributed/patience.h"
#include "distributed/staging.h"

namespace taeda::distributed {

// A task whose arguments were checked.
struct ReadyTask {
  ReadyTask(const Task& task, int rank, int size);
  void run(Flow& flow) const;

  Collective what;
  ReduceKind reduction;
  int root, tag;
  std::vector<Staged> inputs, outputs;
};

class EngineWork : public Work {
 public:
  explicit EngineWork(Milliseconds timeout) : timeout_(timeout) {}
  void wait(Milliseconds timeout) override;
  bool is_completed() override { return done_.load(std::memory_order_acquire); }
  std::exception_ptr error() override;
  void then(std::function<void()> callback) override;
  int source_rank() override;
  void finish(std::exception_ptr error);

 protected:
  const Milliseconds timeout_;

 private:
  std::atomic<bool> done_{false};
  Mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr error_;
  std::vector<std::function<void()>> callbacks_;
};

// Runs in a thread that may wait: there are as many as wait at the same time.
void run_callback(std::function<void()> callback);

}  // namespace taeda::distributed
