// Optimiser steps whose learning rate is in a tensor.
#include "composite/ops/optim.h"
#include "composite/number.h"
#include "taeda/ops.h"

namespace taeda::composite {

namespace {
double rate(const Tensor& lr) {
  TAEDA_CHECK(lr.numel() == 1, "the learning rate must be one number; got a tensor of shape ", lr.sizes());
  return number_of(lr).as_double();
}
}  // namespace

void _fused_sgd_(TensorList self, TensorList grads, TensorList buffers, double weight_decay, double momentum,
                 const Tensor& lr, double dampening, bool nesterov, bool maximize, bool is_first_step,
                 const Tensor& grad_scale, const Tensor& found_inf) {
  ops::_fused_sgd_(self, grads, buffers, weight_decay, momentum, rate(lr), dampening, nesterov, maximize, is_first_step,
                   grad_scale, found_inf);
}

#define TAEDA_ADAM(name)                                                                                              \
  void name(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,                           \
            TensorList max_exp_avg_sqs, TensorList state_steps, const Tensor& lr, double beta1, double beta2,         \
            double weight_decay, double eps, bool amsgrad, bool maximize, const Tensor& grad_scale,                   \
            const Tensor& found_inf) {                                                                                \
    ops::name(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, rate(lr), beta1, beta2, weight_decay, \
              eps, amsgrad, maximize, grad_scale, found_inf);                                                         \
  }
TAEDA_ADAM(_fused_adam_)
TAEDA_ADAM(_fused_adamw_)

void _fused_adagrad_(TensorList self, TensorList grads, TensorList state_sums, TensorList state_steps, const Tensor& lr,
                     double lr_decay, double weight_decay, double eps, bool maximize, const Tensor& grad_scale,
                     const Tensor& found_inf) {
  ops::_fused_adagrad_(self, grads, state_sums, state_steps, rate(lr), lr_decay, weight_decay, eps, maximize,
                       grad_scale, found_inf);
}

}  // namespace taeda::composite
