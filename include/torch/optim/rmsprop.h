// Tieleman and Hinton, Lecture 6.5: divide the gradient by a running average of its recent magnitude.
#pragma once
#include <torch/optim/optimizer.h>

namespace torch::optim {

TAEDA_COMPILED_OPTIONS(RMSpropOptions);
TAEDA_COMPILED_STATE(RMSpropParamState);
struct TORCH_API RMSpropOptions : public OptimizerCloneableOptions<RMSpropOptions> {
  RMSpropOptions(double lr = 1e-2) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-2;
  TORCH_ARG(double, alpha) = 0.99;
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(double, momentum) = 0;
  TORCH_ARG(bool, centered) = false;
  TAEDA_FIELDS(RMSpropOptions, lr, alpha, eps, weight_decay, momentum, centered);
};
struct TORCH_API RMSpropParamState : public OptimizerCloneableParamState<RMSpropParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(torch::Tensor, square_avg) = {};
  TORCH_ARG(torch::Tensor, momentum_buffer) = {};
  TORCH_ARG(torch::Tensor, grad_avg) = {};
  TAEDA_FIELDS(RMSpropParamState, step, square_avg, momentum_buffer, grad_avg);
};
class TORCH_API RMSprop : public Optimizer {
  TAEDA_OPTIMIZER(RMSprop);

 public:
  explicit RMSprop(std::vector<Tensor> params);
};

}  // namespace torch::optim
