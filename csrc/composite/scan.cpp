// Gradients of running totals; differences and areas.
#include "shape/ops/scan.h"
#include "composite/records.h"
#include "shape/view_rules.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/join.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/predicate.h"
#include "taeda/ops/rearrange.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/scan.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

Tensor reverse_cumsum(const Tensor& self, int64_t dim) {
  if (self.dim() == 0 || self.numel() == 0) return ops::alias(self);
  const int64_t dims[] = {dim};
  return ops::flip(ops::cumsum(ops::flip(self, dims), dim), dims);
}

namespace {

bool any(const Tensor& mask) { return ops::is_nonzero(ops::any_anywhere(mask)); }

// A product without the factor at `position`, for every total that holds this factor: exact for zeros and
// differentiable to any order, at the cost of a pass per element.
Tensor gradient_by_leaving_out(const Tensor& grad, const Tensor& input, int64_t dim) {
  std::vector<Tensor> gradients;
  int64_t length = input.size(dim);
  for (int64_t k = 0; k < length; ++k) {
    Tensor before = ops::prod(ops::slice(input, dim, 0, k), dim, true);
    Tensor first = ops::ones_like(before);
    Tensor rest = k + 1 < length
                      ? ops::cat(std::array<Tensor, 2>{first, ops::cumprod(ops::slice(input, dim, k + 1), dim)}, dim)
                      : first;
    Tensor totals = ops::mul(before, rest);
    const int64_t along[] = {dim};
    gradients.push_back(ops::sum(ops::mul(ops::slice(grad, dim, k), totals), along, true));
  }
  return ops::cat(gradients, dim);
}

}  // namespace

// Before the first zero the totals divided by the element are the products of the others. The first zero has the
// totals with a one in its place; whatever follows it has none.
Tensor cumprod_backward(const Tensor& grad, const Tensor& input, int64_t dim, const Tensor& output) {
  if (input.dim() == 0 || input.numel() == 0) return ops::alias(grad);
  dim = wrap_dim(dim, input.dim());
  Tensor factors = input.dtype() == grad.dtype() ? input : ops::_to_copy(input, grad.dtype());
  Tensor zero = ops::eq(factors, Scalar(0));
  auto weighted = [&](const Tensor& totals) { return ops::reverse_cumsum(ops::mul(grad, ops::conj(totals)), dim); };
  if (!any(zero)) return ops::div(weighted(output), ops::conj(factors));
  if (may_record(factors, grad)) return gradient_by_leaving_out(grad, ops::conj(factors), dim);
  Tensor zeros_so_far = ops::cumsum(zero, dim);
  Tensor first = ops::logical_and(zero, ops::eq(zeros_so_far, Scalar(1)));
  Tensor before = ops::div(weighted(output), ops::conj(ops::masked_fill(factors, zero, Scalar(1))));
  Tensor at_first = weighted(ops::cumprod(ops::masked_fill(factors, first, Scalar(1)), dim));
  Tensor result = ops::where(first, at_first, before);
  return ops::masked_fill(result, ops::logical_and(ops::gt(zeros_so_far, Scalar(0)), ops::logical_not(first)),
                          Scalar(0));
}

Tensor logcumsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim) {
  if (grad.dim() == 0 || grad.numel() == 0) return ops::alias(grad);
  const int64_t dims[] = {dim};
  if (is_complex(grad.dtype())) {  // whose logarithm has no need of a sign
    Tensor amount = ops::sub(ops::log(ops::conj(grad)), result);
    Tensor total = ops::flip(ops::logcumsumexp(ops::flip(amount, dims), dim), dims);
    return ops::conj(ops::exp(ops::add(total, self)));
  }
  // Where all elements so far are minus infinity the total is no divisor: nothing comes from there.
  Tensor none = ops::eq(result, Scalar(-INFINITY));
  Tensor divisor = ops::masked_fill(result, none, Scalar(0));
  Tensor some = ops::logical_not(none), nothing = ops::full_like(grad, Scalar(-INFINITY)), one = ops::ones_like(grad);
  auto part = [&](const Tensor& amount, const Tensor& sign) {
    Tensor chosen = ops::logical_and(sign, some);
    Tensor log = ops::where(chosen, ops::log(ops::where(chosen, amount, one)), nothing);
    Tensor total = ops::flip(ops::logcumsumexp(ops::flip(ops::sub(log, divisor), dims), dim), dims);
    return ops::exp(ops::add(total, self));
  };
  return ops::sub(part(grad, ops::gt(grad, Scalar(0))), part(ops::neg(grad), ops::lt(grad, Scalar(0))));
}

