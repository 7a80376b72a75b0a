// Made by taedagen from tests/taedagen/tiny/first.py.
#include "backend/any_device/ops/first.h"
#include "shape/arguments.h"
#include "shape/rules.h"
#include "shape/spec.h"
#include "taeda/ops/defaults.h"

namespace taeda {

// tests/taedagen/tiny/first.py:17
Tensor any_device::turned(const Tensor& self, int64_t dim0, int64_t dim1) {
  return shape::alias(self, shape::transpose(self, dim0, dim1));
}

}  // namespace taeda
