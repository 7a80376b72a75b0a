// Made by taedagen from tests/taedagen/tiny/second.py.
#include "backend/cpu/second_gradients.h"

namespace taeda {
TAEDA_PER_ISA(extern const Loop k_mul_Tensor_gradients_loops[], k_cubed_gradient_self_loops[], k_weighed_gradients_loops[], k_weighed_gradient_other_loops[];)

namespace cpu {
using namespace shape;
// tests/taedagen/tiny/second.py:12
const Pointwise k_mul_Tensor_gradients{{Promotion::ResultType, 0, 2, {Element::Common, Element::Common}, 2272, 0}, TAEDA_ISA_TABLES(k_mul_Tensor_gradients_loops)};
// tests/taedagen/tiny/second.py:23
const Pointwise k_cubed_gradient_self{{Promotion::ResultType, 0, 1, {Element::Common}, 192, 0}, TAEDA_ISA_TABLES(k_cubed_gradient_self_loops)};
// tests/taedagen/tiny/second.py:34
const Pointwise k_weighed_gradients{{Promotion::ResultType, 0, 2, {Element::Common, Element::Common}, 2272, 0}, TAEDA_ISA_TABLES(k_weighed_gradients_loops)};
// tests/taedagen/tiny/second.py:34
const Pointwise k_weighed_gradient_other{{Promotion::ResultType, 0, 1, {Element::Common}, 2272, 0}, TAEDA_ISA_TABLES(k_weighed_gradient_other_loops)};
}  // namespace cpu
}  // namespace taeda
