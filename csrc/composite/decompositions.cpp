// What follows from factorisations, and their gradients. With A^H the conjugate transpose and gX the gradient for X,
// the formulas are those of Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
// differentiation" (2008), and Walter and Lehmann (2010), extended to complex numbers.
#include <algorithm>
#include <atomic>
#include <limits>

#include "composite/ops/decompositions.h"
#include "core/warn_once.h"
#include "shape/linalg_rules.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/decompositions.h"
#include "taeda/ops/join.h"
#include "taeda/ops/linalg.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/predicate.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"
#include "taeda/ops/view_inplace.h"

namespace taeda::composite {

namespace {

using Pair = std::tuple<Tensor, Tensor>;
using Triple = std::tuple<Tensor, Tensor, Tensor>;

Tensor H(const Tensor& t) { return ops::adjoint(t); }
Tensor mul(const Tensor& a, const Tensor& b) { return ops::matmul(a, b); }
Tensor diagonal(const Tensor& t) { return ops::diagonal(t, 0, -2, -1); }
Tensor row(const Tensor& t) { return ops::unsqueeze(t, -2); }
Tensor column(const Tensor& t) { return ops::unsqueeze(t, -1); }
Tensor columns(const Tensor& t, int64_t from, int64_t to) { return ops::slice(t, -1, from, to); }
Tensor rows(const Tensor& t, int64_t from, int64_t to) { return ops::slice(t, -2, from, to); }
Tensor identity_like(const Tensor& t) { return ops::eye(t.size(-1), t.dtype(), std::nullopt, t.device()); }
// A numbers' tensor as the field of `like`, so that products promote nothing.
Tensor in_field_of(const Tensor& t, const Tensor& like) {
  return t.dtype() == like.dtype() ? t : ops::_to_copy(t, like.dtype());
}

// A^-1 X, X A^-1 and their kind for triangular A.
Tensor left_solve(const Tensor& A, const Tensor& X, bool upper, bool unit = false) {
  return ops::linalg_solve_triangular(A, X, upper, true, unit);
}
Tensor right_solve(const Tensor& A, const Tensor& X, bool upper, bool unit = false) {
  return ops::linalg_solve_triangular(A, X, upper, false, unit);
}

double epsilon(DType dtype) {
  return to_real(dtype) == DType::Float64 ? std::numeric_limits<double>::epsilon()
                                          : std::numeric_limits<float>::epsilon();
}

void check_matrices(const Tensor& t) {
  TAEDA_CHECK(t.dim() >= 2, "needs matrices in the last two dimensions; got shape ", t.sizes());
}

// Whether no element is nonzero.
bool none(const Tensor& t) { return !ops::is_nonzero(ops::any_anywhere(t)); }

// LAPACK's numbers of what is wrong, a matrix each, count from one; `part` is what they number.
void check_regular(const Tensor& info, std::string_view what, std::string_view part, std::string_view wrong) {
  if (info.device().type == DeviceType::Meta || none(info)) return;
  Tensor numbers = ops::flatten(info), wrong_ones = ops::flatten(ops::nonzero(numbers));
  int64_t place = ops::_local_scalar_dense(ops::select(wrong_ones, 0, 0)).as_int();
  int64_t number = ops::_local_scalar_dense(ops::select(numbers, 0, place)).as_int();
  std::string where = info.dim() ? str(", in matrix ", place, " of the batch") : std::string();
  TAEDA_FAIL(LinAlg, what, ": ", part, " ", number, " ", wrong, where);
}

// Complex vectors may turn by any phase, each by its own; `drift` is what doing so would change, times i, where
// `gradient` tells what is large.
void check_phases(const Tensor& drift, const Tensor& gradient, std::string_view vectors) {
  if (drift.device().type == DeviceType::Meta || drift.numel() == 0) return;
  Tensor change = ops::abs(ops::imag(ops::detach(drift))), size = ops::amax(ops::abs(ops::detach(gradient)));
  TAEDA_CHECK(none(ops::gt(change, ops::mul(ops::add(size, Scalar(1)), Scalar(1e-2)))), "complex ", vectors,
              " are defined up to a phase, but the function of them that is differentiated changes with it");
}

// The matrix of values[j] - values[i], with ones on the diagonal.
Tensor differences(const Tensor& values) {
  Tensor d = ops::sub(row(values), column(values));
  return ops::add(d, in_field_of(identity_like(d), d));
}

}  // namespace

// --- LU
Pair linalg_lu_factor(const Tensor& A, bool pivot) {
  auto [LU, pivots, info] = ops::linalg_lu_factor_ex(A, pivot, true);
  return {LU, pivots};
}

namespace {
Tensor unit_lower(const Tensor& LU) {
  int64_t k = std::min(LU.size(-1), LU.size(-2));
  Tensor L = ops::tril(columns(LU, 0, k), -1);
  return ops::add(L, ops::eye(L.size(-2), k, L.dtype(), std::nullopt, L.device()));
}
Tensor upper_of(const Tensor& LU) { return ops::triu(rows(LU, 0, std::min(LU.size(-1), LU.size(-2)))); }

Tensor permutation_matrix(const Tensor& pivots, int64_t m, DType dtype) {
  // Row order[i] of A stands in row i of L @ U: P[order[i], i] = 1.
  Tensor order = ops::pivots_to_permutation(pivots, m);
  Tensor numbers = ops::arange(Scalar(m), DType::Int64, std::nullopt, pivots.device());
  return ops::_to_copy(ops::eq(column(numbers), row(order)), dtype);
}
}  // namespace

Triple lu_unpack(const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data, bool unpack_pivots) {
  TAEDA_CHECK(LU_data.dim() >= 2, "LU_data must hold matrices; got shape ", LU_data.sizes());
  Tensor empty = ops::empty(IntList({0}), LU_data.dtype(), std::nullopt, LU_data.device()), P = empty, L = empty,
         U = empty;
  if (unpack_data) L = unit_lower(LU_data), U = upper_of(LU_data);
  if (unpack_pivots) {
    int64_t count = std::min(LU_data.size(-2), LU_data.size(-1));
    TAEDA_CHECK(LU_pivots.dim() > 0 && LU_pivots.size(-1) >= count, "LU_pivots must hold ", count,
                " pivots for matrices of shape ", LU_data.sizes(), "; got shape ", LU_pivots.sizes());
    P = permutation_matrix(LU_pivots, LU_data.size(-2), LU_data.dtype());
  }
  return {P, L, U};
}

Triple linalg_lu(const Tensor& A, bool pivot) {
  auto [LU, pivots, info] = ops::linalg_lu_factor_ex(A, pivot, false);
  return ops::lu_unpack(LU, pivots, true, true);
}

// dL = L tril(W, -1) and dU = triu(W) U where W = L^-1 dA U^-1; a tall or wide rest follows from the square part.
Tensor lu_factor_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots) {
  int64_t m = LU.size(-2), n = LU.size(-1), k = std::min(m, n);
  Tensor L = unit_lower(LU), U = upper_of(LU), P = permutation_matrix(pivots, m, LU.dtype());
  Tensor gL = ops::tril(columns(grad, 0, k), -1), gU = ops::triu(rows(grad, 0, k));
  Tensor L1 = rows(L, 0, k), U1 = columns(U, 0, k), gL1 = rows(gL, 0, k), gU1 = columns(gU, 0, k), rest;
  if (m > k) {
    rest = right_solve(H(U1), rows(gL, k, m), false);
    gU1 = ops::sub(gU1, mul(H(rows(L, k, m)), rest));
  } else if (n > k) {
    rest = left_solve(H(L1), columns(gU, k, n), true, true);
    gL1 = ops::sub(gL1, mul(rest, H(columns(U, k, n))));
  }
  Tensor W = ops::add(ops::tril(mul(H(L1), gL1), -1), ops::triu(mul(gU1, H(U1))));
  Tensor square = right_solve(H(U1), left_solve(H(L1), W, true, true), false);
  if (rest.defined()) square = ops::cat(std::array{square, rest}, m > k ? -2 : -1);
  return mul(P, square);
}

