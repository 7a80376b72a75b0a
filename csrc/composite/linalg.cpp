// Products that are made of others.
#include "shape/ops/linalg.h"
#include "shape/elementwise.h"
#include "taeda/core/warn.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/join.h"
#include "taeda/ops/linalg.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

using shape::Dims;

// The first sizes of `t`, all but the last `count`.
IntList leading(const Tensor& t, int64_t count) { return t.sizes().first(t.dim() - count); }

Tensor conj_of(const Tensor& t) { return is_complex(t.dtype()) ? ops::conj(t) : t; }

Tensor as_rows(const Tensor& t) {
  TAEDA_CHECK(t.dim() > 0, "a tensor without dimensions has no rows");
  return t.dim() == 2 ? t : ops::reshape(t, IntList({numel_of(leading(t, 1)), t.sizes().back()}));
}

}  // namespace

namespace {

bool is_column_major(IntList sizes, IntList strides) {
  TAEDA_CHECK(sizes.size() == 2 && strides.size() == 2, "a matrix has 2 sizes and 2 strides; got ", sizes, " and ",
              strides);
  return strides[0] == 1 && strides[1] == sizes[0] && sizes[0] != 1;
}

}  // namespace

Tensor mm_backward_left(const Tensor& grad, const Tensor& mat2, IntList sizes, IntList strides) {
  // The gradient is laid out as the matrix is, so that a weight that came in as a transposed view gets a contiguous
  // one.
  if (is_column_major(sizes, strides)) return ops::t(ops::mm(conj_of(mat2), ops::t(grad)));
  return ops::mm(grad, ops::adjoint(mat2));
}

Tensor mm_backward_right(const Tensor& grad, const Tensor& self, IntList sizes, IntList strides) {
  if (is_column_major(sizes, strides)) return ops::t(ops::mm(ops::t(grad), conj_of(self)));
  return ops::mm(ops::adjoint(self), grad);
}

std::tuple<Tensor, Tensor, Tensor> linear_gradients(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                                    IntList needs) {
  Tensor to_input, to_weight, to_bias;
  if (weight.dim() == 1) {
    Tensor column = ops::unsqueeze(grad, -1);
    if (needs[0]) to_input = ops::mul(column, conj_of(weight));
    if (needs[1])
      to_weight = ops::reshape(ops::mm(ops::reshape(grad, IntList({1, grad.numel()})), as_rows(conj_of(input))),
                               kValues<int64_t, -1>);
    if (needs[2]) to_bias = grad;
    return {to_input, to_weight, to_bias};
  }
  Tensor rows = as_rows(grad);
  if (needs[0]) {
    to_input = ops::mm(rows, conj_of(weight));
    if (input.dim() != 2) to_input = ops::view(to_input, input.sizes());
  }
  if (needs[1]) to_weight = ops::mm(ops::t(rows), as_rows(conj_of(input)));
  if (needs[2]) to_bias = ops::sum(rows, kValues<int64_t, 0>);
  return {to_input, to_weight, to_bias};
}

// --- matmul
namespace {

// (..., m, k) @ (k, n): one product of all rows.
Tensor rows_times_matrix(const Tensor& a, const Tensor& b) {
  Dims sizes(leading(a, 1));
  sizes.push_back(b.sizes()[1]);
  return ops::_unsafe_view(ops::mm(as_rows(a), b), sizes);
}

Tensor batches(const Tensor& a, const Tensor& b) {
  TAEDA_CHECK(a.sizes().back() == b.sizes()[b.dim() - 2], "the last size of self (", a.sizes().back(),
              ") must equal the second-to-last of other (", b.sizes()[b.dim() - 2], "); got shapes ", a.sizes(),
              " and ", b.sizes());
  Dims common = shape::broadcast_sizes(leading(a, 2), leading(b, 2));
  int64_t count = numel_of(common);
  auto flat = [&](const Tensor& t) {
    int64_t rows = t.size(-2), cols = t.size(-1);
    if (t.dim() == 3 && t.sizes()[0] == count) return t;
    Dims sizes(common);
    sizes.push_back(rows);
    sizes.push_back(cols);
    return ops::reshape(ops::expand(t, sizes), IntList({count, rows, cols}));
  };
  Tensor product = ops::bmm(flat(a), flat(b));
  if (common.size() == 1) return product;
  common.push_back(a.size(-2));
  common.push_back(b.size(-1));
  return ops::_unsafe_view(product, common);
}

}  // namespace

