// Filling a tensor that nobody else holds yet.
#pragma once
#include <initializer_list>

#include "taeda/core/tensor.h"
#include "taeda/core/thread_state.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"

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

// A copy of `self` to write `others` to. Where the class of one answers ops itself the copy is of that class, so that
// it can hold what is written: a batch of vmap has room for each example's.
inline Tensor copy_for(const Tensor& self, std::initializer_list<const Tensor*> others,
                       MemoryFormat format = MemoryFormat::Contiguous) {
  if (!self.keys().has(Functionality::Python))
    for (const Tensor* other : others)
      if (other->defined() && other->keys().has(Functionality::Python)) {
        Tensor result = ops::new_empty(*other, self.sizes(), self.dtype(), std::nullopt, self.device());
        ops::copy_(result, self);
        return result;
      }
  return ops::clone(self, format);
}

}  // namespace taeda::composite