Tensor linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left, bool adjoint) {
  shape::check_square(LU);
  shape::check_pivots(LU, pivots);
  Tensor P = permutation_matrix(pivots, LU.size(-2), LU.dtype());
  // X A = B is A^H X^H = B^H.
  if (!left) return H(ops::linalg_lu_solve(LU, pivots, H(B), true, !adjoint));
  if (!adjoint) return left_solve(LU, left_solve(LU, mul(H(P), B), false, true), true);
  Tensor solution = left_solve(H(LU), left_solve(H(LU), B, false), true, true);
  return ops::mT(mul(ops::mT(solution), ops::mT(P)));  // P @ solution, column after column as LAPACK leaves it
}

// --- inverse and solutions
Tensor linalg_inv(const Tensor& A) {
  auto [inverse, info] = ops::linalg_inv_ex(A, false);
  check_regular(info, "a matrix is singular and has no inverse", "pivot", "is 0");
  return inverse;
}

Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  auto [result, info] = ops::linalg_solve_ex(A, B, left, false);
  check_regular(info, "a matrix of A is singular, its systems have no single solution", "pivot", "is 0");
  return result;
}

Pair linalg_solve_backward(const Tensor& grad, const Tensor& A, const Tensor& B, const Tensor& X, bool left) {
  bool vector = shape::is_vector_side(A, B);
  Tensor g = vector ? column(grad) : grad, x = vector ? column(X) : X;
  Tensor gB = ops::linalg_solve(H(A), g, left);
  Tensor gA = ops::neg(left ? mul(gB, H(x)) : mul(H(x), gB));
  return {gA, vector ? ops::squeeze(gB, -1) : gB};
}

