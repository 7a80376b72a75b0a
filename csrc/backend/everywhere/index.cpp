// x[...] with tensors: masks become positions, which a kernel of the device reads at.
#include "api/ops.h"
#include "shape/index_rules.h"
#include "shape/ops/index.h"

namespace taeda::everywhere {

Tensor index(const Tensor& self, TensorList indices) {
  return ops::_index_at(self, shape::positions_of(self, indices));
}

}  // namespace taeda::everywhere
