// What the geometry of a tensor tells, and zeros with the geometry of another.
#include "composite/ops/probes.h"
#include "shape/spec.h"
#include "taeda/core/overlap.h"
#include "taeda/ops/create.h"

namespace taeda::composite {

int64_t _debug_has_internal_overlap(const Tensor& self) { return static_cast<int64_t>(internal_overlap(self)); }

Tensor _new_zeros_with_same_feature_meta(const Tensor& self, const Tensor& other, int64_t self_num_batch_dims) {
  TAEDA_CHECK(self_num_batch_dims >= 0 && self_num_batch_dims <= self.dim(), "self_num_batch_dims must be within the ",
              self.dim(), " dimensions of self; got ", self_num_batch_dims);
  TAEDA_CHECK(other->storage(), "other has no memory of its own whose size could be taken");
  int64_t elements = static_cast<int64_t>(other->storage()->nbytes()) / other.itemsize();
  shape::Dims sizes = self.sizes().first(static_cast<size_t>(self_num_batch_dims)), strides(sizes);
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = elements;
    TAEDA_CHECK(!__builtin_mul_overflow(elements, sizes[i], &elements), "no memory could hold zeros of these sizes");
  }
  for (int64_t i = 0; i < other.dim(); ++i) {
    sizes.push_back(other.sizes()[i]);
    strides.push_back(other.strides()[i]);
  }
  Tensor zeros = ops::zeros(shape::Dims{elements}, other.dtype(), std::nullopt, other.device());
  return new_alias(zeros, sizes, strides, other.storage_offset());
}

}  // namespace taeda::composite
