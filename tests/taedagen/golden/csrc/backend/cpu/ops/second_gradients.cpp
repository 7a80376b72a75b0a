// Made by taedagen from tests/taedagen/tiny/second.py.
#include "backend/cpu/engine/fused.h"
#include "shape/ops/second.h"

namespace taeda {
TAEDA_PER_ISA(extern const Loop
    k_mul_Tensor_gradients_loops[], k_cubed_gradient_self_loops[], k_weighed_gradients_loops[],
    k_weighed_gradient_other_loops[];)

namespace cpu {
namespace {
using namespace shape;
// tests/taedagen/tiny/second.py:12
constexpr Pointwise k_mul_Tensor_gradients{
    .rule = rule::mul_Tensor_gradients, .loops = TAEDA_ISA_TABLES(k_mul_Tensor_gradients_loops)};
// tests/taedagen/tiny/second.py:23
constexpr Pointwise k_cubed_gradient_self{
    .rule = rule::cubed_gradient_self, .loops = TAEDA_ISA_TABLES(k_cubed_gradient_self_loops)};
// tests/taedagen/tiny/second.py:34
constexpr Pointwise k_weighed_gradients{
    .rule = rule::weighed_gradients, .loops = TAEDA_ISA_TABLES(k_weighed_gradients_loops)};
// tests/taedagen/tiny/second.py:34
constexpr Pointwise k_weighed_gradient_other{
    .rule = rule::weighed_gradient_other, .loops = TAEDA_ISA_TABLES(k_weighed_gradient_other_loops)};
const fused::Bring second_brought[] = {
    {fused::mul_Tensor_gradients, DeviceType::CPU, run_fused<k_mul_Tensor_gradients>},
    {fused::cubed_gradient_self, DeviceType::CPU, run_fused<k_cubed_gradient_self>},
    {fused::weighed_gradients, DeviceType::CPU, run_fused<k_weighed_gradients>},
    {fused::weighed_gradient_other, DeviceType::CPU, run_fused<k_weighed_gradient_other>},
};
}  // namespace
}  // namespace cpu
}  // namespace taeda
