// Reshaping, and the gradients of views.
#include "api/ops.h"
#include "shape/ops/view.h"
#include "shape/view_rules.h"

namespace taeda::composite {

Tensor reshape(const Tensor& self, IntList shape) {
  shape::Dims sizes = shape::infer_size(shape, self.numel());
  if (shape::view_strides(self.sizes(), self.strides(), sizes)) return ops::view(self, sizes);
  return ops::view(ops::clone(self, MemoryFormat::Contiguous), sizes);
}

Tensor sum_to_size(const Tensor& self, IntList size) {
  int64_t extra = self.dim() - static_cast<int64_t>(size.size());
  TAEDA_CHECK(extra >= 0, "size ", size, " has more dimensions than the tensor of shape ", self.sizes());
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < self.dim(); ++i) {
    int64_t target = i < extra ? 1 : size[i - extra];
    TAEDA_CHECK(i < extra || target == 1 || target == self.sizes()[i], "size ", size, " does not broadcast to ", self.sizes());
    if (i < extra || (target == 1 && self.sizes()[i] != 1)) dims.push_back(i);
  }
  if (dims.empty()) return self;
  return ops::view(ops::sum(self, dims, true), size);
}

Tensor permute_backward(const Tensor& grad, IntList dims) {
  std::vector<int64_t> inverse(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) inverse[wrap_dim(dims[i], static_cast<int64_t>(dims.size()))] = static_cast<int64_t>(i);
  return ops::permute(grad, inverse);
}

namespace {
Tensor zeros_for(const Tensor& grad, IntList sizes) {
  return ops::zeros(sizes, grad.dtype(), std::nullopt, grad.device());
}
}  // namespace

Tensor select_backward(const Tensor& grad, IntList input_sizes, int64_t dim, int64_t index) {
  Tensor result = zeros_for(grad, input_sizes);
  ops::copy_(ops::select(result, dim, index), grad);
  return result;
}

Tensor slice_backward(const Tensor& grad, IntList input_sizes, int64_t dim, std::optional<int64_t> start,
                      std::optional<int64_t> end, int64_t step) {
  Tensor result = zeros_for(grad, input_sizes);
  ops::copy_(ops::slice(result, dim, start, end, step), grad);
  return result;
}

// Gradients of both geometries live in one buffer over the storage's elements: the view's are added where it showed
// them, and read back by the input's geometry. An input that overlaps itself shares the sum out evenly.
Tensor as_strided_backward(const Tensor& grad, IntList input_size, IntList input_stride, int64_t input_offset, IntList size,
                           IntList stride, std::optional<int64_t> storage_offset) {
  int64_t offset = storage_offset.value_or(input_offset);
  int64_t base = std::min(offset, input_offset);
  int64_t length = std::max(extent(input_size, input_stride, input_offset), extent(size, stride, offset)) - base;
  Tensor buffer = zeros_for(grad, IntList({std::max<int64_t>(length, 0)}));
  Tensor positions = ops::arange(Scalar(buffer.numel()), DType::Int64, std::nullopt, grad.device());
  Tensor shown = ops::as_strided(positions, size, stride, offset - base);
  buffer = ops::index_add(buffer, 0, ops::reshape(shown, kValues<int64_t, -1>), ops::reshape(grad, kValues<int64_t, -1>));
  Tensor source = ops::as_strided(positions, input_size, input_stride, input_offset - base);
  Tensor flat = ops::reshape(source, kValues<int64_t, -1>);
  Tensor count = ops::index_add(ops::zeros_like(buffer), 0, flat, ops::ones(flat.sizes(), grad.dtype(), std::nullopt, grad.device()));
  buffer = ops::div(buffer, ops::clamp_min(count, Scalar(1)));
  return ops::as_strided(buffer, input_size, input_stride, input_offset - base);
}

}  // namespace taeda::composite
