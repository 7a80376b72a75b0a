// Views that autograd does not track as such.
#include "backend/any_device/ops/reshape.h"
#include "shape/view_rules.h"

namespace taeda::any_device {

Tensor _unsafe_view(const Tensor& self, IntList size) { return shape::alias(self, shape::view(self, size)); }

std::vector<Tensor> unsafe_split(const Tensor& self, int64_t split_size, int64_t dim) {
  return shape::alias(self, shape::split(self, split_size, dim));
}

std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self, IntList split_sizes, int64_t dim) {
  return shape::alias(self, shape::split_with_sizes(self, split_sizes, dim));
}

}  // namespace taeda::any_device
