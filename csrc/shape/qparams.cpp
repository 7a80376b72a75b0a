#include "shape/qparams.h"

#include <algorithm>
#include <cmath>

namespace taeda::shape {

namespace {

constexpr float kLeastScale = 6.1e-5f;

struct Range {
  float low, high;
};

// Around zero, where the lower side has one level more.
Range around_zero(Range range, int64_t levels) {
  const float below = static_cast<float>(-(levels / 2 + 1)), above = static_cast<float>(levels / 2);
  const double scale = std::max(std::fabs(range.low / below), std::fabs(range.high / above));
  return {static_cast<float>(scale * below), static_cast<float>(scale * above)};
}

// The range that goes with the least scale in place of `scale`.
Range widened(Range range, double scale, int64_t levels) {
  if (range.low == 0) return {0, kLeastScale * static_cast<float>(levels)};
  if (range.high == 0) return {-kLeastScale * static_cast<float>(levels), 0};
  const float factor = kLeastScale / static_cast<float>(scale);
  return {range.low * factor, range.high * factor};
}

}  // namespace

QParams choose_qparams(float low, float high, int64_t quant_min, int64_t quant_max, bool symmetric, Scale precision) {
  const int64_t levels = quant_max - quant_min;
  Range range{std::min(low, 0.0f), std::max(high, 0.0f)};
  const bool centred = symmetric && range.low < 0 && range.high > 0;
  if (centred) range = around_zero(range, levels);
  double scale = (static_cast<double>(range.high) - range.low) / static_cast<double>(levels);
  const float narrow = static_cast<float>(scale);
  if (narrow == 0 || std::isinf(1 / narrow)) scale = 0.1;
  if (scale < kLeastScale) {
    range = widened(range, scale, levels);
    scale = kLeastScale;
  }
  if (precision == Scale::Single) scale = static_cast<float>(scale);
  // The end whose rounding errs less says where zero lies.
  const double least = static_cast<double>(quant_min), most = static_cast<double>(quant_max);
  const double from_low = least - range.low / scale, from_high = most - range.high / scale;
  const double error_low = std::fabs(least) + std::fabs(range.low / scale),
               error_high = std::fabs(most) + std::fabs(range.high / scale);
  double zero = error_low < error_high ? from_low : from_high;
  if (centred) zero = (least + most) / 2;
  return {scale, static_cast<int32_t>(std::nearbyint(std::fmin(std::fmax(zero, least), most)))};
}

}  // namespace taeda::shape