Pair solve_triangular_backward(const Tensor& grad, const Tensor& A, const Tensor& X, bool upper, bool left,
                               bool unitriangular) {
  Tensor gB = ops::linalg_solve_triangular(H(A), grad, !upper, left, unitriangular);
  Tensor gA = ops::neg(left ? mul(gB, H(X)) : mul(H(X), gB));
  int64_t offset = unitriangular ? 1 : 0;
  return {upper ? ops::triu(gA, offset) : ops::tril(gA, -offset), gB};
}

Pair triangular_solve(const Tensor& self, const Tensor& A, bool upper, bool transpose, bool unitriangular) {
  static std::atomic<bool> warned{false};
  warn_once(warned, "taeda.triangular_solve is deprecated; taeda.linalg.solve_triangular(A, B) takes the matrix first");
  Tensor used = transpose ? ops::mT(A) : A;
  Tensor solution = ops::linalg_solve_triangular(used, self, upper != transpose, true, unitriangular);
  shape::Dims sizes(solution.sizes().first(solution.dim() - 2));
  for (int64_t size : A.sizes().last(2)) sizes.push_back(size);
  Tensor by_columns = ops::clone(ops::mT(ops::expand(A, sizes)), MemoryFormat::Contiguous);
  return {solution, ops::mT(by_columns)};
}

// --- Cholesky
Tensor linalg_cholesky(const Tensor& self, bool upper) {
  auto [L, info] = ops::linalg_cholesky_ex(self, upper, false);
  check_regular(info, "a matrix is not positive definite", "the leading minor of order", "is not positive");
  return L;
}

// gA = L^-H Phi(L^H gL) L^-1 made Hermitian, where Phi keeps the lower triangle and halves the diagonal.
Tensor cholesky_backward(const Tensor& grad, const Tensor& factor, bool upper) {
  Tensor L = upper ? H(factor) : factor, gL = upper ? H(grad) : grad;
  Tensor product = mul(H(L), gL);
  Tensor phi = ops::sub(ops::tril(product), ops::mul(ops::diag_embed(diagonal(product)), Scalar(0.5)));
  Tensor gA = right_solve(L, left_solve(H(L), phi, true), false);
  return ops::mul(ops::add(gA, H(gA)), Scalar(0.5));
}

