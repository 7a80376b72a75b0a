// Contiguous copies.
#include "shape/ops/view_copy.h"
#include "api/copy.h"

namespace taeda::composite {

Tensor contiguous_copy(const Tensor& self) { return ops::clone(self, MemoryFormat::Contiguous); }

std::vector<Tensor> contiguous_copies(TensorList tensors) {
  std::vector<Tensor> copies;
  for (const Tensor& t : tensors) copies.push_back(ops::clone(t, MemoryFormat::Contiguous));
  return copies;
}

}  // namespace taeda::composite
