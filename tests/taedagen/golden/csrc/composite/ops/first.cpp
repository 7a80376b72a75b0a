// Made by taedagen from tests/taedagen/tiny/first.py.
#include "autograd/overwritten.h"
#include "composite/body.h"
#include "composite/ops/first.h"
#include "shape/arguments.h"
#include "shape/spec.h"
#include "taeda/ops/defaults.h"

namespace taeda {
namespace ops {
TAEDA_API Tensor twice(const Tensor& self);
}  // namespace ops
using namespace taeda::autograd;

// tests/taedagen/tiny/first.py:32
Tensor composite::four_times(const Tensor& self) {
  return ops::twice(ops::twice(self));
}

}  // namespace taeda