Tensor cholesky(const Tensor& self, bool upper) {
  warn("taeda.cholesky is deprecated; use taeda.linalg.cholesky");
  return ops::linalg_cholesky(self, upper);
}

Tensor cholesky_solve(const Tensor& self, const Tensor& input2, bool upper) {
  Tensor L = upper ? H(input2) : input2;
  return left_solve(H(L), left_solve(L, self, false), true);
}

Tensor cholesky_inverse(const Tensor& self, bool upper) {
  check_matrices(self);
  TAEDA_CHECK_KIND(LinAlg, self.device().type == DeviceType::Meta || none(ops::eq(diagonal(self), Scalar(0))),
                   "a factor has a zero on its diagonal, and so its product no inverse");
  return ops::cholesky_solve(in_field_of(identity_like(self), self), self, upper);
}

// A = L L^H changes X by -A^-1 (dL L^H + L dL^H) X.
Tensor cholesky_factor_backward(const Tensor& grad, const Tensor& X, const Tensor& factor, bool upper) {
  Tensor gA = mul(grad, H(X)), both = ops::add(gA, H(gA));
  return ops::neg(upper ? mul(factor, both) : mul(both, factor));
}

Tensor lu_solve(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots) {
  warn("taeda.lu_solve is deprecated; taeda.linalg.lu_solve(LU, pivots, B) takes the factors first");
  return ops::linalg_lu_solve(LU_data, LU_pivots, self, true, false);
}

// --- QR
Pair qr(const Tensor& self, bool some) {
  warn("taeda.qr is deprecated; use taeda.linalg.qr, with mode='complete' for some=False");
  return ops::linalg_qr(self, some ? "reduced" : "complete");
}

namespace {
Tensor square_qr_backward(const Tensor& gQ, const Tensor& gR, const Tensor& Q, const Tensor& R) {
  Tensor M = ops::sub(mul(R, H(gR)), mul(H(gQ), Q));
  Tensor lower = ops::tril(M, -1), on_diagonal = diagonal(M);
  if (is_complex(M.dtype())) on_diagonal = in_field_of(ops::real(on_diagonal), M);
  Tensor hermitian = ops::add(ops::add(lower, H(lower)), ops::diag_embed(on_diagonal));
  return right_solve(H(R), ops::add(gQ, mul(Q, hermitian)), false);
}
}  // namespace

Tensor qr_backward(const Tensor& gQ, const Tensor& gR, const Tensor& Q, const Tensor& R, std::string_view mode) {
  TAEDA_CHECK(mode != "r", "with mode='r' there is no gradient, as it needs Q; use mode='reduced'");
  int64_t m = Q.size(-2), k = Q.size(-1), n = R.size(-1);
  TAEDA_CHECK(mode == "reduced" || m <= n,
              "with mode='complete' there is a gradient only for matrices with no more rows than columns; use "
              "mode='reduced'");
  if (n <= k) return square_qr_backward(gQ, gR, Q, R);
  // A = Q [R1 R2]: what follows R1's columns is a product with Q.
  Tensor R1 = columns(R, 0, k), R2 = columns(R, k, n), gR1 = columns(gR, 0, k), gR2 = columns(gR, k, n);
  Tensor first = square_qr_backward(ops::add(gQ, mul(mul(Q, R2), H(gR2))), gR1, Q, R1);
  return ops::cat(std::array{first, mul(Q, gR2)}, -1);
}

// --- singular values
Tensor linalg_svdvals(const Tensor& A, std::optional<std::string_view> driver) {
  return std::get<1>(ops::_linalg_svd(A, false, false, driver));
}

Triple svd(const Tensor& self, bool some, bool compute_uv) {
  auto [U, S, Vh] = ops::_linalg_svd(self, !some, compute_uv, std::nullopt);
  if (compute_uv) return {U, S, H(Vh)};
  auto zeros = [&](int64_t n) {
    shape::Dims sizes(self.sizes().first(self.dim() - 2));
    sizes.push_back(n), sizes.push_back(n);
    return ops::zeros(sizes, self.dtype(), std::nullopt, self.device());
  };
  return {zeros(self.size(-2)), S, zeros(self.size(-1))};
}

