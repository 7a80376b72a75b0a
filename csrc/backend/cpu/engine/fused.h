// Fused gradients on the CPU: pointwise loops like any other.
#pragma once
#include "backend/cpu/engine/loops.h"
#include "shape/fused.h"

namespace taeda::cpu {

template <const Pointwise& op>
void run_fused(Operands in, Tensor* results, std::span<const Scalar> scalars) {
  pointwise_many(op, in, results, scalars);
}

}  // namespace taeda::cpu
