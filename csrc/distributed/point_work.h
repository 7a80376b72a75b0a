// A message from one rank to another, that the program asked for.
#pragma once
#include "distributed/work.h"

namespace taeda::distributed {

class PointWork final : public EngineWork {
 public:
  // Posts it.
  PointWork(const Task& task, Ref<Transport> transport, std::shared_ptr<Ending> ending, Milliseconds timeout);
  void wait(Milliseconds timeout) override;
  bool is_completed() override { return EngineWork::is_completed() || poll(); }
  int source_rank() override;
  // Whether it is done, well or not. Any thread may ask.
  bool poll();
  void fail(std::exception_ptr error);

 private:
  std::string awaited() const;

  ReadyTask task_;
  Ref<Transport> transport_;
  std::shared_ptr<Ending> ending_;
  Mutex polling_;
  std::unique_ptr<Transfer> transfer_;
  int source_ = kAnyone;
};

}  // namespace taeda::distributed
