// Several matrix products in one call.
#include "composite/ops/grouped_mm.h"
#include "composite/number.h"
#include "shape/spec.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/join.h"
#include "taeda/ops/linalg.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

using shape::Dims;

namespace {

constexpr int64_t kAlignment = 16;  // bytes

void check_matrix(const Tensor& t, const char* name) {
  const DType dtype = t.dtype();
  TAEDA_CHECK(dtype == DType::Float32 || dtype == DType::BFloat16 || dtype == DType::Float16, name,
              " must be float32, bfloat16 or float16; got ", dtype);
  TAEDA_CHECK(t.dim() == 2 || t.dim() == 3, name, " must have 2 or 3 dimensions; got shape ", t.sizes());
  auto aligned = [&](int64_t d) { return t.stride(d) * static_cast<int64_t>(t.itemsize()) % kAlignment == 0; };
  TAEDA_CHECK((t.stride(-1) == 1 && t.stride(-2) >= std::max<int64_t>(1, t.size(-1)) && aligned(-2)) ||
                  (t.stride(-2) == 1 && t.stride(-1) >= std::max<int64_t>(1, t.size(-2)) && aligned(-1)),
              name, " must be of rows or of columns that begin at multiples of ", kAlignment, " bytes; got strides ",
              t.strides());
}

// Where each group begins, and the last one ends.
std::vector<int64_t> bounds(const Tensor& offs, int64_t size) {
  std::vector<int64_t> result{0};
  for (const Tensor& end : ops::unbind(offs)) {
    result.push_back(number_of(end).as_int());
    TAEDA_CHECK(result.back() >= result[result.size() - 2] && result.back() <= size, "offs must rise and not exceed ",
                size, "; got ", result.back());
  }
  return result;
}

}  // namespace

Tensor _grouped_mm(const Tensor& self, const Tensor& mat2, const Tensor& offs, const Tensor& bias,
                   std::optional<DType> out_dtype) {
  check_matrix(self, "self");
  check_matrix(mat2, "mat2");
  TAEDA_CHECK(self.dtype() == mat2.dtype(), "both matrices must have the same dtype; got ", self.dtype(), " and ",
              mat2.dtype());
  TAEDA_CHECK(!bias.defined(), "a bias is not supported");
  TAEDA_CHECK(out_dtype.value_or(self.dtype()) == self.dtype(), "out_dtype must be that of self, ", self.dtype(),
              "; got ", *out_dtype);
  const bool cut_self = self.dim() == 2, cut_mat2 = mat2.dim() == 2;
  TAEDA_CHECK(offs.defined() == (cut_self || cut_mat2), "offs go with a 2-d matrix, and only with one");
  TAEDA_CHECK(self.size(-1) == mat2.size(-2), "self's rows and mat2's columns must be of one length; got shapes ",
              self.sizes(), " and ", mat2.sizes());
  if (!offs.defined()) return ops::bmm(self, mat2);
  TAEDA_CHECK(offs.dim() == 1 && offs.dtype() == DType::Int32, "offs must be an int32 vector; got ", offs.dtype(),
              " of shape ", offs.sizes());
  const int64_t groups = offs.numel();
  for (const Tensor& t : {self, mat2})
    TAEDA_CHECK(t.dim() == 2 || t.size(0) == groups, "a matrix for each of the ", groups, " offs is wanted; got shape ",
                t.sizes());
  const int64_t cut = cut_self && cut_mat2 ? self.size(1) : cut_self ? self.size(0) : mat2.size(1);
  const Dims sizes =
      cut_self && cut_mat2 ? Dims{groups, self.size(0), mat2.size(1)} : Dims{self.size(-2), mat2.size(-1)};
  if (self.device().type == DeviceType::Meta) return ops::empty(sizes, self.dtype(), {}, self.device());
  const std::vector<int64_t> from = bounds(offs, cut);
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < groups; ++i) {
    auto piece = [&](const Tensor& t, int64_t dim) { return ops::narrow(t, dim, from[i], from[i + 1] - from[i]); };
    Tensor left = cut_self ? piece(self, cut_mat2 ? 1 : 0) : ops::select(self, 0, i),
           right = cut_mat2 ? piece(mat2, cut_self ? 0 : 1) : ops::select(mat2, 0, i);
    parts.push_back(ops::mm(left, right));
  }
  if (cut_self && cut_mat2) return ops::stack(parts);
  const int64_t dim = cut_self ? 0 : 1, rest = cut - from.back();
  if (rest > 0) {  // what belongs to no group
    Dims sizes = cut_self ? Dims{rest, mat2.size(-1)} : Dims{self.size(-2), rest};
    parts.push_back(ops::zeros(sizes, self.dtype(), {}, self.device()));
  }
  return ops::cat(parts, dim);
}

Tensor _scaled_mm(const Tensor& self, const Tensor& mat2, const Tensor& scale_a, const Tensor& scale_b,
                  const Tensor& bias, const Tensor& scale_result, std::optional<DType> out_dtype, bool) {
  for (const Tensor& t : {self, mat2})
    TAEDA_CHECK_VALUE(category(t.dtype()) == Category::Floating && t.itemsize() == 1,
                      "the matrices must be of 8-bit floats; got ", t.dtype());
  TAEDA_CHECK(self.dim() == 2 && mat2.dim() == 2 && self.size(1) == mat2.size(0),
              "self's rows and mat2's columns must be of one length; got shapes ", self.sizes(), " and ", mat2.sizes());
  for (const Tensor& t : {scale_a, scale_b})
    TAEDA_CHECK_VALUE(t.dtype() == DType::Float32, "the scales must be float32; got ", t.dtype());
  const int64_t rows = self.size(0), columns = mat2.size(1);
  auto is_shaped = [](const Tensor& t, int64_t m, int64_t n) {
    return t.dim() == 2 && t.size(0) == m && t.size(1) == n && t.is_contiguous();
  };
  const bool is_single = scale_a.numel() == 1 && scale_b.numel() == 1;
  TAEDA_CHECK_VALUE(is_single || (is_shaped(scale_a, rows, 1) && is_shaped(scale_b, 1, columns)),
                    "the scales must be one number each, or contiguous of shapes (", rows, ", 1) and (1, ", columns,
                    "); got ", scale_a.sizes(), " and ", scale_b.sizes());
  TAEDA_CHECK(!bias.defined() || bias.numel() == columns, "bias must have a number per column, ", columns, "; got ",
              bias.sizes());
  Tensor result = ops::mm(ops::to(self, DType::Float32), ops::to(mat2, DType::Float32));
  for (const Tensor& scale : {scale_a, scale_b})
    result = ops::mul(result, is_single ? ops::reshape(scale, IntList()) : scale);
  if (bias.defined()) result = ops::add(result, ops::to(bias, DType::Float32));
  const DType dtype = out_dtype.value_or(self.dtype());
  if (scale_result.defined() && category(dtype) == Category::Floating && itemsize(dtype) == 1)
    result = ops::div(result, scale_result);
  return ops::to(result, dtype);
}

}  // namespace taeda::composite
