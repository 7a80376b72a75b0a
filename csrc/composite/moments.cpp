// Variances and their kind, and the logarithm of a sum of exponentials: real numbers have a loop of their own, complex
// ones are pairs of these.
#include "composite/number.h"
#include "composite/ops/reduce.h"
#include "taeda/core/warn.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/derivative.h"
#include "taeda/ops/linalg.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

using Dimensions = std::optional<IntList>;
using Correction = std::optional<Scalar>;
using Pair = std::tuple<Tensor, Tensor>;

void warn_without_freedom(const Tensor& self, const Tensor& result, const Correction& given, std::string_view name) {
  if (result.numel() == 0) return;
  double count = static_cast<double>(self.numel()) / static_cast<double>(result.numel());
  double correction = given ? given->as_double() : 1;
  if (count <= correction)
    warn(str("taeda.", name, ": no degrees of freedom are left of ", count, " elements with correction=", correction));
}

// A complex tensor as real pairs along a new last dimension, which stays when the others are reduced.
struct Parts {
  Tensor tensor;
  std::vector<int64_t> dims;
  bool keepdim;

  Parts(const Tensor& self, const Dimensions& dim, bool keep) : keepdim(keep && self.dim() > 0) {
    if (self.dim() == 0) {
      tensor = ops::view_as_real(ops::unsqueeze(self, 0));
      dims = {0};
      return;
    }
    tensor = ops::view_as_real(self);
    bool all = !dim || dim->empty();
    for (int64_t d = 0; all && d < self.dim(); ++d) dims.push_back(d);
    for (size_t i = 0; !all && i < dim->size(); ++i) dims.push_back(wrap_dim((*dim)[i], self.dim()));
  }
};

Tensor both_parts(const Tensor& of_parts) { return ops::sum(of_parts, kValues<int64_t, -1>); }

Tensor variance(const Tensor& self, const Dimensions& dim, const Correction& correction, bool keepdim) {
  Parts parts(self, dim, keepdim);
  return both_parts(ops::_var_of_real(parts.tensor, IntList(parts.dims), correction, parts.keepdim));
}

Pair variance_and_mean(const Tensor& self, const Dimensions& dim, const Correction& correction, bool keepdim) {
  Parts parts(self, dim, keepdim);
  auto [var, mean] = ops::_var_mean_of_real(parts.tensor, IntList(parts.dims), correction, parts.keepdim);
  return {both_parts(var), ops::view_as_complex(mean)};
}

}  // namespace

Tensor var(const Tensor& self, Dimensions dim, const Correction& correction, bool keepdim) {
  Tensor result = is_complex(self.dtype()) ? variance(self, dim, correction, keepdim)
                                           : ops::_var_of_real(self, dim, correction, keepdim);
  warn_without_freedom(self, result, correction, "var");
  return result;
}

Tensor std(const Tensor& self, Dimensions dim, const Correction& correction, bool keepdim) {
  Tensor result = is_complex(self.dtype()) ? ops::sqrt(variance(self, dim, correction, keepdim))
                                           : ops::_std_of_real(self, dim, correction, keepdim);
  warn_without_freedom(self, result, correction, "std");
  return result;
}

Pair var_mean(const Tensor& self, Dimensions dim, const Correction& correction, bool keepdim) {
  Pair result = is_complex(self.dtype()) ? variance_and_mean(self, dim, correction, keepdim)
                                         : ops::_var_mean_of_real(self, dim, correction, keepdim);
  warn_without_freedom(self, std::get<0>(result), correction, "var_mean");
  return result;
}

Pair std_mean(const Tensor& self, Dimensions dim, const Correction& correction, bool keepdim) {
  Pair result;
  if (is_complex(self.dtype())) {
    auto [var, mean] = variance_and_mean(self, dim, correction, keepdim);
    result = {ops::sqrt(var), mean};
  } else {
    result = ops::_std_mean_of_real(self, dim, correction, keepdim);
  }
  warn_without_freedom(self, std::get<0>(result), correction, "std_mean");
  return result;
}

// A correction above the count turns the sign, as it does in PyTorch.
Tensor var_backward(const Tensor& grad, const Tensor& self, Dimensions dim, const Correction& correction,
                    bool keepdim) {
  double count = grad.numel() ? static_cast<double>(self.numel()) / static_cast<double>(grad.numel()) : 0;
  double divisor = count - (correction ? correction->as_double() : 1.0);
  Tensor deviation = ops::sub(self, ops::mean(self, dim, true));
  return ops::mul(ops::mul(ops::unreduce(grad, self.sizes(), dim, keepdim), deviation), Scalar(2.0 / divisor));
}

