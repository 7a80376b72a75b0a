// Stochastic gradient descent, with momentum.
#pragma once
#include <torch/optim/optimizer.h>

namespace torch::optim {

TAEDA_COMPILED_OPTIONS(SGDOptions);
TAEDA_COMPILED_STATE(SGDParamState);
struct TORCH_API SGDOptions : public OptimizerCloneableOptions<SGDOptions> {
  SGDOptions(double lr = 1e-3) : lr_(lr) {}
  TORCH_ARG(double, lr);
  TORCH_ARG(double, momentum) = 0;
  TORCH_ARG(double, dampening) = 0;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(bool, nesterov) = false;
  TAEDA_FIELDS(SGDOptions, lr, momentum, dampening, weight_decay, nesterov);
};
struct TORCH_API SGDParamState : public OptimizerCloneableParamState<SGDParamState> {
  TORCH_ARG(torch::Tensor, momentum_buffer) = {};
  TAEDA_FIELDS(SGDParamState, momentum_buffer);
};
class TORCH_API SGD : public Optimizer {
  TAEDA_OPTIMIZER(SGD);
};

}  // namespace torch::optim
