// Made by taedagen from tests/taedagen/tiny/second.py.
#include "backend/cpu/second_gradients.h"

namespace taeda {
namespace cpu {
namespace baseline { extern const Loop k_mul_Tensor_gradients_loops[], k_cubed_gradient_self_loops[], k_weighed_gradients_loops[], k_weighed_gradient_other_loops[]; }
#if defined(__x86_64__)
namespace avx2 { extern const Loop k_mul_Tensor_gradients_loops[], k_cubed_gradient_self_loops[], k_weighed_gradients_loops[], k_weighed_gradient_other_loops[]; }
#endif
#if defined(__x86_64__)
namespace avx512 { extern const Loop k_mul_Tensor_gradients_loops[], k_cubed_gradient_self_loops[], k_weighed_gradients_loops[], k_weighed_gradient_other_loops[]; }
#endif
}  // namespace cpu

namespace cpu {
using namespace shape;
// tests/taedagen/tiny/second.py:12
const Pointwise k_mul_Tensor_gradients{
    {Promotion::ResultType, 0, 2, {Element::Common, Element::Common}, 2272, 0},
#if defined(__x86_64__)
    {cpu::baseline::k_mul_Tensor_gradients_loops, cpu::avx2::k_mul_Tensor_gradients_loops, cpu::avx512::k_mul_Tensor_gradients_loops}
#else
    {cpu::baseline::k_mul_Tensor_gradients_loops, cpu::baseline::k_mul_Tensor_gradients_loops, cpu::baseline::k_mul_Tensor_gradients_loops}
#endif
};
// tests/taedagen/tiny/second.py:23
const Pointwise k_cubed_gradient_self{
    {Promotion::ResultType, 0, 1, {Element::Common}, 192, 0},
#if defined(__x86_64__)
    {cpu::baseline::k_cubed_gradient_self_loops, cpu::avx2::k_cubed_gradient_self_loops, cpu::avx512::k_cubed_gradient_self_loops}
#else
    {cpu::baseline::k_cubed_gradient_self_loops, cpu::baseline::k_cubed_gradient_self_loops, cpu::baseline::k_cubed_gradient_self_loops}
#endif
};
// tests/taedagen/tiny/second.py:34
const Pointwise k_weighed_gradients{
    {Promotion::ResultType, 0, 2, {Element::Common, Element::Common}, 2272, 0},
#if defined(__x86_64__)
    {cpu::baseline::k_weighed_gradients_loops, cpu::avx2::k_weighed_gradients_loops, cpu::avx512::k_weighed_gradients_loops}
#else
    {cpu::baseline::k_weighed_gradients_loops, cpu::baseline::k_weighed_gradients_loops, cpu::baseline::k_weighed_gradients_loops}
#endif
};
// tests/taedagen/tiny/second.py:34
const Pointwise k_weighed_gradient_other{
    {Promotion::ResultType, 0, 1, {Element::Common}, 2272, 0},
#if defined(__x86_64__)
    {cpu::baseline::k_weighed_gradient_other_loops, cpu::avx2::k_weighed_gradient_other_loops, cpu::avx512::k_weighed_gradient_other_loops}
#else
    {cpu::baseline::k_weighed_gradient_other_loops, cpu::baseline::k_weighed_gradient_other_loops, cpu::baseline::k_weighed_gradient_other_loops}
#endif
};
}  // namespace cpu
}  // namespace taeda
