#include "distributed/staging.h"

#include <cstring>

namespace taeda::distributed {

namespace {

// Copies between a tensor's memory and elements in a row.
void copy_elements(const Tensor& tensor, char* row, bool to_row) {
  const int64_t size = tensor.itemsize(), dims = tensor.dim();
  if (tensor.numel() == 0) return;
  std::vector<int64_t> index(static_cast<size_t>(dims), 0);
  const int64_t inner = dims ? tensor.sizes()[static_cast<size_t>(dims - 1)] : 1;
  const int64_t step = dims ? tensor.strides()[static_cast<size_t>(dims - 1)] * size : size;
  char* at = tensor.data<char>();
  for (int64_t done = 0; done < tensor.numel(); done += inner) {
    for (int64_t i = 0; i < inner; ++i, row += size)
      to_row ? std::memcpy(row, at + i * step, static_cast<size_t>(size))
             : std::memcpy(at + i * step, row, static_cast<size_t>(size));
    for (int64_t d = dims - 2; d >= 0; --d) {
      const size_t k = static_cast<size_t>(d);
      at += tensor.strides()[k] * size;
      if (++index[k] < tensor.sizes()[k]) break;
      at -= index[k] * tensor.strides()[k] * size;
      index[k] = 0;
    }
  }
}

bool elements_share_memory(const Tensor& tensor) {
  for (size_t d = 0; d < tensor.sizes().size(); ++d)
    if (tensor.sizes()[d] > 1 && tensor.strides()[d] == 0) return true;
  return false;
}

}  // namespace

Staged::Staged(const Tensor& tensor, bool written) : tensor_(tensor), memory_(tensor) {
  TAEDA_CHECK_VALUE(tensor.impl()->layout() == Layout::Strided, "tensors are wanted dense; to_dense() makes them so");
  TAEDA_CHECK_VALUE(tensor.is_cpu(), "a tensor is on ", tensor.device(), "; this group serves CPU tensors");
  TAEDA_CHECK_VALUE(!tensor.impl()->is_lazy(),
                    "a conjugated or negated view is wanted as a tensor of its own; resolve_conj() or "
                    "resolve_neg() gives one");
  TAEDA_CHECK_VALUE(!written || !elements_share_memory(tensor),
                    "a result is wanted whose elements have memory each; got "
                    "an expanded tensor of sizes ",
                    tensor.sizes(), "; clone() gives one");
  if (written) prepare_write(tensor);
  if (!tensor.is_contiguous()) memory_ = new_tensor(tensor.sizes(), tensor.dtype());
}

void Staged::load() const {
  if (!memory_.is(tensor_)) copy_elements(tensor_, memory_.data<char>(), true);
}

void Staged::store() const {
  if (!memory_.is(tensor_)) copy_elements(tensor_, memory_.data<char>(), false);
}

}  // namespace taeda::distributed
