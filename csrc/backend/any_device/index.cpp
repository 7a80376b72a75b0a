// x[...] with tensors: masks become positions, which a kernel of the device reads at.
#include <algorithm>

#include "backend/any_device/ops/index.h"
#include "shape/index_rules.h"
#include "taeda/ops/index.h"
#include "taeda/ops/mask.h"

namespace taeda::any_device {

Tensor index(const Tensor& self, TensorList indices) {
  if (indices.size() == 1 && indices[0].defined() && indices[0].dtype() == DType::Bool &&
      indices[0].device() == self.device() && std::ranges::equal(indices[0].sizes(), self.sizes()))
    return ops::masked_select(self, indices[0]);
  return ops::_index_at(self, shape::positions_of(self, indices));
}

}  // namespace taeda::any_device
