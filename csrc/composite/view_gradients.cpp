// The gradients of views.
#include "shape/ops/view_gradients.h"
#include "shape/view_rules.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/index.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

Tensor sum_to_size(const Tensor& self, IntList size) {
  int64_t extra = self.dim() - static_cast<int64_t>(size.size());
  TAEDA_CHECK(extra >= 0, "size ", size, " has more dimensions than the tensor of shape ", self.sizes());
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < self.dim(); ++i) {
    int64_t target = i < extra ? 1 : size[i - extra];
    TAEDA_CHECK(i < extra || target == 1 || target == self.sizes()[i], "size ", size, " does not broadcast to ",
                self.sizes());
    if (i < extra || (target == 1 && self.sizes()[i] != 1)) dims.push_back(i);
  }
  if (size.empty()) return ops::sum(self);
  return dims.empty() ? self : ops::reshape(ops::sum(self, dims, true), size);
}

Tensor permute_backward(const Tensor& grad_output, IntList dims) {
  int64_t rank = static_cast<int64_t>(dims.size());
  std::vector<int64_t> inverse(dims.size());
  for (int64_t i = 0; i < rank; ++i) inverse[wrap_dim(dims[i], rank)] = i;
  return ops::permute(grad_output, inverse);
}

Tensor select_backward(const Tensor& grad_output, IntList input_sizes, int64_t dim, int64_t index) {
  Tensor result = ops::new_zeros(grad_output, input_sizes);
  ops::copy_(ops::select(result, dim, index), grad_output);
  return result;
}

Tensor slice_backward(const Tensor& grad_output, IntList input_sizes, int64_t dim, std::optional<int64_t> start,
                      std::optional<int64_t> end, int64_t step) {
  Tensor result = ops::new_zeros(grad_output, input_sizes);
  ops::copy_(ops::slice(result, dim, start, end, step), grad_output);
  return result;
}

Tensor diagonal_backward(const Tensor& grad_output, IntList input_sizes, int64_t offset, int64_t dim1, int64_t dim2) {
  Tensor result = ops::new_zeros(grad_output, input_sizes);
  ops::copy_(ops::diagonal(result, offset, dim1, dim2), grad_output);
  return result;
}

// Windows that overlap are added in as few calls as there are elements in a window, or windows.
Tensor unfold_backward(const Tensor& grad_output, IntList input_sizes, int64_t dim, int64_t size, int64_t step) {
  Tensor result = ops::new_zeros(grad_output, input_sizes);
  if (input_sizes.empty()) return ops::add(result, ops::reshape(grad_output, {}));
  dim = wrap_dim(dim, static_cast<int64_t>(input_sizes.size()));
  int64_t windows = grad_output.sizes()[dim];
  if (step >= size) {
    ops::copy_(ops::unfold(result, dim, size, step), grad_output);
  } else if (size <= windows) {
    for (int64_t i = 0; i < size; ++i)
      ops::add_(ops::slice(result, dim, i, i + (windows - 1) * step + 1, step), ops::select(grad_output, -1, i));
  } else {
    for (int64_t w = 0; w < windows; ++w)
      ops::add_(ops::slice(result, dim, w * step, w * step + size),
                ops::movedim(ops::select(grad_output, dim, w), -1, dim));
  }
  return result;
}

// Gradients of both geometries live in one buffer over the storage's elements: the view's are added where it showed
// them, and read back by the input's geometry. An input that overlaps itself shares the sum out evenly.
Tensor as_strided_backward(const Tensor& grad_output, IntList input_size, IntList input_stride, int64_t input_offset,
                           IntList size, IntList stride, std::optional<int64_t> storage_offset) {
  int64_t offset = storage_offset.value_or(input_offset);
  int64_t base = std::min(offset, input_offset);
  int64_t input_end = extent(input_size, input_stride, input_offset);
  int64_t length = std::max<int64_t>(std::max(input_end, extent(size, stride, offset)) - base, 0);
  std::vector<int64_t> flat{-1};
  Tensor buffer = ops::new_zeros(grad_output, std::vector<int64_t>{length});
  Tensor positions = ops::arange(Scalar(length), DType::Int64, std::nullopt, grad_output.device());
  Tensor shown = ops::reshape(ops::as_strided(positions, size, stride, offset - base), flat);
  buffer = ops::index_add(buffer, 0, shown, ops::reshape(grad_output, flat));
  if (!shape::may_overlap(input_size, input_stride))
    return ops::as_strided(buffer, input_size, input_stride, input_offset - base);
  Tensor source = ops::reshape(ops::as_strided(positions, input_size, input_stride, input_offset - base), flat);
  Tensor ones = ops::ones(source.sizes(), grad_output.dtype(), std::nullopt, grad_output.device());
  Tensor count = ops::index_add(ops::zeros_like(buffer), 0, source, ones);
  buffer = ops::div(buffer, ops::clamp_min(count, Scalar(1)));
  return ops::as_strided(buffer, input_size, input_stride, input_offset - base);
}

}  // namespace taeda::composite