Tensor svd_backward(const Tensor& gU_given, const Tensor& gS, const Tensor& gVh_given, const Tensor& A,
                    const Tensor& U_given, const Tensor& S, const Tensor& Vh_given, bool, bool compute_uv) {
  if (!compute_uv) {
    auto [U, same, Vh] = ops::_linalg_svd(A, false, true, std::nullopt);
    return mul(ops::mul(U, row(in_field_of(gS, A))), Vh);
  }
  int64_t k = S.size(-1);
  Tensor U = columns(U_given, 0, k), V = H(rows(Vh_given, 0, k)), gU = columns(gU_given, 0, k),
         gV = H(rows(gVh_given, 0, k));
  Tensor s = in_field_of(S, A);
  auto skew = [](const Tensor& t) { return ops::sub(t, H(t)); };
  Tensor gap = in_field_of(differences(ops::mul(S, S)), A);
  Tensor in_u = skew(mul(H(U), gU)), in_v = skew(mul(H(V), gV));
  if (is_complex(A.dtype())) check_phases(ops::add(diagonal(in_u), diagonal(in_v)), in_u, "singular vectors");
  Tensor core = ops::add(ops::mul(ops::div(in_u, gap), row(s)), ops::mul(column(s), ops::div(in_v, gap)));
  Tensor on_diagonal = in_field_of(gS, A);
  if (is_complex(A.dtype())) {
    // The phases of a pair of vectors: their part on the diagonal of core is not a change of S.
    core = ops::sub(core, ops::diag_embed(diagonal(core)));
    on_diagonal = ops::add(on_diagonal, ops::div(diagonal(in_u), ops::mul(s, Scalar(2))));
  }
  Tensor result = mul(mul(U, ops::add(core, ops::diag_embed(on_diagonal))), H(V));
  // What of the gradients points out of the spaces that U and V span.
  if (A.size(-2) > k) {
    Tensor scaled = ops::div(gU, row(s));
    result = ops::add(result, mul(ops::sub(scaled, mul(U, mul(H(U), scaled))), H(V)));
  }
  if (A.size(-1) > k) {
    Tensor scaled = ops::div(H(gV), column(s));
    result = ops::add(result, mul(U, ops::sub(scaled, mul(mul(scaled, V), H(V)))));
  }
  return result;
}

// --- eigenvalues
Tensor eigh_backward(const Tensor& gL, const Tensor& gV, const Tensor& L, const Tensor& V) {
  TAEDA_CHECK(V.dim() >= 2, "the gradient needs the eigenvectors");
  Tensor inner = mul(H(V), gV);
  if (is_complex(V.dtype())) check_phases(diagonal(inner), inner, "eigenvectors");
  Tensor off = ops::div(inner, in_field_of(differences(L), V));
  off = ops::sub(off, ops::diag_embed(diagonal(off)));
  Tensor result = mul(mul(V, ops::add(off, ops::diag_embed(in_field_of(gL, V)))), H(V));
  return ops::mul(ops::add(result, H(result)), Scalar(0.5));  // A is taken for Hermitian, whichever triangle is read
}

Tensor linalg_eigvalsh(const Tensor& self, std::string_view UPLO) {
  // The gradient needs the vectors.
  bool recorded = t_state.forward_grad || (t_state.grad_mode && self->needs_autograd());
  return std::get<0>(ops::_linalg_eigh(self, UPLO, recorded));
}

// gA = V^-H (diag(gL) + (V^H gV - V^H V diag(Re(V^H gV))) / conj(E)) V^H with E the differences of eigenvalues.
Tensor eig_backward(const Tensor& gL, const Tensor& gV, const Tensor& L, const Tensor& V, DType dtype) {
  Tensor inner = mul(H(V), gV);
  check_phases(diagonal(inner), inner, "eigenvectors");
  Tensor lengths = ops::mul(mul(H(V), V), row(in_field_of(ops::real(diagonal(inner)), V)));
  Tensor off = ops::div(ops::sub(inner, lengths), ops::conj(differences(L)));
  off = ops::sub(off, ops::diag_embed(diagonal(off)));
  Tensor result = ops::linalg_solve(H(V), mul(ops::add(off, ops::diag_embed(gL)), H(V)));
  return is_complex(dtype) ? result : ops::real(result);
}

