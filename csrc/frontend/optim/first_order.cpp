// Optimizers that look at gradients alone.
#include <torch/optim.h>

#include <taeda/core/sparse.h>

#include <cmath>

namespace torch::optim {

namespace {

void check(bool holds, const char* class_name, const char* what, double value) {
  TORCH_CHECK(holds, class_name, ": invalid ", what, ": ", value);
}
// Calls `update` with the options, each parameter that has a gradient, and the gradient.
template <class Options, class Update>
void for_each(std::vector<OptimizerParamGroup>& groups, const Update& update) {
  for (OptimizerParamGroup& group : groups) {
    const auto& options = static_cast<const Options&>(group.options());
    for (Tensor& param : group.params())
      if (param.grad().defined()) update(options, param, param.grad());
  }
}

}  // namespace

// --- SGD
SGD::SGD(const std::vector<OptimizerParamGroup>& param_groups, SGDOptions defaults)
    : Optimizer(param_groups, std::make_unique<SGDOptions>(defaults)) {
  check(defaults.lr() >= 0, "SGD", "learning rate", defaults.lr());
  check(defaults.momentum() >= 0, "SGD", "momentum value", defaults.momentum());
  check(defaults.weight_decay() >= 0, "SGD", "weight_decay value", defaults.weight_decay());
  TORCH_CHECK(!defaults.nesterov() || (defaults.momentum() > 0 && defaults.dampening() == 0),
              "SGD: nesterov needs a momentum above 0, and no dampening");
}
Tensor SGD::step(LossClosure closure) {
  NoGradGuard no_grad;
  Tensor loss = loss_of(closure);
  for_each<SGDOptions>(param_groups_, [&](const SGDOptions& o, Tensor& param, Tensor grad) {
    if (o.weight_decay() != 0) grad = grad.add(param, o.weight_decay());
    if (o.momentum() != 0) {
      Tensor& buffer = state_of<SGDParamState>(param).momentum_buffer();
      if (!buffer.defined())
        buffer = grad.detach().clone();
      else
        buffer.mul_(o.momentum()).add_(grad, 1 - o.dampening());
      grad = o.nesterov() ? grad.add(buffer, o.momentum()) : buffer;
    }
    param.add_(grad, -o.lr());
  });
  return loss;
}

// --- Adam and AdamW
namespace {

template <class Options>
void check_adam(const char* name, const Options& o) {
  check(o.lr() >= 0, name, "learning rate", o.lr());
  check(o.eps() >= 0, name, "epsilon value", o.eps());
  auto [beta1, beta2] = o.betas();
  check(beta1 >= 0 && beta1 < 1, name, "beta parameter at index 0", beta1);
  check(beta2 >= 0 && beta2 < 1, name, "beta parameter at index 1", beta2);
  check(o.weight_decay() >= 0, name, "weight_decay value", o.weight_decay());
}
template <class State, class Options>
void adam(State& state, const Options& o, Tensor& param, const Tensor& grad) {
  if (!state.exp_avg().defined()) {
    state.exp_avg(at::zeros_like(param, at::MemoryFormat::Preserve));
    state.exp_avg_sq(at::zeros_like(param, at::MemoryFormat::Preserve));
    if (o.amsgrad()) state.max_exp_avg_sq(at::zeros_like(param, at::MemoryFormat::Preserve));
  }
  auto [beta1, beta2] = o.betas();
  const auto steps = static_cast<double>(++state.step());
  state.exp_avg().mul_(beta1).add_(grad, 1 - beta1);
  state.exp_avg_sq().mul_(beta2).addcmul_(grad, grad, 1 - beta2);
  Tensor second = state.exp_avg_sq();
  if (o.amsgrad()) {
    at::maximum_out(state.max_exp_avg_sq(), state.max_exp_avg_sq(), second);
    second = state.max_exp_avg_sq();
  }
  Tensor denominator = (second.sqrt() / std::sqrt(1 - std::pow(beta2, steps))).add_(o.eps());
  param.addcdiv_(state.exp_avg(), denominator, -o.lr() / (1 - std::pow(beta1, steps)));
}

}  // namespace

Adam::Adam(const std::vector<OptimizerParamGroup>& param_groups, AdamOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdamOptions>(defaults)) {
  check_adam("Adam", defaults);
}
Tensor Adam::step(LossClosure closure) {
  NoGradGuard no_grad;
  Tensor loss = loss_of(closure);
  for_each<AdamOptions>(param_groups_, [&](const AdamOptions& o, Tensor& param, Tensor grad) {
    TORCH_CHECK(!grad.is_sparse(), "Adam: gradients are dense; sparse ones are for SGD and Adagrad");
    if (o.weight_decay() != 0) grad = grad.add(param, o.weight_decay());
    adam(state_of<AdamParamState>(param), o, param, grad);
  });
  return loss;
}

AdamW::AdamW(const std::vector<OptimizerParamGroup>& param_groups, AdamWOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdamWOptions>(defaults)) {
  check_adam("AdamW", defaults);
}
Tensor AdamW::step(LossClosure closure) {
  NoGradGuard no_grad;
  Tensor loss = loss_of(closure);
  for_each<AdamWOptions>(param_groups_, [&](const AdamWOptions& o, Tensor& param, const Tensor& grad) {
    TORCH_CHECK(!grad.is_sparse(), "AdamW: gradients are dense; sparse ones are for SGD and Adagrad");
    if (o.weight_decay() != 0) param.mul_(1 - o.lr() * o.weight_decay());
    adam(state_of<AdamWParamState>(param), o, param, grad);
  });
  return loss;
}

// --- RMSprop
RMSprop::RMSprop(const std::vector<OptimizerParamGroup>& param_groups, RMSpropOptions defaults)
    : Optimizer(param_groups, std::make_unique<RMSpropOptions>(defaults)) {
  check(defaults.lr() >= 0, "RMSprop", "learning rate", defaults.lr());
  check(defaults.eps() >= 0, "RMSprop", "epsilon value", defaults.eps());
  check(defaults.momentum() >= 0, "RMSprop", "momentum value", defaults.momentum());
  check(defaults.weight_decay() >= 0, "RMSprop", "weight_decay value", defaults.weight_decay());
  check(defaults.alpha() >= 0, "RMSprop", "alpha value", defaults.alpha());
}
Tensor RMSprop::step(LossClosure closure) {
  NoGradGuard no_grad;
  Tensor loss = loss_of(closure);
  for_each<RMSpropOptions>(param_groups_, [&](const RMSpropOptions& o, Tensor& param, Tensor grad) {
    TORCH_CHECK(!grad.is_sparse(), "RMSprop: gradients are dense; sparse ones are for SGD and Adagrad");
    auto& state = state_of<RMSpropParamState>(param);
    auto zeros = [&] { return at::zeros_like(param, at::MemoryFormat::Preserve); };
    if (!state.square_avg().defined()) {
      state.square_avg(zeros());
      if (o.momentum() > 0) state.momentum_buffer(zeros());
      if (o.centered()) state.grad_avg(zeros());
    }
    ++state.step();
    if (o.weight_decay() != 0) grad = grad.add(param, o.weight_decay());
    state.square_avg().mul_(o.alpha()).addcmul_(grad, grad, 1 - o.alpha());
    Tensor variance = state.square_avg();
    if (o.centered()) {
      state.grad_avg().mul_(o.alpha()).add_(grad, 1 - o.alpha());
      variance = variance.addcmul(state.grad_avg(), state.grad_avg(), -1);
    }
    Tensor average = variance.sqrt().add_(o.eps());
    if (o.momentum() > 0) {
      state.momentum_buffer().mul_(o.momentum()).addcdiv_(grad, average);
      param.add_(state.momentum_buffer(), -o.lr());
    } else {
      param.addcdiv_(grad, average, -o.lr());
    }
  });
  return loss;
}

// --- Adagrad
Adagrad::Adagrad(const std::vector<OptimizerParamGroup>& param_groups, AdagradOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdagradOptions>(defaults)) {
  check(defaults.lr() >= 0, "Adagrad", "learning rate", defaults.lr());
  check(defaults.lr_decay() >= 0, "Adagrad", "lr_decay value", defaults.lr_decay());
  check(defaults.weight_decay() >= 0, "Adagrad", "weight_decay value", defaults.weight_decay());
  check(defaults.initial_accumulator_value() >= 0, "Adagrad", "initial_accumulator_value value",
        defaults.initial_accumulator_value());
  check(defaults.eps() >= 0, "Adagrad", "epsilon value", defaults.eps());
  for (OptimizerParamGroup& group : param_groups_)
    for (Tensor& param : group.params())
      state_of<AdagradParamState>(param).sum(at::full_like(
          param.detach(), static_cast<const AdagradOptions&>(group.options()).initial_accumulator_value()));
}
namespace {
// Adagrad's rule on the rows that a sparse gradient names.
void step_rows(Tensor& param, const Tensor& gradient, Tensor& sum, double rate, double eps) {
  const auto& [indices, plain, values] = ::taeda::sparse_impl(gradient)->parts();
  auto [where, total] = at::_sparse_coalesce(indices, values, gradient.sizes());
  if (where.numel() == 0) return;
  c10::List<std::optional<Tensor>> rows;
  for (const Tensor& row : where.unbind(0)) rows.push_back(row);
  Tensor grown = sum.index(rows) + total * total;
  sum.index_put_(rows, grown);
  param.index_put_(rows, param.index(rows) - rate * total / grown.sqrt().add_(eps));
}
}  // namespace
Tensor Adagrad::step(LossClosure closure) {
  NoGradGuard no_grad;
  Tensor loss = loss_of(closure);
  for_each<AdagradOptions>(param_groups_, [&](const AdagradOptions& o, Tensor& param, Tensor grad) {
    auto& state = state_of<AdagradParamState>(param);
    if (!state.sum().defined()) state.sum(at::full_like(param.detach(), o.initial_accumulator_value()));
    const auto steps = static_cast<double>(++state.step());
    TORCH_CHECK(o.weight_decay() == 0 || !grad.is_sparse(), "Adagrad: weight_decay does not go with sparse gradients");
    if (o.weight_decay() != 0) grad = grad.add(param, o.weight_decay());
    const double rate = o.lr() / (1 + (steps - 1) * o.lr_decay());
    if (grad.is_sparse()) return step_rows(param, grad, state.sum(), rate, o.eps());
    state.sum().addcmul_(grad, grad, 1.0);
    param.addcdiv_(grad, state.sum().sqrt().add_(o.eps()), -rate);
  });
  return loss;
}

}  // namespace torch::optim
