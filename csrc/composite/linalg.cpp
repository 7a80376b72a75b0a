// Products that are made of others.
#include "composite/ops/linalg.h"
#include "shape/elementwise.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
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

Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
  Tensor product = ops::outer(vec1, vec2);
  Dims common = shape::broadcast_sizes(self.sizes(), product.sizes());
  TAEDA_CHECK(std::ranges::equal(common, product.sizes()), "self of shape ", self.sizes(),
              " does not expand to the product's shape ", product.sizes());
  TAEDA_CHECK((alpha.kind() != Scalar::Kind::Bool && beta.kind() != Scalar::Kind::Bool) ||
                  promote(self.dtype(), product.dtype()) == DType::Bool,
              "alpha and beta may be bools for bool tensors only; got alpha=", alpha, " and beta=", beta);
  TAEDA_CHECK(!is_integral(promote(self.dtype(), product.dtype())) ||
                  (alpha.category() <= Category::Integral && beta.category() <= Category::Integral),
              "alpha and beta must be integers for tensors of integers; got alpha=", alpha, " and beta=", beta);
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

}  // namespace taeda::composite
