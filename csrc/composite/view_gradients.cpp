// The gradients of views.
#include "composite/ops/view_gradients.h"
#include "shape/view_rules.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/create.h"
#include "taeda/ops/index.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

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