Tensor linalg_eigvals(const Tensor& self) { return std::get<0>(ops::linalg_eig(self)); }

// --- determinants
namespace {

// 1 or -1 for an even or odd number of exchanges, in the dtype of `like`.
Tensor parity(const Tensor& pivots, DType dtype) {
  int64_t n = pivots.size(-1);
  Tensor stay = ops::arange(Scalar(1), Scalar(n + 1), DType::Int32, std::nullopt, pivots.device());
  Tensor exchanges = ops::sum(ops::ne(pivots, stay), IntList({-1}));
  return ops::_to_copy(ops::rsub(ops::mul(ops::remainder(exchanges, Scalar(2)), Scalar(2)), Scalar(1)), dtype);
}

}  // namespace

Tensor linalg_det(const Tensor& A) {
  shape::check_square(A);
  auto [LU, pivots, info] = ops::linalg_lu_factor_ex(A, true, false);
  return ops::mul(ops::prod(diagonal(LU), -1), parity(pivots, A.dtype()));
}

Tensor det_backward(const Tensor& grad, const Tensor& A, const Tensor& det) {
  auto scaled = [](const Tensor& by) { return column(column(by)); };
  auto [inverse, info] = ops::linalg_inv_ex(A, false);
  if (none(info)) {
    Tensor conjugate = is_complex(det.dtype()) ? ops::conj(det) : det;
    return ops::mul(scaled(ops::mul(grad, conjugate)), H(inverse));
  }
  // The cofactors of a singular A = U S V^H: each direction's is the product of the other singular values.
  auto [U, S, Vh] = ops::_linalg_svd(A, false, true, std::nullopt);
  Tensor on_diagonal = ops::_to_copy(ops::eye(A.size(-1), DType::Int32, std::nullopt, A.device()), DType::Bool);
  Tensor cofactors = ops::prod(ops::where(on_diagonal, ops::ones_like(row(S)), row(S)), -1);
  Tensor phase = ops::mul(ops::linalg_det(U), ops::linalg_det(Vh));
  if (is_complex(phase.dtype())) phase = ops::conj(phase);
  return ops::mul(scaled(ops::mul(grad, phase)), mul(ops::mul(U, row(in_field_of(cofactors, A))), Vh));
}

Pair linalg_slogdet(const Tensor& A) {
  shape::check_square(A);
  auto [LU, pivots, info] = ops::linalg_lu_factor_ex(A, true, false);
  Tensor d = diagonal(LU);
  Tensor sign = ops::mul(ops::prod(ops::sgn(d), -1), parity(pivots, A.dtype()));
  return {sign, ops::sum(ops::log(ops::abs(d)), IntList({-1}))};
}

Tensor logdet(const Tensor& self) {
  auto [sign, size] = ops::linalg_slogdet(self);
  if (is_complex(self.dtype())) return ops::add(ops::log(sign), size);
  return ops::where(ops::lt(sign, Scalar(0)), ops::full_like(size, Scalar(NAN)), size);
}

// --- what singular values tell
namespace {

struct Tolerance {
  Tensor absolute, relative;
};

Tensor number(double value, const Tensor& like) {
  return ops::full(IntList(), Scalar(value), to_real(like.dtype()), std::nullopt, like.device());
}

// The default is relative, and only where no absolute tolerance is given.
Tolerance tolerance_for(const Tensor& A, const Tensor& atol, const Tensor& rtol) {
  Tensor absolute = atol.defined() ? atol : number(0, A);
  if (rtol.defined()) return {absolute, rtol};
  Tensor usual = number(epsilon(A.dtype()) * static_cast<double>(std::max(A.size(-1), A.size(-2))), A);
  return {absolute, atol.defined() ? ops::where(ops::gt(atol, Scalar(0)), ops::zeros_like(usual), usual) : usual};
}

// Which singular values (descending or not, all positive) count.
Tensor counted(const Tensor& S, const Tolerance& t) {
  Tensor largest = S.size(-1) == 0 ? ops::sum(S, IntList({-1}), true) : ops::amax(S, kValues<int64_t, -1>, true);
  auto spread = [](const Tensor& tolerance) { return tolerance.dim() == 0 ? tolerance : column(tolerance); };
  return ops::gt(S, ops::maximum(spread(t.absolute), ops::mul(spread(t.relative), largest)));
}

Tensor optional_number(std::optional<double> value, const Tensor& like) {
  return value ? number(*value, like) : Tensor();
}

}  // namespace

