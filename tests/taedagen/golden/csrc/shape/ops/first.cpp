// Made by taedagen from tests/taedagen/tiny/first.py.
#include "taeda/ops/defaults.h"
#include "autograd/numbers.h"
#include "autograd/overwritten.h"
#include "shape/arguments.h"
#include "shape/ops/first.h"
#include "shape/rules.h"
#include "shape/spec.h"

namespace taeda {
namespace ops {
TAEDA_API Tensor twice(const Tensor& self);
}  // namespace ops
using namespace taeda::autograd;

// tests/taedagen/tiny/first.py:17
Tensor everywhere::turned(const Tensor& self, int64_t dim0, int64_t dim1) {
  return shape::alias(self, shape::transpose(self, dim0, dim1));
}

// tests/taedagen/tiny/first.py:27
Tensor cpu::stretch(const Tensor& self, double by, std::optional<int64_t> power) {
  auto specs = shape::triangle(self, by, power);
  Tensor out0 = shape::make(specs, shape::device_of(self));
  cpu::stretch(self, by, power, out0);
  return out0;
}

// tests/taedagen/tiny/first.py:27
Tensor meta::stretch(const Tensor& self, double by, std::optional<int64_t> power) {
  auto specs = shape::triangle(self, by, power);
  Tensor out0 = shape::make(specs, Device{DeviceType::Meta});
  return out0;
}

// tests/taedagen/tiny/first.py:32
Tensor composite::four_times(const Tensor& self) {
  return ops::twice(ops::twice(self));
}

}  // namespace taeda