// --- covariances
namespace {

void check_weights(const Tensor& weights, const Tensor& rows, bool right_dtype, std::string_view name) {
  if (!weights.defined()) return;
  TAEDA_CHECK(right_dtype, name, " must be ", name == "fweights" ? "integers" : "floating-point numbers", "; got ",
              weights.dtype());
  TAEDA_CHECK(weights.dim() <= 1 && weights.numel() == rows.size(1), name, " must hold one weight for each of the ",
              rows.size(1), " observations; got shape ", weights.sizes());
  if (weights.numel() == 0 || weights.device().type == DeviceType::Meta) return;
  TAEDA_CHECK(number_of(ops::min(ops::detach(weights))).as_double() >= 0, name, " must not be negative");
}

bool is_meta(const Tensor& t) { return t.device().type == DeviceType::Meta; }

}  // namespace

Tensor cov(const Tensor& self, int64_t correction, const Tensor& fweights, const Tensor& aweights) {
  TAEDA_CHECK(self.dim() <= 2, "takes a matrix or less; got shape ", self.sizes());
  TAEDA_CHECK(self.dtype() != DType::Bool, "is not for bool tensors");
  Tensor rows = self.dim() == 2 ? self : ops::reshape(self, IntList({1, self.numel()}));
  check_weights(fweights, rows, fweights.defined() && is_integral(fweights.dtype()), "fweights");
  check_weights(aweights, rows, aweights.defined() && is_floating(aweights.dtype()), "aweights");
  bool weighted = fweights.defined() || aweights.defined();
  Tensor weights = !aweights.defined() ? fweights : fweights.defined() ? ops::mul(fweights, aweights) : aweights;
  DType count_dtype = is_differentiable(self.dtype()) ? DType::Float64 : default_dtype();
  Tensor total =
      weighted ? ops::sum(weights) : ops::scalar_tensor(Scalar(rows.size(1)), count_dtype, std::nullopt, self.device());
  TAEDA_CHECK(!weighted || is_meta(self) || number_of(ops::detach(total)).as_double() != 0, "the weights sum to zero");
  auto with_weights = [&](const Tensor& t) { return weighted ? ops::mul(t, weights) : t; };
  Tensor deviations = ops::sub(rows, ops::div(ops::sum(with_weights(rows), kValues<int64_t, 1>, true), total));
  // Observations that count less than others take away less than `correction` whole ones.
  Tensor lost = aweights.defined() ? ops::div(ops::sum(ops::mul(weights, aweights)), total) : Tensor();
  Tensor divisor =
      lost.defined() ? ops::sub(total, ops::mul(lost, Scalar(correction))) : ops::sub(total, Scalar(correction));
  if (!is_meta(self) && number_of(ops::detach(divisor)).as_double() <= 0) {
    warn("taeda.cov: no degrees of freedom are left");
    divisor = ops::zeros_like(divisor);
  }
  Tensor other = with_weights(deviations);
  if (other.dtype() != deviations.dtype()) deviations = ops::_to_copy(deviations, other.dtype());
  return ops::squeeze(ops::div(ops::mm(deviations, ops::adjoint(other)), divisor));
}

Tensor corrcoef(const Tensor& self) {
  TAEDA_CHECK(self.dim() <= 2, "takes a matrix or less; got shape ", self.sizes());
  Tensor c = ops::cov(self);
  if (c.dim() == 0) return ops::div(c, c);
  Tensor variances = ops::diagonal(c);
  Tensor deviations = ops::sqrt(is_complex(c.dtype()) ? ops::real(variances) : variances);
  c = ops::div(ops::div(c, ops::unsqueeze(deviations, 1)), deviations);
  auto limited = [](const Tensor& t) { return ops::clamp(t, Scalar(-1), Scalar(1)); };
  return is_complex(c.dtype()) ? ops::complex(limited(ops::real(c)), limited(ops::imag(c))) : limited(c);
}

// --- exponentials
// The largest real part is taken out of the exponents, unless it is infinite.
Tensor logsumexp(const Tensor& given, IntList dim, bool keepdim) {
  Tensor self = is_differentiable(given.dtype()) ? given : ops::_to_copy(given, default_dtype());
  if (self.numel() == 0) return ops::log(ops::sum(ops::exp(self), dim, keepdim));
  Tensor top = ops::amax(is_complex(self.dtype()) ? ops::real(self) : self, dim, true);
  Tensor finite = ops::where(ops::isinf(top), Scalar(0), top);
  Tensor total = ops::log(ops::sum(ops::exp(ops::sub(self, finite)), dim, keepdim));
  return ops::add(total, ops::reshape(finite, total.sizes()));
}

}  // namespace taeda::composite
