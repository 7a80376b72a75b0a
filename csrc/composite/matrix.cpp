// Chains and powers of matrices, traces and norms.
#include <algorithm>

#include "shape/linalg_rules.h"
#include "shape/ops/linalg.h"
#include "taeda/core/warn.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/decompositions.h"
#include "taeda/ops/linalg.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

// The dynamic program of Cormen et al., "Introduction to Algorithms", 15.2: where to split each chain i..j.
std::vector<std::vector<size_t>> best_splits(const std::vector<int64_t>& sizes) {
  size_t n = sizes.size() - 1;
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<size_t>> split(n, std::vector<size_t>(n, 0));
  for (size_t length = 1; length < n; ++length)
    for (size_t i = 0; i + length < n; ++i) {
      size_t j = i + length;
      cost[i][j] = INFINITY;
      for (size_t k = i; k < j; ++k) {
        double price =
            cost[i][k] + cost[k + 1][j] +
            static_cast<double>(sizes[i]) * static_cast<double>(sizes[k + 1]) * static_cast<double>(sizes[j + 1]);
        if (price < cost[i][j]) cost[i][j] = price, split[i][j] = k;
      }
    }
  return split;
}

Tensor multiply_chain(TensorList matrices, const std::vector<std::vector<size_t>>& split, size_t i, size_t j) {
  if (i == j) return matrices[i];
  size_t k = split[i][j];
  return ops::mm(multiply_chain(matrices, split, i, k), multiply_chain(matrices, split, k + 1, j));
}

Tensor multiply_chain(TensorList matrices) {
  std::vector<int64_t> sizes{matrices[0].sizes()[0]};
  for (size_t i = 0; i < matrices.size(); ++i) {
    const Tensor& m = matrices[i];
    TAEDA_CHECK(m.dim() == 2, "matrix ", i, " must have 2 dimensions; got shape ", m.sizes());
    TAEDA_CHECK(m.sizes()[0] == sizes.back(), "matrix ", i, " of shape ", m.sizes(), " must have ", sizes.back(),
                " rows");
    sizes.push_back(m.sizes()[1]);
  }
  return multiply_chain(matrices, best_splits(sizes), 0, matrices.size() - 1);
}

}  // namespace

Tensor linalg_multi_dot(TensorList tensors) {
  TAEDA_CHECK(tensors.size() >= 2, "needs two or more tensors; got ", tensors.size());
  std::vector<Tensor> matrices(tensors.begin(), tensors.end());
  bool row = matrices.front().dim() == 1, column = matrices.back().dim() == 1;
  if (row) matrices.front() = ops::unsqueeze(matrices.front(), 0);
  if (column) matrices.back() = ops::unsqueeze(matrices.back(), 1);
  Tensor product = multiply_chain(matrices);
  if (column) product = ops::squeeze(product, 1);
  return row ? ops::squeeze(product, 0) : product;
}

Tensor chain_matmul(TensorList matrices) {
  TAEDA_CHECK(!matrices.empty(), "needs one or more matrices; got none");
  warn("taeda.chain_matmul is deprecated; taeda.linalg.multi_dot takes the matrices as a list");
  return multiply_chain(matrices);
}

Tensor linalg_matrix_power(const Tensor& self, int64_t n) {
  shape::check_square(self);
  if (n == 0) {  // which records, so that it has a gradient: zeros
    Tensor result = ops::clone(self, MemoryFormat::Contiguous);
    ops::copy_(result, ops::eye(self.size(-1), self.dtype(), std::nullopt, self.device()));
    return result;
  }
  Tensor square = n < 0 ? ops::linalg_inv(self) : self, result;
  for (uint64_t rest = n < 0 ? -static_cast<uint64_t>(n) : static_cast<uint64_t>(n);;) {
    if (rest & 1) result = result.defined() ? ops::matmul(result, square) : square;
    rest >>= 1;
    if (rest == 0) return result.is(self) ? ops::clone(self, MemoryFormat::Contiguous) : result;
    square = ops::matmul(square, square);
  }
}

Tensor trace(const Tensor& self) {
  TAEDA_CHECK(self.dim() == 2, "needs a matrix; got shape ", self.sizes());
  return ops::sum(ops::diagonal(self));
}

Tensor linalg_diagonal(const Tensor& A, int64_t offset, int64_t dim1, int64_t dim2) {
  return ops::diagonal(A, offset, dim1, dim2);
}

