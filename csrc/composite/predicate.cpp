// Questions about whole tensors, and activations that need more than one formula.
#include "shape/ops/predicate.h"
#include "taeda/ops/activation.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

#include <algorithm>

#include "composite/number.h"

namespace taeda::composite {

namespace {
void check_has_elements(const Tensor& t) {
  TAEDA_CHECK_KIND(NotImplemented, t.device().type != DeviceType::Meta,
                   "the answer depends on elements, which a meta tensor lacks");
}

bool truth(const Tensor& t) {
  check_has_elements(t);
  return number_of(t).to<bool>();
}
}  // namespace

bool equal(const Tensor& self, const Tensor& other) {
  TAEDA_CHECK(self.device() == other.device(), "self is on ", self.device(), " and other on ", other.device());
  check_has_elements(self);
  if (!std::ranges::equal(self.sizes(), other.sizes())) return false;
  return self.numel() == 0 || truth(ops::all(ops::eq(self, other)));
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return truth(ops::all(ops::isclose(self, other, rtol, atol, equal_nan)));
}

bool is_nonzero(const Tensor& self) {
  TAEDA_CHECK(self.numel() == 1, "only a tensor of one element is true or false; got shape ", self.sizes());
  return truth(self);
}

bool is_same_size(const Tensor& self, const Tensor& other) { return std::ranges::equal(self.sizes(), other.sizes()); }

int64_t sparse_dim(const Tensor&) { return 0; }
int64_t dense_dim(const Tensor& self) { return self.dim(); }

bool is_pinned(const Tensor&, std::optional<Device>) { return false; }

Tensor pin_memory(const Tensor& self, std::optional<Device> device) {
  TAEDA_CHECK(self.is_cpu(), "only a tensor on the CPU can be pinned; this one is on ", self.device());
  return ops::is_pinned(self, device) ? self : ops::_pin_memory(self, device);
}

Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p) {
  return ops::linalg_vector_norm(ops::sub(self, other), p);
}

Tensor prelu(const Tensor& self, const Tensor& weight) {
  TAEDA_CHECK(self.dtype() == weight.dtype(), "self has dtype ", self.dtype(), " and weight ", weight.dtype());
  TAEDA_CHECK(weight.dim() <= 1 || weight.numel() == 1, "weight must be a number or a vector; got shape ",
              weight.sizes());
  if (weight.numel() == 1) return ops::_prelu_kernel(self, ops::reshape(weight, IntList()));
  TAEDA_CHECK(self.dim() > 0, "a tensor without dimensions takes one weight; got ", weight.numel());
  int64_t channels = self.dim() > 1 ? self.sizes()[1] : 1;
  TAEDA_CHECK(weight.numel() == channels, "weight must have one element or one per channel (", channels, "); got ",
              weight.numel());
  std::vector<int64_t> shape(static_cast<size_t>(self.dim()), 1);
  shape[self.dim() > 1 ? 1 : 0] = channels;
  return ops::_prelu_kernel(self, ops::reshape(weight, shape));
}

Tensor glu(const Tensor& self, int64_t dim) {
  TAEDA_CHECK(self.dim() > 0, "a tensor without dimensions cannot be halved");
  dim = wrap_dim(dim, self.dim());
  int64_t size = self.sizes()[dim];
  TAEDA_CHECK(size % 2 == 0, "the size of dimension ", dim, " must be even to be halved; got ", size);
  Tensor value = ops::slice(self, dim, 0, size / 2), gate = ops::slice(self, dim, size / 2, size);
  return ops::mul(value, ops::sigmoid(gate));
}

}  // namespace taeda::composite
