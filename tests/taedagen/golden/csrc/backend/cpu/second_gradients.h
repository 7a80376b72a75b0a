// Made by taedagen from tests/taedagen/tiny/second.py.
#pragma once
#include "backend/cpu/engine/fused.h"

namespace taeda::cpu {
extern const Pointwise k_mul_Tensor_gradients;
extern const Pointwise k_cubed_gradient_self;
extern const Pointwise k_weighed_gradients;
extern const Pointwise k_weighed_gradient_other;
}  // namespace taeda::cpu
