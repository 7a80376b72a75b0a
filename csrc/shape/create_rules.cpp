#include "shape/create_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "shape/complex_half.h"
#include "shape/elementwise.h"

namespace taeda::shape {

void check_strided(std::optional<Layout> layout) {
  TAEDA_CHECK(layout.value_or(Layout::Strided) == Layout::Strided, "only the strided layout can be made here");
}

namespace {

bool is_real_number(const Scalar& x) { return x.category() == Category::Floating; }

void check_bounds(const Scalar& start, const Scalar& end, const Scalar& step) {
  for (const Scalar* x : {&start, &end, &step})
    TAEDA_CHECK(x->category() != Category::Complex, "takes real numbers; got ", *x);
  double from = start.as_double(), to = end.as_double(), by = step.as_double();
  TAEDA_CHECK(by != 0, "step must not be zero");
  TAEDA_CHECK(std::isfinite(from) && std::isfinite(to), "start and end must be finite; got ", from, " and ", to);
  TAEDA_CHECK(by > 0 ? to >= from : to <= from, "a step of ", by, " leads away from end: start is ", from, ", end is ",
              to);
}

Spec sequence(double count, DType dtype) {
  TAEDA_CHECK(count >= 0 && count < 9223372036854775807.0, "the result would have ", count, " elements");
  return {{static_cast<int64_t>(count)}, dtype, {}, true};
}

// The dtype of evenly spaced numbers: never an integer one by itself, complex if an end is.
DType spaced_dtype(const Scalar& start, const Scalar& end, std::optional<DType> dtype) {
  bool wants_complex = start.category() == Category::Complex || end.category() == Category::Complex;
  TAEDA_CHECK(!wants_complex || !dtype || is_complex(*dtype), "complex bounds do not fit dtype ", *dtype);
  return dtype.value_or(wants_complex ? to_complex(default_dtype()) : default_dtype());
}

Spec spaced(const Scalar& start, const Scalar& end, int64_t steps, std::optional<DType> dtype,
            std::optional<Layout> layout) {
  check_strided(layout);
  TAEDA_CHECK(steps >= 0, "steps must not be negative; got ", steps);
  DType type = spaced_dtype(start, end, dtype);
  TAEDA_CHECK_KIND(NotImplemented, type != DType::Bool, "there are no evenly spaced truth values");
  return {{steps}, type, {}, true};
}

void check_number_dtype(DType dtype) {
  TAEDA_CHECK_KIND(NotImplemented, is_floating(dtype) || is_integral(dtype), "makes real numbers; got dtype ", dtype);
}

}  // namespace

Spec arange(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<DType> dtype,
            std::optional<Layout> layout, std::optional<Device>, std::optional<bool>) {
  check_strided(layout);
  bool real = is_real_number(start) || is_real_number(end) || is_real_number(step);
  DType type = dtype.value_or(real ? default_dtype() : DType::Int64);
  check_number_dtype(type);
  check_bounds(start, end, step);
  if (type != DType::Int64) return sequence(std::ceil((end.as_double() - start.as_double()) / step.as_double()), type);
  // In integers, as a double cannot count that far; the distance may need 64 unsigned bits.
  int64_t from = start.as_int(), to = end.as_int(), by = step.as_int();
  TAEDA_CHECK_VALUE(by != 0, "step must not be zero as an int64; got ", step);
  uint64_t distance = by > 0 ? static_cast<uint64_t>(to) - static_cast<uint64_t>(from)
                             : static_cast<uint64_t>(from) - static_cast<uint64_t>(to);
  uint64_t stride = by > 0 ? static_cast<uint64_t>(by) : -static_cast<uint64_t>(by);
  uint64_t count = distance / stride + (distance % stride != 0);
  TAEDA_CHECK(count <= INT64_MAX, "the result would have ", count, " elements");
  return {{static_cast<int64_t>(count)}, type, {}, true};
}

Spec range(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<DType> dtype,
           std::optional<Layout> layout, std::optional<Device>, std::optional<bool>) {
  check_strided(layout);
  DType type = dtype.value_or(default_dtype());
  check_number_dtype(type);
  check_bounds(start, end, step);
  return sequence(std::floor((end.as_double() - start.as_double()) / step.as_double()) + 1, type);
}

Spec linspace(const Scalar& start, const Scalar& end, int64_t steps, std::optional<DType> dtype,
              std::optional<Layout> layout, std::optional<Device>, std::optional<bool>) {
  return spaced(start, end, steps, dtype, layout);
}

Spec logspace(const Scalar& start, const Scalar& end, int64_t steps, double, std::optional<DType> dtype,
              std::optional<Layout> layout, std::optional<Device>, std::optional<bool>) {
  return spaced(start, end, steps, dtype, layout);
}

Spec triangle(const Tensor& self, int64_t) {
  TAEDA_CHECK(self.dim() >= 2, "takes a matrix or a stack of matrices; got shape ", self.sizes());
  return {self.sizes(), self.dtype()};
}

namespace {
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// How many places of a matrix lie on or below a diagonal: rows are empty up to `start`, then grow by one, and are full
// from `full` on.
int64_t count_below(int64_t rows, int64_t columns, int64_t offset) {
  if (columns == 0) return 0;
  offset = std::clamp(offset, -rows, columns);
  int64_t start = std::max<int64_t>(-offset, 0), full, ends, grown, square, count;
  full = __builtin_sub_overflow(columns - 1, offset, &full) ? rows : std::clamp(full, start, rows);
  bool overflow = __builtin_add_overflow(start + offset + 1, full + offset, &ends);
  overflow |= __builtin_mul_overflow(full - start, ends, &grown);
  overflow |= __builtin_mul_overflow(rows - full, columns, &square);
  overflow |= __builtin_add_overflow(grown / 2, square, &count);
  TAEDA_CHECK(!overflow, "a triangle of ", rows, " by ", columns, " has too many places");
  return count;
}

Spec indices(int64_t row, int64_t col, int64_t offset, bool upper, std::optional<DType> dtype,
             std::optional<Layout> layout) {
  check_strided(layout);
  DType type = dtype.value_or(DType::Int64);
  TAEDA_CHECK_KIND(NotImplemented, type == DType::Int64 || type == DType::Int32,
                   "indices are int64 or int32; got dtype ", type);
  TAEDA_CHECK(row >= 0 && col >= 0, "row and col must not be negative; got ", row, " and ", col);
  // Above the diagonal lies what lies below it in the transposed matrix.
  return {{2, upper ? count_below(col, row, -std::max(offset, -kMost)) : count_below(row, col, offset)}, type};
}
}  // namespace

Spec tril_indices(int64_t row, int64_t col, int64_t offset, std::optional<DType> dtype, std::optional<Layout> layout,
                  std::optional<Device>, std::optional<bool>) {
  return indices(row, col, offset, false, dtype, layout);
}

Spec triu_indices(int64_t row, int64_t col, int64_t offset, std::optional<DType> dtype, std::optional<Layout> layout,
                  std::optional<Device>, std::optional<bool>) {
  return indices(row, col, offset, true, dtype, layout);
}

Spec complex_of(const Tensor& real, const Tensor& imag) {
  DType part = real.dtype();
  TAEDA_CHECK(part == DType::Float16 || part == DType::Float32 || part == DType::Float64,
              "takes float16, float32 or float64 parts; got ", part);
  TAEDA_CHECK(real.dtype() == imag.dtype(), "both parts must have the same dtype; got ", real.dtype(), " and ",
              imag.dtype());
  const Operand parts[] = {real, imag};
  Dims sizes = broadcast_sizes(parts);
  return {sizes, with_imaginary(part), result_strides(parts, sizes)};
}

}  // namespace taeda::shape
