// Learning rates that change as training goes on: step() after each epoch.
#pragma once
#include <torch/optim/optimizer.h>

namespace torch::optim {

class TORCH_API LRScheduler {
 public:
  // The optimizer must outlive it.
  LRScheduler(torch::optim::Optimizer& optimizer) : optimizer_(optimizer) {}
  virtual ~LRScheduler() = default;
  void step();

 protected:
  // The next rate of each group.
  virtual std::vector<double> get_lrs() = 0;
  std::vector<double> get_current_lrs() const;
  unsigned step_count_ = 0;

 private:
  torch::optim::Optimizer& optimizer_;
};

}  // namespace torch::optim