Tensor matmul(const Tensor& self, const Tensor& other) {
  int64_t d1 = self.dim(), d2 = other.dim();
  if (d1 == 2 && d2 == 2) [[likely]]
    return ops::mm(self, other);
  TAEDA_CHECK(d1 > 0 && d2 > 0, "self and other must have at least 1 dimension; got shapes ", self.sizes(), " and ",
              other.sizes());
  if (d1 == 1 && d2 == 1) return ops::dot(self, other);
  if (d1 == 1)
    return d2 == 2 ? ops::mv(ops::t(other), self) : ops::squeeze(ops::matmul(ops::unsqueeze(self, 0), other), -2);
  if (d2 == 1) {
    Tensor product = ops::mv(as_rows(self), other);
    return d1 == 2 ? product : ops::_unsafe_view(product, leading(self, 1));
  }
  if (d2 == 2 && self.is_contiguous()) {
    TAEDA_CHECK(self.sizes().back() == other.sizes()[0], "the last size of self (", self.sizes().back(),
                ") must equal the second-to-last of other (", other.sizes()[0], "); got shapes ", self.sizes(), " and ",
                other.sizes());
    return rows_times_matrix(self, other);
  }
  return batches(self, other);
}

// --- vectors
Tensor vdot(const Tensor& self, const Tensor& other) { return ops::dot(conj_of(self), other); }

Tensor outer(const Tensor& self, const Tensor& vec2) {
  TAEDA_CHECK(self.dim() == 1 && vec2.dim() == 1, "self and vec2 must be vectors; got shapes ", self.sizes(), " and ",
              vec2.sizes());
  return ops::mul(ops::unsqueeze(self, 1), vec2);
}

Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
  Tensor product = ops::outer(vec1, vec2);
  Dims common = shape::broadcast_sizes(self.sizes(), product.sizes());
  TAEDA_CHECK(std::ranges::equal(common, product.sizes()), "self of shape ", self.sizes(),
              " does not expand to the product's shape ", product.sizes());
  if (self.dtype() == DType::Bool && product.dtype() == DType::Bool) {  // factors count as true or false
    TAEDA_CHECK(alpha.category() <= Category::Integral && beta.category() <= Category::Integral,
                "alpha and beta must not be fractions for bool vectors; got alpha=", alpha, " and beta=", beta);
    if (alpha.equals(0)) product = ops::zeros_like(product);
    return beta.equals(0) ? product : ops::logical_or(self, product);
  }
  if (!alpha.equals(1)) product = ops::mul(product, alpha);
  if (beta.equals(0))
    return promote(self.dtype(), product.dtype()) == product.dtype()
               ? product
               : ops::_to_copy(product, promote(self.dtype(), product.dtype()));
  return ops::add(beta.equals(1) ? self : ops::mul(self, beta), product);  // laid out as self is
}

