// Anomaly mode: a backward pass raises where a gradient holds a NaN, and names the node.
#pragma once
#include <c10/macros/Macros.h>

namespace torch::autograd {

struct TORCH_API AnomalyMode {
  static bool is_enabled();
  static bool should_check_nan();
  static void set_enabled(bool enabled, bool check_nan = true);
};

class DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true)
      : before_(AnomalyMode::is_enabled()), checked_before_(AnomalyMode::should_check_nan()) {
    AnomalyMode::set_enabled(true, check_nan);
  }
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;
  ~DetectAnomalyGuard() { AnomalyMode::set_enabled(before_, checked_before_); }

 private:
  bool before_, checked_before_;
};

}  // namespace torch::autograd
