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

// A result that was written to before anybody saw it: its version starts at 0, as if one call had made it.
inline Tensor unwritten(Tensor result) {
  result->set_versions(make_ref<VersionCounter>());
  return result;
}

}  // namespace taeda::composite
