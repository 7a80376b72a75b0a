// The sizes that several tensors have once they are broadcast.
#pragma once
#include <ATen/Functions.h>

namespace at {

// RuntimeError if they do not go together.
TORCH_API std::vector<int64_t> infer_size(IntArrayRef a, IntArrayRef b);
inline std::vector<int64_t> infer_size_dimvector(IntArrayRef a, IntArrayRef b) { return infer_size(a, b); }
inline bool are_expandable(IntArrayRef a, IntArrayRef b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    int64_t x = a[a.size() - 1 - i], y = b[b.size() - 1 - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}
inline bool is_expandable_to(IntArrayRef from, IntArrayRef to) {
  if (from.size() > to.size()) return false;
  for (size_t i = 0; i < from.size(); ++i) {
    int64_t x = from[from.size() - 1 - i];
    if (x != to[to.size() - 1 - i] && x != 1) return false;
  }
  return true;
}
// Sums what was broadcast, so that a gradient has its input's sizes again.
inline Tensor sum_to(const Tensor& tensor, IntArrayRef sizes) { return tensor.sum_to_size(sizes); }
inline std::vector<Tensor> expand_outplace(TensorList tensors) { return at::broadcast_tensors(tensors); }

}  // namespace at
