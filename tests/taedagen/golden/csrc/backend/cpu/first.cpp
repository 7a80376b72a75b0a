// Made by taedagen from tests/taedagen/tiny/first.py.
#include "backend/cpu/first.h"
#include "backend/meta/first.h"
#include "backend/cpu/engine/loops.h"
#include "shape/operands.h"

namespace taeda {

namespace {
using namespace shape;
using cpu::Pointwise;
}  // namespace

TAEDA_PER_ISA(extern const Loop k_twice_loops[];)

namespace {
constexpr Pointwise k_twice{{Promotion::ResultType, 0, 1, {Element::Common}, 80, 0}, TAEDA_ISA_TABLES(k_twice_loops)};
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
