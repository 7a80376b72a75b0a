#include <torch/csrc/autograd/anomaly_mode.h>

#include "autograd/anomaly.h"

namespace torch::autograd {

bool AnomalyMode::is_enabled() { return ::taeda::autograd::anomaly_mode().enabled; }
bool AnomalyMode::should_check_nan() { return ::taeda::autograd::anomaly_mode().check_nan; }
void AnomalyMode::set_enabled(bool enabled, bool check_nan) {
  ::taeda::autograd::set_anomaly_mode({.enabled = enabled, .check_nan = check_nan});
}

}  // namespace torch::autograd
