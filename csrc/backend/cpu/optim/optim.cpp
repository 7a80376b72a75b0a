// Optimiser steps: the numbers of each tensor's step, and its elements in one pass.
#include "backend/cpu/optim/optim.h"

#include <algorithm>
#include <cmath>

#include "backend/cpu/ops/optim.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

namespace baseline {
extern const optim::Loops kOptimLoops;
}
#if defined(__x86_64__)
namespace avx2 {
extern const optim::Loops kOptimLoops;
}
namespace avx512 {
extern const optim::Loops kOptimLoops;
}
#endif

namespace {

using optim::kMostOperands;
using optim::Rule;
using optim::Step;

const optim::Loops& loops() {
#if defined(__x86_64__)
  if (kIsa == Isa::Avx512) return avx512::kOptimLoops;
  if (kIsa == Isa::Avx2) return avx2::kOptimLoops;
#endif
  return baseline::kOptimLoops;
}

int type_index(DType dtype) {
  switch (dtype) {
    case DType::Float32:
      return 0;
    case DType::Float64:
      return 1;
    case DType::Float16:
      return 2;
    case DType::BFloat16:
      return 3;
    default:
      TAEDA_FAIL(NotImplemented, "parameters must be of a floating-point dtype; got ", dtype);
  }
}

// Parameter, gradient and states of one tensor; absent states are not defined.
struct Operands {
  const Tensor* of[kMostOperands];
  int count;
};

bool in_one_layout(const Operands& operands) {
  const Tensor& first = *operands.of[0];
  bool all_contiguous = true;
  for (int i = 0; i < operands.count; ++i) {
    const Tensor& t = *operands.of[i];
    TAEDA_CHECK(t.dtype() == first.dtype() && t.is_cpu() && std::ranges::equal(t.sizes(), first.sizes()),
                "gradients and states must have the shape, dtype and device of their parameter ", first.sizes(), " ",
                first.dtype(), "; got ", t.sizes(), " ", t.dtype(), " on ", t.device());
    all_contiguous &= t.is_contiguous();
  }
  if (all_contiguous) return true;
  if (!first->is_non_overlapping_and_dense()) return false;
  for (int i = 1; i < operands.count; ++i)
    if (!std::ranges::equal(operands.of[i]->strides(), first.strides())) return false;
  return true;
}

void run(const Step& step, Rule rule, const Operands& operands) {
  const Tensor& first = *operands.of[0];
  optim::Loop loop = loops().of[static_cast<int>(rule)][type_index(first.dtype())];
  Tensor copies[kMostOperands];
  void* data[kMostOperands] = {};
  bool direct = in_one_layout(operands);
  for (int i = 0; i < operands.count; ++i) {
    if (!direct) copies[i] = ops::clone(*operands.of[i], MemoryFormat::Contiguous);
    data[i] = direct ? operands.of[i]->data() : copies[i].data();
  }
  parallel_for(0, first.numel(), kGrain, [&](int64_t from, int64_t to) { loop(step, data, from, to); });
  if (direct) return;
  for (int i = 0; i < operands.count; ++i) ops::copy_(*operands.of[i], copies[i]);
}

double number(const Tensor& t) {
  TAEDA_CHECK(t.numel() == 1 && t.is_cpu(), "expected one number on the CPU; got shape ", t.sizes(), " on ",
              t.device());
  return visit(t.dtype(), [&]<class T>() { return convert<double>(*t.data<T>()); });
}

// Whether there is anything to do, and what gradients are multiplied by.
bool begin(Step& step, bool maximize, const Tensor& grad_scale, const Tensor& found_inf) {
  if (found_inf.defined() && number(found_inf) == 1) return false;
  if (grad_scale.defined()) step.keep_scaled = 1 / number(grad_scale);
  step.factor = maximize ? -1 : 1;
  return true;
}

void check_list(TensorList self, TensorList list, const char* name) {
  TAEDA_CHECK(list.size() == self.size(), name, " must hold one tensor for each of the ", self.size(),
              " parameters; got ", list.size());
}

void adam(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs,
          TensorList state_steps, double beta1, double beta2, double lr, double eps, bool amsgrad, const Step& common) {
  check_list(self, grads, "grads");
  check_list(self, exp_avgs, "exp_avgs");
  check_list(self, exp_avg_sqs, "exp_avg_sqs");
  check_list(self, state_steps, "state_steps");
  if (amsgrad) check_list(self, max_exp_avg_sqs, "max_exp_avg_sqs");
  for (size_t i = 0; i < self.size(); ++i) {
    double count = number(state_steps[i]);
    Step step = common;
    step.beta1 = beta1;
    step.beta2 = beta2;
    step.eps = eps;
    step.lr = lr / (1 - std::pow(beta1, count));
    step.root_correction = 1 / std::sqrt(1 - std::pow(beta2, count));
    Operands operands{{&self[i], &grads[i], &exp_avgs[i], &exp_avg_sqs[i]}, 4};
    if (amsgrad) operands.of[operands.count++] = &max_exp_avg_sqs[i];
    run(step, amsgrad ? Rule::AdamMax : Rule::Adam, operands);
  }
}

}  // namespace