Tensor linalg_pinv(const Tensor& self, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  check_matrices(self);
  for (const Tensor& t : {atol, rtol})
    TAEDA_CHECK(!t.defined() || !is_complex(t.dtype()), "a tolerance must be real; got one of ", t.dtype());
  Tolerance tolerance = tolerance_for(self, atol, rtol);
  auto inverted = [&](const Tensor& values, const Tensor& sizes) {
    Tensor keep = counted(sizes, tolerance);
    return in_field_of(ops::where(keep, ops::reciprocal(values), ops::zeros_like(values)), self);
  };
  if (hermitian) {
    auto [L, Q] = ops::_linalg_eigh(self, "L", true);
    return mul(ops::mul(Q, row(inverted(L, ops::abs(L)))), H(Q));
  }
  auto [U, S, Vh] = ops::_linalg_svd(self, false, true, std::nullopt);
  return mul(ops::mul(H(Vh), row(inverted(S, S))), H(U));
}

// dP = -P dA P + P P^H dA^H (I - A P) + (I - P A) dA^H P^H P (Golub and Pereyra, 1973)
Tensor pinv_backward(const Tensor& grad, const Tensor& A, const Tensor& P) {
  Tensor Ph = H(P), Gh = H(grad);
  Tensor inner = ops::neg(mul(mul(Ph, grad), Ph));
  Tensor right = mul(mul(Gh, P), Ph), left = mul(Ph, mul(P, Gh));
  Tensor outside = ops::add(ops::sub(right, mul(A, mul(P, right))), ops::sub(left, mul(mul(left, P), A)));
  return ops::add(inner, outside);
}

Tensor linalg_pinv(const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
  return ops::linalg_pinv(self, optional_number(atol, self), optional_number(rtol, self), hermitian);
}

Tensor linalg_pinv(const Tensor& self, double rcond, bool hermitian) {
  return ops::linalg_pinv(self, number(0, self), number(rcond, self), hermitian);
}

Tensor linalg_matrix_rank(const Tensor& input, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  check_matrices(input);
  Tensor sizes = hermitian ? ops::abs(ops::linalg_eigvalsh(input)) : ops::linalg_svdvals(input);
  return ops::sum(counted(sizes, tolerance_for(input, atol, rtol)), IntList({-1}));
}

Tensor linalg_matrix_rank(const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
  return ops::linalg_matrix_rank(self, optional_number(atol, self), optional_number(rtol, self), hermitian);
}

Tensor linalg_matrix_rank(const Tensor& self, double tol, bool hermitian) {
  return ops::linalg_matrix_rank(self, number(tol, self), number(0, self), hermitian);
}

namespace {
// The norms of A and its inverse, multiplied; infinite for singular matrices.
template <class Order>
Tensor cond_by_inverse(const Tensor& A, const Order& p) {
  shape::check_square(A);
  if (A.size(-1) == 0) return ops::zeros(A.sizes().first(A.sizes().size() - 2), to_real(A.dtype()), {}, A.device());
  auto [inverse, info] = ops::linalg_inv_ex(A, false);
  Tensor is_regular = ops::eq(info, Scalar(0)), known = ops::unsqueeze(ops::unsqueeze(is_regular, -1), -1);
  Tensor defined = ops::where(known, inverse, ops::zeros_like(inverse));  // the nuclear norm refuses NaN
  Tensor product = ops::mul(ops::linalg_matrix_norm(A, p), ops::linalg_matrix_norm(defined, p));
  return ops::where(is_regular, product, ops::full_like(product, Scalar(INFINITY)));
}
}  // namespace

