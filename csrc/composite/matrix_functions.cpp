// Functions of square matrices, and systems whose unknowns have several dimensions.
#include <cmath>

#include "composite/ops/decompositions.h"
#include "core/elements.h"
#include "shape/spec.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/decompositions.h"
#include "taeda/ops/join.h"
#include "taeda/ops/linalg.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/scan.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

double largest_column_sum(const Tensor& A) {
  if (A.numel() == 0 || A.device().type == DeviceType::Meta) return 0;
  Tensor sums = ops::sum(ops::abs(ops::detach(A)), kValues<int64_t, -2>);
  Tensor number = ops::_to_copy(ops::max(sums), DType::Float64, std::nullopt, Device{DeviceType::CPU});
  return *elements<double>(number);
}

IntList first_sizes(const Tensor& t, int64_t count) { return t.sizes().first(static_cast<size_t>(count)); }

}  // namespace

// Scaling and squaring with the Pade approximant of degree 13: Higham, "The scaling and squaring method for the matrix
// exponential revisited" (2005), where the coefficients and the bound 5.37 on the norm are from.
Tensor linalg_matrix_exp(const Tensor& self) {
  TAEDA_CHECK(self.dim() >= 2 && self.size(-1) == self.size(-2),
              "needs square matrices in the last two dimensions; got shape ", self.sizes());
  TAEDA_CHECK(is_differentiable(self.dtype()), "is for floating-point and complex matrices; got ", self.dtype());
  if (self.numel() == 0) return ops::clone(self);
  if (compute_type(self.dtype()) != self.dtype())
    return ops::_to_copy(ops::linalg_matrix_exp(ops::_to_copy(self, DType::Float32)), self.dtype());
  constexpr double b[] = {64764752532480000.,
                          32382376266240000.,
                          7771770303897600.,
                          1187353796428800.,
                          129060195264000.,
                          10559470521600.,
                          670442572800.,
                          33522128640.,
                          1323241920.,
                          40840800.,
                          960960.,
                          16380.,
                          182.,
                          1.};
  double norm = largest_column_sum(self);
  int squarings = norm > 5.37 && std::isfinite(norm) ? static_cast<int>(std::ceil(std::log2(norm / 5.37))) : 0;
  Tensor A = squarings ? ops::mul(self, Scalar(std::ldexp(1.0, -squarings))) : self;
  Tensor A2 = ops::matmul(A, A), A4 = ops::matmul(A2, A2), A6 = ops::matmul(A4, A2);
  Tensor eye = ops::eye(A.size(-1), A.dtype(), std::nullopt, A.device());
  auto combined = [&](double c6, double c4, double c2) {
    return ops::add(ops::add(ops::mul(A6, Scalar(c6)), A4, Scalar(c4)), A2, Scalar(c2));
  };
  // Scaled by b[0], which cancels, so that float32 stays far from overflow.
  auto half = [&](int i) {
    Tensor high = ops::matmul(A6, combined(b[i + 12] / b[0], b[i + 10] / b[0], b[i + 8] / b[0]));
    return ops::add(ops::add(high, combined(b[i + 6] / b[0], b[i + 4] / b[0], b[i + 2] / b[0])), eye,
                    Scalar(b[i] / b[0]));
  };
  Tensor odd = ops::matmul(A, half(1)), even = half(0);
  Tensor result = ops::contiguous(ops::linalg_solve(ops::sub(even, odd), ops::add(even, odd)));
  for (int i = 0; i < squarings; ++i) result = ops::matmul(result, result);
  return result;
}

Tensor linalg_vander(const Tensor& x, std::optional<int64_t> N) {
  TAEDA_CHECK(x.dtype() != DType::Bool && compute_type(x.dtype()) == x.dtype(),
              "is for integers, float32, float64 and complex numbers; got ", x.dtype());
  if (x.dim() == 0) return ops::linalg_vander(ops::unsqueeze(x, 0), N);
  int64_t n = N.value_or(x.size(-1));
  TAEDA_CHECK(n > 1, "there must be two columns or more; got N=", n);
  shape::Dims sizes(x.sizes());
  sizes.push_back(n - 1);
  Tensor powers = ops::cumprod(ops::expand(ops::unsqueeze(x, -1), sizes), -1);
  sizes[sizes.size() - 1] = 1;
  return ops::cat(std::array{ops::ones(sizes, powers.dtype(), std::nullopt, x.device()), powers}, -1);
}

Tensor linalg_tensorinv(const Tensor& self, int64_t ind) {
  TAEDA_CHECK(ind > 0 && ind <= self.dim(), "ind must be from 1 to the number of dimensions; got ", ind, " and shape ",
              self.sizes());
  IntList left = first_sizes(self, ind), right = self.sizes().subspan(static_cast<size_t>(ind));
  int64_t n = numel_of(left);
  TAEDA_CHECK(n == numel_of(right), "the first ", ind, " sizes must have the product of the others; got shape ",
              self.sizes());
  shape::Dims sizes(right);
  for (int64_t s : left) sizes.push_back(s);
  return ops::reshape(ops::linalg_inv(ops::reshape(self, IntList({n, n}))), sizes);
}

Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other, std::optional<IntList> dims) {
  Tensor A = self;
  if (dims) {
    std::vector<int64_t> last(dims->size());
    for (size_t i = 0; i < last.size(); ++i) last[i] = static_cast<int64_t>(i) - static_cast<int64_t>(last.size());
    A = ops::movedim(self, *dims, last);
  }
  TAEDA_CHECK(other.dim() <= A.dim(), "other must have no more dimensions than self; got shapes ", self.sizes(),
              " and ", other.sizes());
  IntList unknowns = A.sizes().subspan(static_cast<size_t>(other.dim()));
  int64_t n = other.numel();
  TAEDA_CHECK(n == numel_of(unknowns), "self must hold as many unknowns as other has elements; got shapes ",
              self.sizes(), " and ", other.sizes());
  return ops::reshape(ops::linalg_solve(ops::reshape(A, IntList({n, n})), ops::reshape(other, IntList({n}))), unknowns);
}

}  // namespace taeda::composite
