// Rates times gamma each step_size epochs.
#pragma once
#include <torch/optim/schedulers/lr_scheduler.h>

namespace torch::optim {

class TORCH_API StepLR : public LRScheduler {
 public:
  StepLR(torch::optim::Optimizer& optimizer, const unsigned step_size, const double gamma = 0.1)
      : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {}

 private:
  std::vector<double> get_lrs() override;
  const unsigned step_size_;
  const double gamma_;
};

}  // namespace torch::optim