Tensor diff(const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append) {
  TAEDA_CHECK(self.dim() > 0, "takes a tensor of one dimension or more; got a number");
  TAEDA_CHECK(n >= 0, "n must not be negative; got ", n);
  dim = wrap_dim(dim, self.dim());
  std::vector<Tensor> parts;
  for (const Tensor* part : {&prepend, &self, &append})
    if (part->defined()) {
      TAEDA_CHECK(part->dim() == self.dim(), "what is joined must have ", self.dim(), " dimensions; got shape ",
                  part->sizes());
      parts.push_back(*part);
    }
  if (n == 0) return ops::clone(self);  // nothing is joined either
  Tensor result = parts.size() > 1 ? ops::cat(parts, dim) : self;
  n = std::min(n, result.size(dim));
  for (int64_t i = 0; i < n; ++i) {
    int64_t length = result.size(dim);
    Tensor later = ops::slice(result, dim, 1), earlier = ops::slice(result, dim, 0, std::max<int64_t>(length - 1, 0));
    result = self.dtype() == DType::Bool ? ops::logical_xor(later, earlier) : ops::sub(later, earlier);
  }
  return result;
}

namespace {

// Sums of neighbours along `dim`.
Tensor pairs(const Tensor& y, int64_t dim) {
  int64_t last = std::max<int64_t>(y.size(dim) - 1, 0);
  return ops::add(ops::slice(y, dim, 1), ops::slice(y, dim, 0, last));
}

// The widths between places, in a shape that broadcasts with pairs of `y`.
Tensor widths(const Tensor& y, const Tensor& x, int64_t dim) {
  TAEDA_CHECK(x.dim() > 0, "x must have a dimension; got a number");
  if (x.dim() == 1) {
    TAEDA_CHECK(x.numel() == y.size(dim), "x must have ", y.size(dim), " places along dimension ", dim, "; got ",
                x.numel());
    std::vector<int64_t> sizes(static_cast<size_t>(y.dim()), 1);
    Tensor steps = ops::diff(x);
    sizes[wrap_dim(dim, y.dim())] = steps.numel();
    return ops::view(steps, sizes);
  }
  int64_t rank = std::max(x.dim(), y.dim()), from_end = y.dim() - wrap_dim(dim, y.dim());
  Tensor padded = x;
  while (padded.dim() < rank) padded = ops::unsqueeze(padded, 0);
  return ops::diff(padded, 1, rank - from_end);
}

void check_place(const Tensor& y) {
  TAEDA_CHECK(y.dim() > 0, "y must have a dimension to integrate along; got a number");
}

Tensor areas(const Tensor& y, const Tensor& x, int64_t dim) {
  check_place(y);
  return ops::mul(ops::mul(pairs(y, dim), widths(y, x, dim)), Scalar(0.5));
}

int64_t from_end(const Tensor& y, int64_t dim) { return wrap_dim(dim, y.dim()) - y.dim(); }

}  // namespace

Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  Tensor parts = areas(y, x, dim);
  const int64_t along[] = {from_end(y, dim)};
  return ops::sum(parts, along);
}

Tensor trapezoid(const Tensor& y, const Scalar& dx, int64_t dim) {
  check_place(y);
  const int64_t along[] = {dim};
  return ops::mul(ops::mul(ops::sum(pairs(y, dim), along), dx), Scalar(0.5));
}

Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  Tensor parts = areas(y, x, dim);
  return ops::cumsum(parts, from_end(y, dim));
}

Tensor cumulative_trapezoid(const Tensor& y, const Scalar& dx, int64_t dim) {
  check_place(y);
  return ops::cumsum(ops::mul(pairs(y, dim), dx.category() == Category::Complex ? Scalar(dx.to<complex128>() * 0.5)
                                                                                : Scalar(dx.as_double() * 0.5)),
                     dim);
}

}  // namespace taeda::composite
