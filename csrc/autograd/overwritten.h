// In-place ops that are computed as a whole and then copied into their first argument.
#pragma once
#include "autograd/numbers.h"
#include "taeda/autograd/meta.h"
#include "taeda/core/thread_state.h"

namespace taeda::autograd {

// What such an op computes from: `self`, or a copy of it while a gradient is recorded, whose formula may read what the
// result overwrites.
template <class... Others>
Tensor before_writing(const Tensor& self, const Others&... others) {
  auto wants = [](const Tensor& t) { return t.defined() && t->needs_autograd() && requires_grad(t); };
  return t_state.grad_mode && (wants(self) || ... || wants(others)) ? clone_for_inplace(self) : self;
}

}  // namespace taeda::autograd
