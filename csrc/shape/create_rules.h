// Rules of ops that make tensors from numbers, and of those that zero a triangle.
#pragma once
#include <algorithm>

#include "shape/spec.h"

namespace taeda::shape {

Spec arange(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<DType> dtype,
            std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory);
Spec range(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<DType> dtype,
           std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory);
Spec linspace(const Scalar& start, const Scalar& end, int64_t steps, std::optional<DType> dtype,
              std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory);
Spec logspace(const Scalar& start, const Scalar& end, int64_t steps, double base, std::optional<DType> dtype,
              std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory);
Spec triangle(const Tensor& self, int64_t diagonal);
Spec tril_indices(int64_t row, int64_t col, int64_t offset, std::optional<DType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<bool> pin_memory);
Spec triu_indices(int64_t row, int64_t col, int64_t offset, std::optional<DType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<bool> pin_memory);
Spec complex_of(const Tensor& real, const Tensor& imag);

// How many of the first columns of row i lie on or below the diagonal `offset` of a matrix with `columns` columns.
inline int64_t below_diagonal(int64_t i, int64_t columns, int64_t offset) {
  int64_t last;
  if (__builtin_add_overflow(i, offset, &last)) return offset > 0 ? columns : 0;
  return std::clamp<int64_t>(last, -1, columns - 1) + 1;
}
// RuntimeError for any layout but the strided one.
void check_strided(std::optional<Layout> layout);

}  // namespace taeda::shape
