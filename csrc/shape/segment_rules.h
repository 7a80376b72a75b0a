// Rules of reductions of stretches.
#pragma once
#include "shape/spec.h"

namespace taeda::shape {

enum class SegmentReduction : uint8_t { Sum, Mean, Max, Min, Prod };
SegmentReduction segment_reduction(std::string_view name);

Spec segment_reduce(const Tensor& data, std::string_view reduce, const Tensor& lengths, const Tensor& indices,
                    const Tensor& offsets, int64_t axis, bool unsafe, const std::optional<Scalar>& initial);
Spec segment_reduce_backward(const Tensor& upper, const Tensor& output, const Tensor& data, std::string_view reduce,
                             const Tensor& lengths, const Tensor& offsets, int64_t axis,
                             const std::optional<Scalar>& initial);
Spec segment_slopes_backward(const Tensor& grad, const Tensor& upper, const Tensor& data, std::string_view reduce,
                             const Tensor& lengths, const Tensor& offsets, int64_t axis,
                             const std::optional<Scalar>& initial);

}  // namespace taeda::shape
