// Made by taedagen from tests/taedagen/tiny/second.py.
#include "shape/ops/second.h"

namespace taeda {
constinit fused::Kernel fused::mul_Tensor_gradients;
constinit fused::Kernel fused::cubed_gradient_self;
constinit fused::Kernel fused::weighed_gradients;
constinit fused::Kernel fused::weighed_gradient_other;
}  // namespace taeda
