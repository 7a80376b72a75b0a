#include <torch/optim/schedulers/reduce_on_plateau_scheduler.h>
#include <torch/optim/schedulers/step_lr.h>

#include <iostream>
#include <limits>

namespace torch::optim {

void LRScheduler::step() {
  std::vector<double> rates = get_lrs();
  auto& groups = optimizer_.param_groups();
  TORCH_CHECK(rates.size() == groups.size(), "get_lrs() gave ", rates.size(), " rates for ", groups.size(), " groups");
  for (size_t i = 0; i < groups.size(); ++i) groups[i].options().set_lr(rates[i]);
  ++step_count_;
}
std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> rates;
  for (const OptimizerParamGroup& group : optimizer_.param_groups()) rates.push_back(group.options().get_lr());
  return rates;
}

std::vector<double> StepLR::get_lrs() {
  std::vector<double> rates = get_current_lrs();
  if (step_count_ != 0 && step_count_ % step_size_ == 0)
    for (double& rate : rates) rate *= gamma_;
  return rates;
}

ReduceLROnPlateauScheduler::ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode, float factor,
                                                       int patience, double threshold, ThresholdMode threshold_mode,
                                                       int cooldown, const std::vector<float>& min_lr, double eps,
                                                       bool verbose)
    : optimizer_(optimizer),
      mode_(mode),
      factor_(factor),
      patience_(patience),
      threshold_(threshold),
      threshold_mode_(threshold_mode),
      cooldown_(cooldown),
      min_lrs_(min_lr),
      eps_(eps),
      verbose_(verbose),
      best_(mode == min ? std::numeric_limits<float>::max() : std::numeric_limits<float>::lowest()) {
  TORCH_CHECK(factor < 1, "ReduceLROnPlateau: the factor is below 1; got ", factor);
  const size_t groups = optimizer.param_groups().size();
  if (min_lrs_.empty()) min_lrs_.assign(groups, 0);
  TORCH_CHECK(min_lrs_.size() == groups, "Number of learning rates not equal to the number of groups: expected ",
              groups, ", got ", min_lrs_.size());
}
bool ReduceLROnPlateauScheduler::is_better(float metric) const {
  const double sign = mode_ == min ? -1 : 1, best = best_, now = metric;
  const double bound = threshold_mode_ == rel ? best * (1 + sign * threshold_) : best + sign * threshold_;
  return mode_ == min ? now < bound : now > bound;
}
void ReduceLROnPlateauScheduler::step(float metric) {
  ++last_epoch_;
  if (is_better(metric)) {
    best_ = metric;
    bad_epochs_ = 0;
  } else {
    ++bad_epochs_;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    bad_epochs_ = 0;
  }
  if (bad_epochs_ <= patience_) return;
  reduce_lr(last_epoch_);
  cooldown_left_ = cooldown_;
  bad_epochs_ = 0;
}
void ReduceLROnPlateauScheduler::reduce_lr(int epoch) {
  auto& groups = optimizer_.param_groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    const double before = groups[i].options().get_lr();
    const double now = std::max(before * static_cast<double>(factor_), static_cast<double>(min_lrs_[i]));
    if (before - now <= eps_) continue;
    groups[i].options().set_lr(now);
    if (verbose_) std::cout << "epoch " << epoch << ": group " << i << " learns at " << now << " from here on" << '\n';
  }
}

}  // namespace torch::optim