void _fused_sgd_(TensorList self, TensorList grads, TensorList momentum_buffer_list, double weight_decay,
                 double momentum, double lr, double dampening, bool nesterov, bool maximize, bool is_first_step,
                 const Tensor& grad_scale, const Tensor& found_inf) {
  Step step{.lr = lr, .decay = weight_decay, .beta1 = momentum, .fresh = 1 - dampening, .direct = nesterov ? 1.0 : 0.0};
  if (!begin(step, maximize, grad_scale, found_inf)) return;
  check_list(self, grads, "grads");
  bool has_buffers = momentum != 0 && !momentum_buffer_list.empty();
  if (has_buffers) check_list(self, momentum_buffer_list, "momentum_buffer_list");
  Rule rule = !has_buffers ? Rule::Sgd : is_first_step ? Rule::SgdFirst : Rule::SgdMomentum;
  for (size_t i = 0; i < self.size(); ++i) {
    Operands operands{{&self[i], &grads[i]}, 2};
    if (has_buffers) operands.of[operands.count++] = &momentum_buffer_list[i];
    run(step, rule, operands);
  }
}

void _fused_adam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                  TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1, double beta2,
                  double weight_decay, double eps, bool amsgrad, bool maximize, const Tensor& grad_scale,
                  const Tensor& found_inf) {
  Step step{.lr = lr, .decay = weight_decay};
  if (!begin(step, maximize, grad_scale, found_inf)) return;
  adam(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, beta1, beta2, lr, eps, amsgrad, step);
}

void _fused_adamw_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                   TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1, double beta2,
                   double weight_decay, double eps, bool amsgrad, bool maximize, const Tensor& grad_scale,
                   const Tensor& found_inf) {
  Step step{.lr = lr, .shrink = 1 - lr * weight_decay};
  if (!begin(step, maximize, grad_scale, found_inf)) return;
  adam(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, beta1, beta2, lr, eps, amsgrad, step);
}

void _fused_adagrad_(TensorList self, TensorList grads, TensorList state_sums, TensorList state_steps, double lr,
                     double lr_decay, double weight_decay, double eps, bool maximize, const Tensor& grad_scale,
                     const Tensor& found_inf) {
  Step common{.lr = lr, .decay = weight_decay, .eps = eps};
  if (!begin(common, maximize, grad_scale, found_inf)) return;
  check_list(self, grads, "grads");
  check_list(self, state_sums, "state_sums");
  check_list(self, state_steps, "state_steps");
  for (size_t i = 0; i < self.size(); ++i) {
    Step step = common;
    step.lr = lr / (1 + (number(state_steps[i]) - 1) * lr_decay);
    run(step, Rule::Adagrad, {{&self[i], &grads[i], &state_sums[i]}, 3});
  }
}

}  // namespace taeda::cpu
