// Limited-memory BFGS over all parameters as one vector (Liu and Nocedal, On the limited memory BFGS method, 1989).
#pragma once
#include <deque>

#include <torch/optim/optimizer.h>

namespace torch::optim {

TAEDA_COMPILED_OPTIONS(LBFGSOptions);
TAEDA_COMPILED_STATE(LBFGSParamState);
struct TORCH_API LBFGSOptions : public OptimizerCloneableOptions<LBFGSOptions> {
  LBFGSOptions(double lr = 1) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1;
  TORCH_ARG(int64_t, max_iter) = 20;
  TORCH_ARG(std::optional<int64_t>, max_eval) = std::nullopt;
  TORCH_ARG(double, tolerance_grad) = 1e-7;
  TORCH_ARG(double, tolerance_change) = 1e-9;
  TORCH_ARG(int64_t, history_size) = 100;
  TORCH_ARG(std::optional<std::string>, line_search_fn) = std::nullopt;
  TAEDA_FIELDS(LBFGSOptions, lr, max_iter, max_eval, tolerance_grad, tolerance_change, history_size, line_search_fn);
};
struct TORCH_API LBFGSParamState : public OptimizerCloneableParamState<LBFGSParamState> {
  TORCH_ARG(int64_t, func_evals) = 0;
  TORCH_ARG(int64_t, n_iter) = 0;
  TORCH_ARG(double, t) = 0;
  TORCH_ARG(double, prev_loss) = 0;
  TORCH_ARG(Tensor, d) = {};
  TORCH_ARG(Tensor, H_diag) = {};
  TORCH_ARG(Tensor, prev_flat_grad) = {};
  TORCH_ARG(std::deque<Tensor>, old_dirs);
  TORCH_ARG(std::deque<Tensor>, old_stps);
  TORCH_ARG(std::deque<Tensor>, ro);
  TORCH_ARG(std::optional<std::vector<Tensor>>, al) = std::nullopt;

 public:
  std::unique_ptr<OptimizerParamState> clone() const override;
  void serialize(torch::serialize::InputArchive& archive) override;
  void serialize(torch::serialize::OutputArchive& archive) const override;
  TORCH_API friend bool operator==(const LBFGSParamState& a, const LBFGSParamState& b);
  ~LBFGSParamState() override;
};

class TORCH_API LBFGS : public Optimizer {
 public:
  explicit LBFGS(const std::vector<OptimizerParamGroup>& param_groups, LBFGSOptions defaults = {});
  explicit LBFGS(std::vector<Tensor> params, LBFGSOptions defaults = {});
  // Up to max_iter iterations; the loss of the first evaluation. The closure is not optional.
  Tensor step(LossClosure closure) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;

 private:
  Tensor flat_grad() const;
  void move(double t, const Tensor& direction);
  Tensor direction(LBFGSParamState& state, const Tensor& grad, int64_t history);
};

}  // namespace torch::optim
