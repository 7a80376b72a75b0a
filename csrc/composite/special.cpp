// What is made of the gamma function, and floating-point numbers taken apart.
#include "shape/ops/special.h"

#include "shape/spec.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/special.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

// pi^(p (p - 1) / 4) times the product of gamma(x - j / 2) over j < p.
Tensor mvlgamma(const Tensor& self, int64_t p) {
  TAEDA_CHECK(p >= 1, "the dimension p must be at least 1; got ", p);
  const DType type = is_floating(self.dtype()) ? self.dtype() : default_dtype();
  Tensor halves = ops::mul(ops::arange(Scalar(p), type, {}, self.device()), Scalar(0.5));
  Tensor factors = ops::lgamma(ops::sub(ops::unsqueeze(self, -1), halves));
  const double dims = static_cast<double>(p), log_pi = 1.1447298858494002;
  return ops::add(ops::sum(factors, shape::Dims{-1}), Scalar(dims * (dims - 1) / 4 * log_pi));
}

std::tuple<Tensor, Tensor> frexp(const Tensor& self) {
  TAEDA_CHECK(is_floating(self.dtype()), "takes floating-point numbers; got ", self.dtype());
  auto [mantissa, exponent] = ops::_frexp(self);
  return {mantissa, ops::to(exponent, DType::Int32)};
}

}  // namespace taeda::composite
