// Made by taedagen from tests/taedagen/tiny/first.py.
#include "backend/meta/ops/first.h"
#include "shape/arguments.h"
#include "shape/operands.h"
#include "shape/ops/first.h"
#include "shape/rules.h"
#include "taeda/ops/defaults.h"

namespace taeda {
using namespace shape;

// tests/taedagen/tiny/first.py:6
Tensor meta::twice(const Tensor& self) {
  const Operand in[] = {self};
  Tensor results[1];
  elementwise_meta(rule::twice, in, results);
  return results[0];
}

// tests/taedagen/tiny/first.py:6
void meta::twice_(const Tensor& self) {
  const Operand in[] = {self};
  const Tensor* const outs[] = {&self};
  elementwise_meta_out(rule::twice, in, outs, true);
}

// tests/taedagen/tiny/first.py:6
void meta::twice_out(const Tensor& self, const Tensor& out) {
  const Operand in[] = {self};
  const Tensor* const outs[] = {&out};
  elementwise_meta_out(rule::twice, in, outs, false);
}

// tests/taedagen/tiny/first.py:27
Tensor meta::stretch(const Tensor& self, double by, std::optional<int64_t> power) {
  auto specs = shape::triangle(self, by, power);
  Tensor out0 = shape::make(specs, Device{DeviceType::Meta});
  return out0;
}

}  // namespace taeda
