// Writing at positions into copies, and the gradients of reading and writing there.
#include "composite/ops/index.h"
#include "composite/fresh.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/index.h"
#include "taeda/ops/mask.h"

namespace taeda::composite {

namespace {
// Indices brought into range: what they point to is not used where that changes them.
std::vector<Tensor> within(const Tensor& self, TensorList indices) {
  std::vector<Tensor> result(indices.begin(), indices.end());
  for (size_t d = 0; d < result.size(); ++d) {
    if (!result[d].defined()) continue;
    int64_t size = self.size(static_cast<int64_t>(d));
    result[d] = ops::clamp(result[d], Scalar(-size), Scalar(size - 1));
  }
  return result;
}
}  // namespace

Tensor _unsafe_masked_index(const Tensor& self, const Tensor& mask, TensorList indices, const Scalar& fill) {
  return ops::masked_fill(ops::index(self, within(self, indices)), ops::logical_not(mask), fill);
}

Tensor _unsafe_masked_index_put_accumulate(const Tensor& self, const Tensor& mask, TensorList indices,
                                           const Tensor& values) {
  Tensor kept = ops::masked_fill(values, ops::logical_not(mask), Scalar(0));
  return ops::index_put(self, within(self, indices), kept, true);
}

Tensor index_put(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  auto answers = [](const Tensor& t) { return t.defined() && t.keys().has(Functionality::Python); };
  auto index = std::ranges::find_if(indices, answers);
  const Tensor& other = index == indices.end() ? values : *index;
  Tensor result = copy_for(self, {&values, &other}, MemoryFormat::Preserve);
  ops::index_put_(result, indices, values, accumulate);
  return unwritten(result);
}

}  // namespace taeda::composite
