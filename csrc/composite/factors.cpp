// Products of Householder reflectors as one: H_1 ... H_k = I - V T V^H, where V holds the vectors and T is upper
// triangular (Schreiber and Van Loan, "A storage-efficient WY representation", 1989).
#include "composite/ops/factors.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/decompositions.h"
#include "taeda/ops/factors.h"
#include "taeda/ops/linalg.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"
#include "taeda/ops/view_inplace.h"

namespace taeda::composite {

namespace {

struct Reflectors {
  Tensor V, T;
};

// Of matrices (..., m, n), the first k columns. T^-1 is 1 / tau on the diagonal and V^H V above it.
Reflectors reflectors(const Tensor& packed, const Tensor& tau) {
  int64_t k = tau.size(-1);
  Tensor V = ops::tril(ops::slice(packed, -1, 0, k), -1);
  V = ops::add(V, ops::eye(V.size(-2), k, V.dtype(), std::nullopt, V.device()));
  Tensor D = ops::diag_embed(tau);
  // (I + D S)^-1 D = (D^-1 + S)^-1 needs no division by tau, which may be zero.
  Tensor S = ops::mul(ops::unsqueeze(tau, -1), ops::triu(ops::matmul(ops::adjoint(V), V), 1));
  return {V, ops::linalg_solve_triangular(S, D, true, true, true)};
}

void check_packed(const Tensor& input, const Tensor& tau) {
  TAEDA_CHECK(input.dim() >= 2, "needs matrices in the last two dimensions; got shape ", input.sizes());
  TAEDA_CHECK(input.dtype() == tau.dtype() && tau.dim() == input.dim() - 1 &&
                  std::ranges::equal(tau.sizes().first(tau.dim() - 1), input.sizes().first(input.dim() - 2)),
              "tau must have the dtype and the batch of the matrices; got ", tau.dtype(), " of shape ", tau.sizes(),
              " for ", input.dtype(), " of shape ", input.sizes());
}

Tensor by_columns(const Tensor& t) { return ops::mT(ops::contiguous(ops::mT(t))); }

}  // namespace

Tensor linalg_householder_product(const Tensor& input, const Tensor& tau) {
  check_packed(input, tau);
  int64_t m = input.size(-2), n = input.size(-1);
  TAEDA_CHECK(m >= n && n >= tau.size(-1), "needs no more columns than rows and no more reflectors than columns; got ",
              "shapes ", input.sizes(), " and ", tau.sizes());
  auto [V, T] = reflectors(input, tau);
  Tensor top = ops::adjoint(ops::slice(V, -2, 0, n));
  Tensor eye = ops::eye(m, n, input.dtype(), std::nullopt, input.device());
  return by_columns(ops::sub(eye, ops::matmul(V, ops::matmul(T, top))));
}

Tensor ormqr(const Tensor& self, const Tensor& tau, const Tensor& other, bool left, bool transpose) {
  check_packed(self, tau);
  TAEDA_CHECK(other.dim() == self.dim() && other.dtype() == self.dtype() &&
                  std::ranges::equal(other.sizes().first(other.dim() - 2), self.sizes().first(self.dim() - 2)),
              "input3 must have the dtype and the batch of self; got ", other.dtype(), " of shape ", other.sizes(),
              " for ", self.dtype(), " of shape ", self.sizes());
  int64_t size = other.size(left ? -2 : -1);
  TAEDA_CHECK(size == self.size(-2), left ? "the rows" : "the columns", " of input3 must be as many as the rows of ",
              "self; got shapes ", other.sizes(), " and ", self.sizes());
  TAEDA_CHECK(tau.size(-1) == std::min(size, self.size(-1)), "needs one tau per reflector, ",
              std::min(size, self.size(-1)), "; got ", tau.size(-1));
  auto [V, T] = reflectors(self, tau);
  if (transpose) T = ops::adjoint(T);
  Tensor Vh = ops::adjoint(V);
  Tensor change = left ? ops::matmul(V, ops::matmul(T, ops::matmul(Vh, other)))
                       : ops::matmul(ops::matmul(ops::matmul(other, V), T), Vh);
  return by_columns(ops::sub(other, change));
}

std::tuple<Tensor, Tensor> linalg_ldl_factor(const Tensor& self, bool hermitian) {
  auto [LD, pivots, info] = ops::linalg_ldl_factor_ex(self, hermitian, true);
  return {LD, pivots};
}

}  // namespace taeda::composite
