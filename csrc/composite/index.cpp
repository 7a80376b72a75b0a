// Writing at positions into copies, and the gradients of reading and writing there.
#include "shape/ops/index.h"
#include "composite/fresh.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/index.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/scatter.h"
#include "taeda/ops/search.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

Tensor index_backward(const Tensor& grad, IntList sizes, TensorList indices) {
  return ops::index_put(ops::new_zeros(grad, sizes), indices, grad, true);
}

Tensor index_put_self_backward(const Tensor& grad, TensorList indices, bool accumulate) {
  if (accumulate) return grad;
  return ops::index_put(grad, indices, ops::new_zeros(grad, {}), false);
}

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

void _index_put_impl_(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate, bool) {
  ops::index_put_(self, indices, values, accumulate);
}

Tensor index_select_backward(const Tensor& grad, IntList self_sizes, int64_t dim, const Tensor& index) {
  if (self_sizes.empty()) return ops::reshape(grad, {});
  return ops::index_add(ops::new_zeros(grad, self_sizes), dim, index, grad);
}

Tensor index_source_backward(const Tensor& grad, int64_t dim, const Tensor& index, IntList sizes) {
  return ops::reshape(ops::index_select(grad, dim, index), sizes);
}

Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  Tensor result = copy_for(self, {&index, &source});
  ops::index_add_(result, dim, index, source, alpha);
  return unwritten(result);
}

Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  Tensor result = copy_for(self, {&index, &source});
  ops::index_copy_(result, dim, index, source);
  return unwritten(result);
}

Tensor index_fill_value_backward(const Tensor& grad, int64_t dim, const Tensor& index) {
  Tensor positions = ops::remainder(index, Scalar(grad.dim() ? grad.size(dim) : int64_t{1}));
  Tensor once = std::get<0>(ops::_unique(positions));
  return ops::sum(ops::index_select(grad, dim, once));
}

Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  Tensor result = copy_for(self, {&index}, MemoryFormat::Preserve);
  ops::index_fill_(result, dim, index, value);
  return unwritten(result);
}

Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  Tensor result = copy_for(self, {&index, &value}, MemoryFormat::Preserve);
  ops::index_fill_(result, dim, index, value);
  return unwritten(result);
}

Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce,
                    bool include_self) {
  Tensor result = copy_for(self, {&index, &source});
  ops::index_reduce_(result, dim, index, source, reduce, include_self);
  return result->needs_autograd() ? result : unwritten(result);
}

// The positions of all elements make it a scatter_reduce.
std::tuple<Tensor, Tensor, Tensor> index_reduce_backward(const Tensor& grad, const Tensor& self, int64_t dim,
                                                         const Tensor& index, const Tensor& source,
                                                         std::string_view reduce, bool include_self,
                                                         const Tensor& result) {
  if (self.dim() == 0) {
    Tensor one = ops::reshape(source, {});
    auto g = ops::scatter_reduce_backward(grad, self, 0, ops::reshape(index, {}), one, reduce, include_self, result);
    return {std::get<0>(g), ops::reshape(std::get<1>(g), source.sizes()), Tensor()};
  }
  std::vector<int64_t> sizes(static_cast<size_t>(self.dim()), 1);
  sizes[wrap_dim(dim, self.dim())] = index.numel();
  Tensor slices = ops::reshape(source, source.dim() ? source.sizes() : IntList(sizes));
  Tensor positions = ops::expand(ops::reshape(index, sizes), slices.sizes());
  auto g = ops::scatter_reduce_backward(grad, self, dim, positions, slices, reduce, include_self, result);
  return {std::get<0>(g), ops::reshape(std::get<1>(g), source.sizes()), Tensor()};
}

Tensor take_backward(const Tensor& grad, IntList sizes, const Tensor& index) {
  return ops::put(ops::new_zeros(grad, sizes), index, grad, true);
}

Tensor put_self_backward(const Tensor& grad, const Tensor& index, bool accumulate) {
  if (accumulate) return grad;
  return ops::put(grad, index, ops::new_zeros(grad, index.sizes()), false);
}

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  Tensor result = copy_for(self, {&index, &source}, MemoryFormat::Preserve);
  ops::put_(result, index, source, accumulate);
  return unwritten(result);
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  TAEDA_CHECK(indices.dtype() == DType::Int64, "indices must be int64; got ", indices.dtype());
  const int64_t flat[] = {-1};
  if (!dim) return ops::gather(ops::reshape(self, flat), 0, ops::reshape(indices, flat));
  TAEDA_CHECK(self.dim() == indices.dim(), "self and indices must have as many dimensions; got shapes ", self.sizes(),
              " and ", indices.sizes());
  int64_t d = wrap_dim(*dim, self.dim());
  auto sizes_but = [&](const Tensor& like) {
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < self.dim(); ++i) {
      int64_t a = self.sizes()[i], b = indices.sizes()[i];
      TAEDA_CHECK(i == d || a == b || a == 1 || b == 1, "self and indices must broadcast but along dimension ", d,
                  "; got shapes ", self.sizes(), " and ", indices.sizes());
      sizes.push_back(i == d ? like.sizes()[i] : a == 1 ? b : a);
    }
    return sizes;
  };
  // Positions beyond the ends wrap around here, unlike in gather.
  int64_t length = self.dim() ? self.sizes()[d] : 1;
  Tensor positions = length > 0 ? ops::remainder(indices, Scalar(length)) : indices;
  return ops::gather(ops::expand(self, sizes_but(self)), d, ops::expand(positions, sizes_but(indices)));
}

}  // namespace taeda::composite
