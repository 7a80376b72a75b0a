// Reading a number out of a tensor.
#pragma once
#include "taeda/ops/copy.h"

namespace taeda::composite {

// The one element of `t`, fetched to the CPU if need be.
inline Scalar number_of(const Tensor& t) { return ops::_local_scalar_dense(t); }

}  // namespace taeda::composite
