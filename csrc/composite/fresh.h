// Filling a tensor that nobody else holds yet.
#pragma once
#include "core/tensor.h"
#include "core/thread_state.h"

namespace taeda::composite {

// `tensor` after fill(tensor), which neither a graph nor its version records.
template <class F>
Tensor filled(Tensor tensor, const F& fill) {
  BelowAutograd guard;
  fill(tensor);
  return tensor;
}

}  // namespace taeda::composite
