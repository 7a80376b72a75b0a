// Tensors as one flat tensor, and back: for programs that send many small tensors at once.
#pragma once
#include <vector>

#include <ATen/ATen.h>

namespace torch::utils {

inline at::Tensor flatten_dense_tensors(at::TensorList tensors) {
  std::vector<at::Tensor> flat;
  for (const at::Tensor& tensor : tensors) flat.push_back(tensor.reshape({-1}));
  return at::cat(flat);
}

// Views of `flat`, of the sizes of `tensors`; what is empty shares no memory with it.
inline std::vector<at::Tensor> unflatten_dense_tensors(const at::Tensor& flat, at::TensorList tensors) {
  std::vector<at::Tensor> parts;
  int64_t begin = 0;
  for (const at::Tensor& tensor : tensors) {
    const int64_t count = tensor.numel();
    parts.push_back(count == 0 ? at::empty(tensor.sizes(), flat.options())
                               : flat.narrow(0, begin, count).view(tensor.sizes()));
    begin += count;
  }
  return parts;
}

}  // namespace torch::utils
