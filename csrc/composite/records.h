// Whether a gradient may itself be differentiated, in either mode: then it is written with differentiable ops, else it
// is one kernel.
#pragma once
#include "taeda/core/tensor.h"

namespace taeda::composite {

template <class... Tensors>
bool may_record(const Tensors&... tensors) {
  auto needs = [](const Tensor& t) { return t.defined() && t->needs_autograd(); };
  return t_state.forward_grad || (t_state.grad_mode && (needs(tensors) || ...));
}

}  // namespace taeda::composite
