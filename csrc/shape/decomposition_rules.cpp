#include <algorithm>

#include "shape/elementwise.h"
#include "shape/linalg_rules.h"

namespace taeda::shape {

namespace {

void check_field(const Tensor& t) {
  TAEDA_CHECK(is_differentiable(t.dtype()) && compute_type(t.dtype()) == t.dtype(),
              "is for float32, float64, complex64 and complex128 matrices; got ", t.dtype());
}

void check_matrices(const Tensor& t) {
  TAEDA_CHECK(t.dim() >= 2, "needs matrices in the last two dimensions; got shape ", t.sizes());
  check_field(t);
}

void check_square_field(const Tensor& t) {
  check_field(t);
  check_square(t);
}

IntList batch_of(const Tensor& t) { return t.sizes().first(t.dim() - 2); }

Spec by_columns(Dims batch, int64_t rows, int64_t cols, DType dtype) {
  batch.push_back(cols);
  batch.push_back(rows);
  Dims strides(contiguous_strides(batch));
  size_t d = batch.size();
  std::swap(batch[d - 1], batch[d - 2]);
  std::swap(strides[d - 1], strides[d - 2]);
  return {batch, dtype, strides};
}

Spec by_rows(Dims batch, int64_t rows, int64_t cols, DType dtype) {
  batch.push_back(rows);
  batch.push_back(cols);
  return {batch, dtype};
}

Spec vectors(Dims batch, int64_t length, DType dtype) {
  batch.push_back(length);
  return {batch, dtype};
}

}  // namespace

void check_square(const Tensor& t) {
  TAEDA_CHECK(t.dim() >= 2 && t.size(-1) == t.size(-2), "needs square matrices in the last two dimensions; got shape ",
              t.sizes());
}

void check_pivots(const Tensor& factors, const Tensor& pivots) {
  IntList wanted = factors.sizes().first(factors.dim() - 1);
  TAEDA_CHECK(pivots.dtype() == DType::Int32 && std::ranges::equal(pivots.sizes(), wanted),
              "pivots must be int32 of shape ", wanted, ", one for each row of the factors; got ", pivots.dtype(),
              " of shape ", pivots.sizes());
}

std::tuple<Spec, Spec, Spec> lu_factor(const Tensor& A, bool pivot, bool) {
  check_matrices(A);
  TAEDA_CHECK(pivot, "on the CPU rows are always exchanged; leave pivot=True");
  int64_t m = A.size(-2), n = A.size(-1);
  return {by_columns(batch_of(A), m, n, A.dtype()), vectors(batch_of(A), std::min(m, n), DType::Int32),
          Spec{batch_of(A), DType::Int32}};
}

Spec permutation(const Tensor& pivots, int64_t rows) {
  TAEDA_CHECK(pivots.dtype() == DType::Int32 && pivots.dim() >= 1 && pivots.sizes().back() <= rows,
              "pivots must be int32, at most one for each of the ", rows, " rows; got ", pivots.dtype(), " of shape ",
              pivots.sizes());
  return vectors(pivots.sizes().first(pivots.dim() - 1), rows, DType::Int64);
}

std::tuple<Spec, Spec> inv(const Tensor& A, bool) {
  check_square_field(A);
  return {by_columns(batch_of(A), A.size(-1), A.size(-1), A.dtype()), Spec{batch_of(A), DType::Int32}};
}

bool is_vector_side(const Tensor& A, const Tensor& B) {
  return B.dim() == 1 || (A.dim() - 1 == B.dim() && std::ranges::equal(B.sizes(), A.sizes().first(A.dim() - 1)));
}

namespace {
void check_system(const Tensor& A, const Tensor& B, int64_t rows) {
  TAEDA_CHECK(A.dtype() == B.dtype(), "A and B must have one dtype; got ", A.dtype(), " and ", B.dtype());
  TAEDA_CHECK(rows == A.size(-1), "A and B do not fit each other; got shapes ", A.sizes(), " and ", B.sizes());
}
}  // namespace

std::tuple<Spec, Spec> solve(const Tensor& A, const Tensor& B, bool left, bool) {
  check_square_field(A);
  TAEDA_CHECK(B.dim() >= 1, "B must have 1 dimension or more; got shape ", B.sizes());
  if (is_vector_side(A, B)) {
    TAEDA_CHECK(left, "left=False needs matrices on both sides; got B of shape ", B.sizes());
    check_system(A, B, B.sizes().back());
    Dims batch = B.dim() == 1 ? Dims(batch_of(A)) : Dims(B.sizes().first(B.dim() - 1));
    // Several vectors lie as the rows of a matrix by columns.
    Spec result = batch.size() == 0 ? vectors(batch, A.size(-1), A.dtype())
                                    : by_columns(IntList(batch).first(batch.size() - 1), batch[batch.size() - 1],
                                                 A.size(-1), A.dtype());
    return {result, Spec{batch_of(A), DType::Int32}};
  }
  check_system(A, B, B.size(left ? -2 : -1));
  Dims batch = broadcast_sizes(batch_of(A), batch_of(B));
  Spec result =
      left ? by_columns(batch, B.size(-2), B.size(-1), A.dtype()) : by_rows(batch, B.size(-2), B.size(-1), A.dtype());
  return {result, Spec{batch_of(A), DType::Int32}};
}

Spec solve_triangular(const Tensor& self, const Tensor& B, bool, bool left, bool) {
  check_square_field(self);
  check_matrices(B);
  check_system(self, B, B.size(left ? -2 : -1));
  return by_columns(broadcast_sizes(batch_of(self), batch_of(B)), B.size(-2), B.size(-1), self.dtype());
}

std::tuple<Spec, Spec> cholesky(const Tensor& self, bool, bool) { return inv(self, false); }

std::tuple<Spec, Spec> qr(const Tensor& A, std::string_view mode) {
  check_matrices(A);
  TAEDA_CHECK(mode == "reduced" || mode == "complete" || mode == "r",
              "mode must be 'reduced', 'complete' or 'r'; got '", mode, "'");
  int64_t m = A.size(-2), n = A.size(-1), k = mode == "complete" ? m : std::min(m, n);
  Spec q = mode == "r" ? Spec{{0}, A.dtype()} : by_columns(batch_of(A), m, k, A.dtype());
  return {q, by_columns(batch_of(A), k, n, A.dtype())};
}

std::tuple<Spec, Spec, Spec> svd(const Tensor& A, bool full_matrices, bool compute_uv,
                                 std::optional<std::string_view> driver) {
  check_matrices(A);
  TAEDA_CHECK(!driver, "driver= chooses among the methods of a GPU; leave it None on the CPU");
  int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  Spec s = vectors(batch_of(A), k, to_real(A.dtype())), none{{0}, A.dtype()};
  if (!compute_uv) return {none, s, none};
  return {by_columns(batch_of(A), m, full_matrices ? m : k, A.dtype()), s,
          by_columns(batch_of(A), full_matrices ? n : k, n, A.dtype())};
}

std::tuple<Spec, Spec> eigh(const Tensor& A, std::string_view UPLO, bool compute_v) {
  check_square_field(A);
  TAEDA_CHECK(UPLO == "L" || UPLO == "U" || UPLO == "l" || UPLO == "u", "UPLO must be 'L' or 'U'; got '", UPLO, "'");
  int64_t n = A.size(-1);
  return {vectors(batch_of(A), n, to_real(A.dtype())),
          compute_v ? by_columns(batch_of(A), n, n, A.dtype()) : Spec{{0}, A.dtype()}};
}

std::tuple<Spec, Spec> eig(const Tensor& self) {
  check_square_field(self);
  int64_t n = self.size(-1);
  DType dtype = to_complex(self.dtype());
  return {vectors(batch_of(self), n, dtype), by_columns(batch_of(self), n, n, dtype)};
}

std::tuple<Spec, Spec, Spec> lstsq(const Tensor& A, const Tensor& B, double, bool values) {
  check_matrices(A);
  check_matrices(B);
  TAEDA_CHECK(A.dtype() == B.dtype() && A.size(-2) == B.size(-2), "A and B must have one dtype and as many rows; got ",
              A.dtype(), " and ", B.dtype(), " of shapes ", A.sizes(), " and ", B.sizes());
  Dims batch = broadcast_sizes(batch_of(A), batch_of(B));
  int64_t m = A.size(-2), n = A.size(-1);
  // B's rows past n hold what tells the residuals; LAPACK needs room for the larger of both.
  return {by_columns(batch, std::max(m, n), B.size(-1), A.dtype()), Spec{batch, DType::Int64},
          vectors(batch, values ? std::min(m, n) : 0, to_real(A.dtype()))};
}

std::tuple<Spec, Spec> geqrf(const Tensor& self) {
  check_matrices(self);
  int64_t m = self.size(-2), n = self.size(-1);
  return {by_columns(batch_of(self), m, n, self.dtype()), vectors(batch_of(self), std::min(m, n), self.dtype())};
}

std::tuple<Spec, Spec, Spec> ldl_factor(const Tensor& self, bool, bool) {
  check_square_field(self);
  int64_t n = self.size(-1);
  return {by_columns(batch_of(self), n, n, self.dtype()), vectors(batch_of(self), n, DType::Int32),
          Spec{batch_of(self), DType::Int32}};
}

Spec ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool) {
  check_square_field(LD);
  check_matrices(B);
  check_system(LD, B, B.size(-2));
  check_pivots(LD, pivots);
  return by_columns(broadcast_sizes(batch_of(LD), batch_of(B)), B.size(-2), B.size(-1), LD.dtype());
}

}  // namespace taeda::shape
