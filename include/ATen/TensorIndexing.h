// x.index({Slice(1, None), "...", 0, mask}) and index_put_, as Python's brackets.
#pragma once
#include <ATen/core/Tensor.h>

namespace at::indexing {

// The part of a tensor that an index shows; a view where none of the indices is a tensor.
TORCH_API Tensor get_item(const Tensor& self, ArrayRef<TensorIndex> indices, bool disable_slice_optimization = false);
TORCH_API void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& value,
                        bool disable_slice_optimization = false);
TORCH_API void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Scalar& value);
TORCH_API std::ostream& operator<<(std::ostream& out, const Slice& slice);
TORCH_API std::ostream& operator<<(std::ostream& out, const TensorIndex& index);
TORCH_API std::ostream& operator<<(std::ostream& out, const std::vector<TensorIndex>& indices);

}  // namespace at::indexing

namespace at {
inline Tensor Tensor::operator[](const Tensor& i) const {
  if (i.dim() == 0 && c10::isIntegralType(i.scalar_type(), false)) return select(0, i.item<int64_t>());
  return index({i});
}
inline Tensor Tensor::index(ArrayRef<indexing::TensorIndex> indices) const {
  return indexing::get_item(*this, indices);
}
inline Tensor Tensor::index(std::initializer_list<indexing::TensorIndex> indices) const {
  return indexing::get_item(*this, ArrayRef<indexing::TensorIndex>(indices));
}
inline Tensor& Tensor::index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& values) {
  return indexing::set_item(*this, indices, values), *this;
}
inline Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& values) {
  return index_put_(ArrayRef<indexing::TensorIndex>(indices), values);
}
inline Tensor& Tensor::index_put_(ArrayRef<indexing::TensorIndex> indices, const Scalar& value) {
  return indexing::set_item(*this, indices, value), *this;
}
inline Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar& value) {
  return index_put_(ArrayRef<indexing::TensorIndex>(indices), value);
}
}  // namespace at