Tensor linalg_cond(const Tensor& self, const std::optional<Scalar>& p) {
  check_matrices(self);
  double order = p ? p->as_double() : 2;
  if (std::abs(order) != 2) return cond_by_inverse(self, *p);
  Tensor S = ops::linalg_svdvals(self);
  if (S.size(-1) == 0) return ops::sum(S, IntList({-1}));
  Tensor largest = ops::select(S, -1, 0), smallest = ops::select(S, -1, -1);
  return order > 0 ? ops::div(largest, smallest) : ops::div(smallest, largest);
}

Tensor linalg_cond(const Tensor& self, std::string_view p) { return cond_by_inverse(self, p); }

// --- least squares
// X = pinv(A) B; and as X makes the residuals smallest, they change with A and B alone.
Pair lstsq_backward(const Tensor& grad_X, const Tensor& grad_residuals, const Tensor& A, const Tensor& B_given,
                    const Tensor& X_given) {
  bool vector = shape::is_vector_side(A, B_given);
  Tensor B = vector ? column(B_given) : B_given, X = vector ? column(X_given) : X_given, gA, gB;
  if (grad_X.defined()) {
    Tensor gX = vector ? column(grad_X) : grad_X, P = ops::linalg_pinv(A, Tensor(), Tensor(), false);
    gA = ops::pinv_backward(mul(gX, H(B)), A, P), gB = mul(H(P), gX);
  }
  if (grad_residuals.defined() && grad_residuals.numel() > 0) {
    Tensor rest = ops::mul(ops::mul(ops::sub(mul(A, X), B), row(in_field_of(grad_residuals, A))), Scalar(2));
    Tensor rA = mul(rest, H(X)), rB = ops::neg(rest);
    gA = gA.defined() ? ops::add(gA, rA) : rA, gB = gB.defined() ? ops::add(gB, rB) : rB;
  }
  return {gA, vector && gB.defined() ? ops::squeeze(gB, -1) : gB};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(const Tensor& self, const Tensor& b,
                                                        std::optional<double> rcond,
                                                        std::optional<std::string_view> driver) {
  check_matrices(self);
  std::string_view method = driver.value_or("gelsy");
  TAEDA_CHECK(method == "gels" || method == "gelsy" || method == "gelsd" || method == "gelss",
              "driver must be 'gels', 'gelsy', 'gelsd' or 'gelss'; got '", method, "'");
  bool vector = shape::is_vector_side(self, b);
  int64_t m = self.size(-2), n = self.size(-1);
  double tolerance = rcond.value_or(epsilon(self.dtype()) * static_cast<double>(std::max(m, n)));
  bool tells_values = method == "gelsd" || method == "gelss";
  // That without values leaves nothing beneath the solutions that would tell the residuals.
  auto [all, rank, S] = ops::_lstsq(self, vector ? column(b) : b, tolerance, method != "gelsy");
  if (method == "gelss" && tolerance >= 1) {  // no value is larger than the largest; gelsd, which ran, takes no such
    ops::zero_(all), ops::zero_(rank);
  }
  auto nothing = [&](DType dtype) { return ops::empty(IntList({0}), dtype, std::nullopt, self.device()); };
  Tensor solution = rows(all, 0, n), residuals = nothing(to_real(self.dtype()));
  bool full_rank = method == "gels" || none(ops::lt(rank, Scalar(n)));
  if (m > n && full_rank && method != "gelsy") {
    Tensor rest = ops::abs(rows(all, n, m));
    residuals = ops::sum(ops::mul(rest, rest), IntList({-2}));
  }
  return {vector ? ops::squeeze(solution, -1) : solution, residuals, method == "gels" ? nothing(DType::Int64) : rank,
          tells_values ? S : nothing(to_real(self.dtype()))};
}

}  // namespace taeda::composite
