// Made by taedagen from tests/taedagen/tiny/first.py.
#include "backend/cpu/first.h"
#include "backend/meta/first.h"
#include "backend/cpu/loops.h"
#include "shape/operands.h"

namespace taeda {

namespace {
using namespace shape;
using cpu::Pointwise;
}  // namespace

namespace cpu {
namespace baseline { extern const Loop k_twice_loops[]; }
#if defined(__x86_64__)
namespace avx2 { extern const Loop k_twice_loops[]; }
#endif
#if defined(__x86_64__)
namespace avx512 { extern const Loop k_twice_loops[]; }
#endif
}  // namespace cpu

namespace {
constexpr Pointwise k_twice{
    {Promotion::ResultType, 0, 1, {Element::Common}, 80, 0},
#if defined(__x86_64__)
    {cpu::baseline::k_twice_loops, cpu::avx2::k_twice_loops, cpu::avx512::k_twice_loops}
#else
    {cpu::baseline::k_twice_loops, cpu::baseline::k_twice_loops, cpu::baseline::k_twice_loops}
#endif
};
}  // namespace

// tests/taedagen/tiny/first.py:6
Tensor cpu::twice(const Tensor& self) {
  const Operand in[] = {self};
  return pointwise(k_twice, in);
}
// tests/taedagen/tiny/first.py:6
Tensor meta::twice(const Tensor& self) {
  const Operand in[] = {self};
  Tensor results[1];
  elementwise_meta(k_twice.rule, in, results);
  return results[0];
}

// tests/taedagen/tiny/first.py:6
void cpu::twice_(const Tensor& self) {
  const Operand in[] = {self};
  pointwise_out(k_twice, in, {&self}, true);
}
// tests/taedagen/tiny/first.py:6
void meta::twice_(const Tensor& self) {
  const Operand in[] = {self};
  const Tensor* const outs[] = {&self};
  elementwise_meta_out(k_twice.rule, in, outs, true);
}

// tests/taedagen/tiny/first.py:6
void cpu::twice_out(const Tensor& self, const Tensor& out) {
  const Operand in[] = {self};
  pointwise_out(k_twice, in, {&out}, false);
}
// tests/taedagen/tiny/first.py:6
void meta::twice_out(const Tensor& self, const Tensor& out) {
  const Operand in[] = {self};
  const Tensor* const outs[] = {&out};
  elementwise_meta_out(k_twice.rule, in, outs, false);
}

}  // namespace taeda