// --- norms
namespace {

using OptDType = std::optional<DType>;

// The two dimensions moved to the end.
Tensor as_matrices(const Tensor& self, IntList dim) { return ops::movedim(self, dim, kValues<int64_t, -2, -1>); }

Tensor singular_values(const Tensor& self, IntList dim) { return ops::linalg_svdvals(as_matrices(self, dim)); }

// What was reduced to a value per matrix, with the two dimensions back as size 1 if they are kept.
Tensor kept(Tensor result, int64_t rank, IntList dim, bool keepdim) {
  if (!keepdim) return result;
  int64_t first = std::min(wrap_dim(dim[0], rank), wrap_dim(dim[1], rank)),
          second = std::max(wrap_dim(dim[0], rank), wrap_dim(dim[1], rank));
  return ops::unsqueeze(ops::unsqueeze(result, first), second);
}

Tensor converted(const Tensor& self, OptDType dtype) {
  return dtype && *dtype != self.dtype() ? ops::_to_copy(self, *dtype) : self;
}

void check_matrix_dims(const Tensor& self, IntList dim) {
  TAEDA_CHECK(self.dim() >= 2, "needs matrices; got shape ", self.sizes());
  TAEDA_CHECK(dim.size() == 2 && wrap_dim(dim[0], self.dim()) != wrap_dim(dim[1], self.dim()),
              "dim must name two dimensions; got ", dim);
  TAEDA_CHECK(is_differentiable(self.dtype()), "is for floating-point and complex tensors; got ", self.dtype());
}

// The largest or smallest along a dimension; the largest of nothing is 0, as sizes are.
Tensor extreme(const Tensor& sizes, int64_t dim, bool largest, bool keepdim) {
  if (largest && sizes.size(dim) == 0) return ops::sum(sizes, IntList({dim}), keepdim);
  return largest ? ops::amax(sizes, IntList({dim}), keepdim) : ops::amin(sizes, IntList({dim}), keepdim);
}

// The largest or smallest sum of sizes along the dimension `summed`.
Tensor extreme_sum(const Tensor& self, int64_t summed, int64_t other, bool largest, bool keepdim) {
  int64_t rank = self.dim();
  summed = wrap_dim(summed, rank), other = wrap_dim(other, rank);
  Tensor sums = ops::sum(ops::abs(self), IntList({summed}), keepdim);
  if (!keepdim && other > summed) --other;
  return extreme(sums, other, largest, keepdim);
}

}  // namespace

Tensor frobenius_norm(const Tensor& self, IntList dim, bool keepdim) {
  TAEDA_CHECK(dim.size() <= 2, "takes at most two dimensions; got ", dim);
  return ops::linalg_vector_norm(self, Scalar(2), dim.empty() ? std::nullopt : std::make_optional(dim), keepdim);
}

Tensor linalg_matrix_norm(const Tensor& given, const Scalar& ord, IntList dim, bool keepdim, OptDType dtype) {
  check_matrix_dims(given, dim);
  Tensor self = converted(given, dtype);
  double order = ord.as_double(), size = std::abs(order);
  TAEDA_CHECK(size == 1 || size == 2 || std::isinf(size), "ord must be 1, -1, 2, -2, inf or -inf for matrices; got ",
              ord);
  if (size == 1) return extreme_sum(self, dim[0], dim[1], order > 0, keepdim);
  if (std::isinf(size)) return extreme_sum(self, dim[1], dim[0], order > 0, keepdim);
  Tensor values = singular_values(self, dim);
  return kept(extreme(values, -1, order > 0, false), self.dim(), dim, keepdim);
}

Tensor linalg_matrix_norm(const Tensor& given, std::string_view ord, IntList dim, bool keepdim, OptDType dtype) {
  TAEDA_CHECK(ord == "fro" || ord == "nuc", "ord must be 'fro', 'nuc' or a number; got '", ord, "'");
  check_matrix_dims(given, dim);
  if (ord == "fro") return ops::linalg_vector_norm(given, Scalar(2), dim, keepdim, dtype);
  Tensor self = converted(given, dtype);
  return kept(ops::sum(singular_values(self, dim), kValues<int64_t, -1>), self.dim(), dim, keepdim);
}

Tensor linalg_norm(const Tensor& self, const std::optional<Scalar>& ord, std::optional<IntList> dim, bool keepdim,
                   OptDType dtype) {
  if (!ord) {
    Tensor result = ops::linalg_vector_norm(self, Scalar(2), dim, keepdim, dtype);
    return result;
  }
  TAEDA_CHECK(dim || self.dim() == 1 || self.dim() == 2, "without dim, self must have 1 or 2 dimensions; got shape ",
              self.sizes());
  int64_t count = dim ? static_cast<int64_t>(dim->size()) : self.dim();
  TAEDA_CHECK(count == 1 || count == 2, "dim must name one or two dimensions; got ", dim ? *dim : IntList());
  if (count == 1) return ops::linalg_vector_norm(self, *ord, dim, keepdim, dtype);
  return ops::linalg_matrix_norm(self, *ord, dim ? *dim : kValues<int64_t, 0, 1>, keepdim, dtype);
}

Tensor linalg_norm(const Tensor& self, std::string_view ord, std::optional<IntList> dim, bool keepdim, OptDType dtype) {
  TAEDA_CHECK(dim ? dim->size() == 2 : self.dim() == 2, "ord '", ord,
              "' is for matrices: self must have 2 dimensions or dim name two; got shape ", self.sizes());
  return ops::linalg_matrix_norm(self, ord, dim ? *dim : kValues<int64_t, 0, 1>, keepdim, dtype);
}

Tensor nuclear_norm(const Tensor& self, bool keepdim) {
  return ops::nuclear_norm(self, kValues<int64_t, -2, -1>, keepdim);
}

Tensor nuclear_norm(const Tensor& self, IntList dim, bool keepdim) {
  return ops::linalg_matrix_norm(self, std::string_view("nuc"), dim, keepdim);
}

}  // namespace taeda::composite
