// Rules of ops that join, repeat and shift.
#pragma once
#include "shape/spec.h"

namespace taeda::shape {

Spec cat(TensorList tensors, int64_t dim);
Spec stack(TensorList tensors, int64_t dim);
Spec repeat(const Tensor& self, IntList repeats);
Spec flip(const Tensor& self, IntList dims);
Spec roll(const Tensor& self, IntList shifts, IntList dims);

// An input that cat passes over whatever the others' shape: a vector without elements.
inline bool is_skipped_by_cat(const Tensor& t) { return t.dim() == 1 && t.numel() == 0; }

}  // namespace taeda::shape
