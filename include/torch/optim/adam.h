// Kingma and Ba, Adam: a method for stochastic optimization.
#pragma once
#include <torch/optim/optimizer.h>

namespace torch::optim {

TAEDA_COMPILED_OPTIONS(AdamOptions);
TAEDA_COMPILED_STATE(AdamParamState);
struct TORCH_API AdamOptions : public OptimizerCloneableOptions<AdamOptions> {
  using betas_t = std::tuple<double, double>;
  AdamOptions(double lr = 1e-3) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-3;
  TORCH_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(bool, amsgrad) = false;
  TAEDA_FIELDS(AdamOptions, lr, betas, eps, weight_decay, amsgrad);
};
struct TORCH_API AdamParamState : public OptimizerCloneableParamState<AdamParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(torch::Tensor, exp_avg) = {};
  TORCH_ARG(torch::Tensor, exp_avg_sq) = {};
  TORCH_ARG(torch::Tensor, max_exp_avg_sq) = {};
  TAEDA_FIELDS(AdamParamState, step, exp_avg, exp_avg_sq, max_exp_avg_sq);
};
class TORCH_API Adam : public Optimizer {
  TAEDA_OPTIMIZER(Adam);

 public:
  explicit Adam(std::vector<Tensor> params);
};

}  // namespace torch::optim
