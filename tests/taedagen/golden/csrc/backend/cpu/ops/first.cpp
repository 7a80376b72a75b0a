// Made by taedagen from tests/taedagen/tiny/first.py.
#include "backend/cpu/engine/loops.h"
#include "backend/cpu/ops/first.h"
#include "shape/arguments.h"
#include "shape/operands.h"
#include "shape/ops/first.h"
#include "shape/rules.h"
#include "taeda/ops/defaults.h"

namespace taeda {
TAEDA_PER_ISA(extern const Loop k_twice_loops[];)
namespace {
using namespace shape;
using cpu::Pointwise;
constexpr Pointwise k_twice{.rule = rule::twice, .loops = TAEDA_ISA_TABLES(k_twice_loops)};
}  // namespace

using namespace shape;

// tests/taedagen/tiny/first.py:6
Tensor cpu::twice(const Tensor& self) {
  const Operand in[] = {self};
  return pointwise(k_twice, in);
}

// tests/taedagen/tiny/first.py:6
void cpu::twice_(const Tensor& self) {
  const Operand in[] = {self};
  pointwise_out(k_twice, in, {&self}, true);
}

// tests/taedagen/tiny/first.py:6
void cpu::twice_out(const Tensor& self, const Tensor& out) {
  const Operand in[] = {self};
  pointwise_out(k_twice, in, {&out}, false);
}

// tests/taedagen/tiny/first.py:27
Tensor cpu::stretch(const Tensor& self, double by, std::optional<int64_t> power) {
  auto specs = shape::triangle(self, by, power);
  Tensor out0 = shape::make(specs, shape::device_of(self));
  cpu::stretch(self, by, power, out0);
  return out0;
}

}  // namespace taeda
