#include "shape/segment_rules.h"

#include <algorithm>

namespace taeda::shape {

SegmentReduction segment_reduction(std::string_view name) {
  if (name == "sum") return SegmentReduction::Sum;
  if (name == "mean") return SegmentReduction::Mean;
  if (name == "max" || name == "amax") return SegmentReduction::Max;
  if (name == "min" || name == "amin") return SegmentReduction::Min;
  TAEDA_CHECK(name == "prod", "reduce must be 'sum', 'mean', 'max', 'min' or 'prod'; got '", name, "'");
  return SegmentReduction::Prod;
}

namespace {

Spec reduced(const Tensor& data, const Tensor& lengths, const Tensor& offsets, int64_t axis) {
  if (!is_floating(data.dtype())) TAEDA_FAIL(NotImplemented, "is for floating-point numbers; got ", data.dtype());
  TAEDA_CHECK(lengths.defined() || offsets.defined(), "lengths or offsets must be given");
  const Tensor& bounds = offsets.defined() ? offsets : lengths;
  const std::string_view what = offsets.defined() ? "offsets" : "lengths";
  if (bounds.dtype() != DType::Int64 && bounds.dtype() != DType::Int32)
    TAEDA_FAIL(NotImplemented, what, " must be int32 or int64; got ", bounds.dtype());
  const int64_t at = wrap_dim(axis, data.dim());
  TAEDA_CHECK(at < data.dim() && bounds.dim() == at + 1, "axis must be the last dimension of ", what, "; got axis ", at,
              " and ", what, " of shape ", bounds.sizes());
  TAEDA_CHECK(
      std::ranges::equal(bounds.sizes().first(static_cast<size_t>(at)), data.sizes().first(static_cast<size_t>(at))),
      what, " must have data's sizes before axis; got shapes ", bounds.sizes(), " and ", data.sizes());
  TAEDA_CHECK(!offsets.defined() || offsets.sizes().back() > 0, "offsets must hold a number at least");
  Dims sizes(data.sizes());
  sizes[static_cast<size_t>(at)] = bounds.sizes().back() - (offsets.defined() ? 1 : 0);
  return {sizes, data.dtype()};
}

void check_like(const Tensor& t, std::string_view what, IntList sizes, DType dtype) {
  TAEDA_CHECK(std::ranges::equal(t.sizes(), sizes) && t.dtype() == dtype, what, " must be ", dtype, " of shape ", sizes,
              "; got ", t.dtype(), " of shape ", t.sizes());
}

}  // namespace

Spec segment_reduce(const Tensor& data, std::string_view reduce, const Tensor& lengths, const Tensor& indices,
                    const Tensor& offsets, int64_t axis, bool, const std::optional<Scalar>&) {
  segment_reduction(reduce);
  TAEDA_CHECK(!indices.defined(), "indices are not supported; give lengths or offsets");
  return reduced(data, lengths, offsets, axis);
}

Spec segment_reduce_backward(const Tensor& upper, const Tensor& output, const Tensor& data, std::string_view reduce,
                             const Tensor& lengths, const Tensor& offsets, int64_t axis, const std::optional<Scalar>&) {
  segment_reduction(reduce);
  const Spec result = reduced(data, lengths, offsets, axis);
  check_like(upper, "the gradient", result.sizes, data.dtype());
  check_like(output, "the output", result.sizes, data.dtype());
  return {data.sizes(), data.dtype()};
}

Spec segment_slopes_backward(const Tensor& grad, const Tensor& upper, const Tensor& data, std::string_view reduce,
                             const Tensor& lengths, const Tensor& offsets, int64_t axis, const std::optional<Scalar>&) {
  segment_reduction(reduce);
  check_like(upper, "the first gradient", reduced(data, lengths, offsets, axis).sizes, data.dtype());
  check_like(grad, "the second gradient", data.sizes(), data.dtype());
  return {data.sizes(), data.dtype()};
}

}  // namespace taeda::shape
