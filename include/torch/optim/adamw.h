// Loshchilov and Hutter, Decoupled weight decay regularization.
#pragma once
#include <torch/optim/optimizer.h>

namespace torch::optim {

TAEDA_COMPILED_OPTIONS(AdamWOptions);
TAEDA_COMPILED_STATE(AdamWParamState);
struct TORCH_API AdamWOptions : public OptimizerCloneableOptions<AdamWOptions> {
  using betas_t = std::tuple<double, double>;
  AdamWOptions(double lr = 1e-3) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-3;
  TORCH_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 1e-2;
  TORCH_ARG(bool, amsgrad) = false;
  TAEDA_FIELDS(AdamWOptions, lr, betas, eps, weight_decay, amsgrad);
};
struct TORCH_API AdamWParamState : public OptimizerCloneableParamState<AdamWParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(torch::Tensor, exp_avg) = {};
  TORCH_ARG(torch::Tensor, exp_avg_sq) = {};
  TORCH_ARG(torch::Tensor, max_exp_avg_sq) = {};
  TAEDA_FIELDS(AdamWParamState, step, exp_avg, exp_avg_sq, max_exp_avg_sq);
};
class TORCH_API AdamW : public Optimizer {
  TAEDA_OPTIMIZER(AdamW);

 public:
  explicit AdamW(std::vector<Tensor> params);
};

}  // namespace torch::optim
