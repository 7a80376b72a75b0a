// Made by taedagen from tests/taedagen/tiny/first.py.

#include "taeda/ops/first.h"
#include "dispatch/ops/first.h"
#include "backend/cpu/ops/first.h"
#include "backend/meta/ops/first.h"
#include "autograd/ops/first.h"
#include "backend/any_device/ops/first.h"
#include "composite/ops/first.h"

namespace taeda {
#include "dispatch/ops/first.inc"

namespace ops {

// tests/taedagen/tiny/first.py:6
Tensor twice(const Tensor& self) {
  return table::twice_plain(dispatch_keys(self), self);
}

// tests/taedagen/tiny/first.py:6
void twice_(const Tensor& self) {
  prepare_write(self);
  return table::twice__plain(dispatch_keys(self), self);
}

// tests/taedagen/tiny/first.py:6
void twice_out(const Tensor& self, const Tensor& out) {
  prepare_write(out);
  return table::twice_out(dispatch_keys(self, out), self, out);
}

// tests/taedagen/tiny/first.py:17
Tensor turned(const Tensor& self, int64_t dim0, int64_t dim1) {
  return table::turned_plain(dispatch_keys(self), self, dim0, dim1);
}

// tests/taedagen/tiny/first.py:27
Tensor stretch(const Tensor& self, double by, std::optional<int64_t> power) {
  return table::stretch_plain(dispatch_keys(self), self, by, power);
}

// tests/taedagen/tiny/first.py:32
Tensor four_times(const Tensor& self) {
  return table::four_times_plain(dispatch_keys(self), self);
}

}  // namespace ops
}  // namespace taeda
