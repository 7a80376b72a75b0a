// Duchi et al., Adaptive subgradient methods for online learning and stochastic optimization.
#pragma once
#include <torch/optim/optimizer.h>

namespace torch::optim {

TAEDA_COMPILED_OPTIONS(AdagradOptions);
TAEDA_COMPILED_STATE(AdagradParamState);
struct TORCH_API AdagradOptions : public OptimizerCloneableOptions<AdagradOptions> {
  AdagradOptions(double lr = 1e-2) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-2;
  TORCH_ARG(double, lr_decay) = 0;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(double, initial_accumulator_value) = 0;
  TORCH_ARG(double, eps) = 1e-10;
  TAEDA_FIELDS(AdagradOptions, lr, lr_decay, weight_decay, initial_accumulator_value, eps);
};
struct TORCH_API AdagradParamState : public OptimizerCloneableParamState<AdagradParamState> {
  TORCH_ARG(torch::Tensor, sum) = {};
  TORCH_ARG(int64_t, step) = 0;
  TAEDA_FIELDS(AdagradParamState, sum, step);
};
class TORCH_API Adagrad : public Optimizer {
  TAEDA_OPTIMIZER(Adagrad);

 public:
  explicit Adagrad(std::vector<Tensor> params);
};

}  // namespace torch::optim
