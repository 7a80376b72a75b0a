// Dropout by random masks.
#include <cmath>

#include "shape/ops/dropout.h"
#include "shape/spec.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/create.h"
#include "taeda/ops/dropout.h"
#include "taeda/ops/random.h"

namespace taeda::composite {

namespace {

bool is_active(const Tensor& input, double p, bool train) {
  TAEDA_CHECK(p >= 0 && p <= 1, "the probability must be from 0 to 1; got p=", p);
  return train && p > 0 && input.numel() > 0;
}

// One draw per element, or per channel of (N, C, ...).
Tensor keep_mask(const Tensor& input, double p, bool per_channel) {
  Tensor mask;
  if (per_channel) {
    TAEDA_CHECK(input.dim() >= 2, "channels need an input of at least 2 dimensions; got ", input.dim());
    shape::Dims sizes{input.size(0), input.size(1)};
    for (int64_t d = 2; d < input.dim(); ++d) sizes.push_back(1);
    mask = ops::empty(sizes, input.dtype(), {}, input.device());
  } else {
    mask = ops::empty_like(input);
  }
  ops::bernoulli_(mask, 1 - p);
  return mask;
}

Tensor feature_scale(const Tensor& input, double p) {
  Tensor scale = keep_mask(input, p, true);
  ops::div_(scale, Scalar(1 - p));
  return scale;
}

struct Affine {
  Tensor scale, shift;
};
Affine alpha_mask(const Tensor& input, double p, bool per_channel) {
  constexpr double kAlpha = 1.7580993408473766;  // minus the limit of SELU at minus infinity
  double a = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  Tensor scale = keep_mask(input, p, per_channel);
  Tensor shift = ops::add(scale, Scalar(-1));
  ops::mul_(shift, Scalar(kAlpha * a));
  ops::add_(shift, Scalar(kAlpha * a * p));
  ops::mul_(scale, Scalar(a));
  return {scale, shift};
}

Tensor alpha(const Tensor& input, double p, bool train, bool per_channel) {
  if (!is_active(input, p, train)) return input;
  if (p == 1) return ops::mul(input, Scalar(0));
  auto [scale, shift] = alpha_mask(input, p, per_channel);
  return ops::add(ops::mul(input, scale), shift);
}
void alpha_inplace(const Tensor& self, double p, bool train, bool per_channel) {
  if (!is_active(self, p, train)) return;
  if (p == 1) return ops::mul_(self, Scalar(0));
  auto [scale, shift] = alpha_mask(self, p, per_channel);
  ops::mul_(self, scale);
  ops::add_(self, shift);
}

}  // namespace

Tensor dropout(const Tensor& input, double p, bool train) {
  if (!is_active(input, p, train)) return input;
  if (p == 1) return ops::mul(input, Scalar(0));
  return std::get<0>(ops::native_dropout(input, p, true));
}
void dropout_(const Tensor& self, double p, bool train) {
  if (!is_active(self, p, train)) return;
  if (p == 1) return ops::mul_(self, Scalar(0));
  Tensor scale = keep_mask(self, p, false);
  ops::div_(scale, Scalar(1 - p));
  ops::mul_(self, scale);
}

Tensor dropout_backward(const Tensor& grad, const Tensor& mask, double p, std::optional<bool> train) {
  double scale = !train.value_or(true) ? 1 : p == 1 ? 0 : 1 / (1 - p);
  return ops::native_dropout_backward(grad, mask, scale);
}

Tensor feature_dropout(const Tensor& input, double p, bool train) {
  if (!is_active(input, p, train)) return input;
  if (p == 1) return ops::mul(input, Scalar(0));
  return ops::mul(input, feature_scale(input, p));
}
void feature_dropout_(const Tensor& self, double p, bool train) {
  if (!is_active(self, p, train)) return;
  if (p == 1) return ops::mul_(self, Scalar(0));
  ops::mul_(self, feature_scale(self, p));
}

Tensor alpha_dropout(const Tensor& input, double p, bool train) { return alpha(input, p, train, false); }
void alpha_dropout_(const Tensor& self, double p, bool train) { alpha_inplace(self, p, train, false); }
Tensor feature_alpha_dropout(const Tensor& input, double p, bool train) { return alpha(input, p, train, true); }
void feature_alpha_dropout_(const Tensor& self, double p, bool train) { alpha_inplace(self, p, train, true); }

}  // namespace taeda::composite