Tensor inner(const Tensor& self, const Tensor& other) {
  if (self.dim() == 0 || other.dim() == 0) return ops::mul(self, other);
  TAEDA_CHECK(self.sizes().back() == other.sizes().back(), "the last sizes of self and other must agree; got shapes ",
              self.sizes(), " and ", other.sizes());
  return ops::tensordot(self, other, kValues<int64_t, -1>, kValues<int64_t, -1>);
}

Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  TAEDA_CHECK(is_differentiable(x.dtype()) && is_differentiable(y.dtype()),
              "is for floating-point and complex tensors; got ", x.dtype(), " and ", y.dtype());
  return ops::sum(ops::mul(conj_of(x), y), IntList({dim}));
}

Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) {
  TAEDA_CHECK(self.dim() == other.dim(), "self and other must have as many dimensions; got shapes ", self.sizes(),
              " and ", other.sizes());
  TAEDA_CHECK(self.size(dim) == 3 && other.size(dim) == 3, "dimension ", dim,
              " of self and other must have size 3; got shapes ", self.sizes(), " and ", other.sizes());
  Tensor a[3], b[3];
  for (int64_t i = 0; i < 3; ++i) {
    a[i] = ops::select(self, dim, i);
    b[i] = ops::select(other, dim, i);
  }
  auto part = [&](int i, int j) { return ops::sub(ops::mul(a[i], b[j]), ops::mul(a[j], b[i])); };
  return ops::stack(std::array{part(1, 2), part(2, 0), part(0, 1)}, wrap_dim(dim, self.dim()));
}

Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  if (!dim) warn("taeda.cross without dim takes the first dimension of size 3; say dim, or use taeda.linalg.cross");
  for (int64_t d = 0; !dim && d < self.dim(); ++d)
    if (self.sizes()[d] == 3) dim = d;
  TAEDA_CHECK(dim, "no dimension of self has size 3; got shape ", self.sizes());
  return ops::linalg_cross(self, other, *dim);
}

// --- products of several
Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
  TAEDA_CHECK(batch1.dim() == 3 && batch2.dim() == 3 && batch1.sizes()[0] == batch2.sizes()[0] &&
                  batch1.sizes()[2] == batch2.sizes()[1],
              "batch1 and batch2 must have shapes (b, n, k) and (b, k, m); got ", batch1.sizes(), " and ",
              batch2.sizes());
  // The sum over the batch is one more dimension to contract.
  int64_t rows = batch1.sizes()[1], columns = batch2.sizes()[2], depth = batch1.sizes()[0] * batch1.sizes()[2];
  Tensor left = ops::reshape(ops::transpose(batch1, 0, 1), IntList({rows, depth}));
  bool whole = is_integral(self.dtype());  // as for baddbmm
  return ops::addmm(self, left, ops::reshape(batch2, IntList({depth, columns})), whole ? Scalar(beta.as_int()) : beta,
                    whole ? Scalar(alpha.as_int()) : alpha);
}

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias) {
  TAEDA_CHECK(weight.dim() == 3 && input1.dim() >= 1 && input1.dim() == input2.dim() &&
                  input1.sizes().back() == weight.sizes()[1] && input2.sizes().back() == weight.sizes()[2] &&
                  std::ranges::equal(leading(input1, 1), leading(input2, 1)),
              "needs inputs (..., in1) and (..., in2) and weight (out, in1, in2); got shapes ", input1.sizes(), ", ",
              input2.sizes(), " and ", weight.sizes());
  int64_t features = weight.sizes()[0], in1 = weight.sizes()[1], in2 = weight.sizes()[2];
  Tensor x1 = as_rows(input1), x2 = as_rows(input2);
  // (N, in1) @ (in1, out * in2), then each row's (out, in2) matrix with its second input.
  Tensor mixed = ops::mm(x1, ops::reshape(ops::transpose(weight, 0, 1), IntList({in1, features * in2})));
  Tensor result = ops::bmm(ops::reshape(mixed, IntList({x1.sizes()[0], features, in2})), ops::unsqueeze(x2, 2));
  Dims sizes(leading(input1, 1));
  sizes.push_back(features);
  result = ops::reshape(result, sizes);
  return bias.defined() ? ops::add(result, bias) : result;
}

Tensor kron(const Tensor& self, const Tensor& other) {
  size_t rank = static_cast<size_t>(std::max(self.dim(), other.dim()));
  Dims left, right, sizes;  // dimension i of the result is (self's, other's)
  for (size_t i = 0; i < rank; ++i) {
    int64_t at = static_cast<int64_t>(i) - static_cast<int64_t>(rank);
    int64_t a = -at <= self.dim() ? self.size(at) : 1, b = -at <= other.dim() ? other.size(at) : 1;
    left.push_back(a), left.push_back(1);
    right.push_back(1), right.push_back(b);
    sizes.push_back(a * b);
  }
  return ops::reshape(ops::mul(ops::reshape(self, left), ops::reshape(other, right)), sizes);
}

}  // namespace taeda::composite
