// Ranges that are watched, and the scales that follow from them.
#include "composite/ops/fake_quantize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "composite/number.h"
#include "core/elements.h"
#include "shape/qparams.h"
#include "shape/spec.h"
#include "taeda/core/half.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/fake_quantize.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"
#include "taeda/ops/view_inplace.h"

namespace taeda::composite {

using shape::Dims;

namespace {

Tensor on_cpu(const Tensor& t) {
  return ops::contiguous(ops::_to_copy(t, DType::Float32, {}, Device(DeviceType::CPU)));
}

// The extrema of `self`, or of each of its slices along `axis`, one after the other.
std::pair<Tensor, Tensor> extrema(const Tensor& self, bool per_row, int64_t axis) {
  if (!per_row) {
    auto [low, high] = ops::aminmax(self);
    return {ops::reshape(low, Dims{1}), ops::reshape(high, Dims{1})};
  }
  const Tensor rows = ops::reshape(ops::transpose(self, 0, axis), Dims{self.size(axis), -1});
  auto [low, high] = ops::aminmax(rows, 1);
  return {low, high};
}

// A running extremum moves towards that of `self`; one that is still infinite, or empty, becomes it.
void move(const Tensor& running, const Tensor& now, double averaging_const) {
  const Tensor old = on_cpu(running), fresh = on_cpu(now);
  const float* seen = elements<float>(fresh);
  float* kept = old.data<float>();
  for (int64_t i = 0; i < old.numel(); ++i)
    kept[i] = std::isinf(kept[i]) ? seen[i] : kept[i] + static_cast<float>(averaging_const) * (seen[i] - kept[i]);
  ops::copy_(running, old);
}

// The ranges and what follows from them: as many numbers each as there are channels, or one.
void check_ranges(const Tensor& running_min, const Tensor& running_max, const Tensor& scale, const Tensor& zero_point,
                  int64_t count) {
  for (auto [tensor, name] : {std::pair{&running_min, "running_min"}, {&running_max, "running_max"}})
    TAEDA_CHECK(tensor->dtype() == DType::Float32, name, " must be float32; got ", tensor->dtype());
  for (auto [tensor, name] : {std::pair{&running_min, "running_min"},
                              {&running_max, "running_max"},
                              {&scale, "scale"},
                              {&zero_point, "zero_point"}})
    TAEDA_CHECK(tensor->numel() == count, name, " must have ", count, " element", count == 1 ? "" : "s", ", one for ",
                count == 1 ? "all of self" : "each channel", "; got shape ", tensor->sizes());
}

// Makes room for so many channels, of which nothing was seen.
void resize_all(int64_t channels, const Tensor& running_min, const Tensor& running_max, const Tensor& scale,
                const Tensor& zero_point) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (auto [tensor, value] :
       {std::pair{&running_min, kInfinity}, {&running_max, -kInfinity}, {&scale, 1.0}, {&zero_point, 0.0}}) {
    ops::resize_(*tensor, Dims{channels});
    ops::fill_(*tensor, Scalar(value));
  }
}

struct Levels {
  int64_t least, most;
  bool symmetric;
};

void set_qparams(const Tensor& running_min, const Tensor& running_max, const Tensor& scale, const Tensor& zero_point,
                 const Levels& levels) {
  const Tensor low = on_cpu(running_min), high = on_cpu(running_max);
  Tensor scales = ops::empty_like(low), zeros = ops::empty_like(low);
  for (int64_t i = 0; i < low.numel(); ++i) {
    const shape::QParams chosen = shape::choose_qparams(elements<float>(low)[i], elements<float>(high)[i], levels.least,
                                                        levels.most, levels.symmetric, shape::Scale::Single);
    scales.data<float>()[i] = static_cast<float>(chosen.scale);
    zeros.data<float>()[i] = static_cast<float>(chosen.zero_point);
  }
  ops::copy_(scale, scales);
  ops::copy_(zero_point, zeros);
}

}  // namespace

std::tuple<Tensor, Tensor> _fused_moving_avg_obs_fq_helper(const Tensor& self, const Tensor& observer_on,
                                                           const Tensor& fake_quant_on, const Tensor& running_min,
                                                           const Tensor& running_max, const Tensor& scale,
                                                           const Tensor& zero_point, double averaging_const,
                                                           int64_t quant_min, int64_t quant_max, int64_t ch_axis,
                                                           bool per_row_fake_quant, bool symmetric_quant) {
  TAEDA_CHECK(!per_row_fake_quant || (ch_axis >= 0 && ch_axis < self.dim()), "ch_axis must be from 0 to ",
              self.dim() - 1, " for channels with scales of their own; got ", ch_axis);
  TAEDA_CHECK(self.dtype() == DType::Float32, "self must be float32; got ", self.dtype());
  TAEDA_CHECK(quant_min < quant_max && quant_min >= INT32_MIN && quant_max <= INT32_MAX,
              "quant_min must be below quant_max, both of 32 bits; got ", quant_min, " and ", quant_max);
  if (per_row_fake_quant && running_min.numel() == 0)
    resize_all(self.size(ch_axis), running_min, running_max, scale, zero_point);
  check_ranges(running_min, running_max, scale, zero_point, per_row_fake_quant ? self.size(ch_axis) : 1);
  if (number_of(observer_on).as_double() != 0) {
    auto [low, high] = extrema(self, per_row_fake_quant, ch_axis);
    move(running_min, low, averaging_const);
    move(running_max, high, averaging_const);
  }
  if (number_of(fake_quant_on).as_double() == 0) return {ops::clone(self), ops::ones_like(self, DType::Bool)};
  set_qparams(running_min, running_max, scale, zero_point, {quant_min, quant_max, symmetric_quant});
  if (per_row_fake_quant)
    return ops::fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, ch_axis, quant_min, quant_max);
  return ops::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(self, scale, zero_point, fake_quant_on,
                                                                        quant_min, quant_max);
}

std::tuple<double, int64_t> _choose_qparams_per_tensor(const Tensor& self, bool reduce_range) {
  TAEDA_CHECK(self.numel() > 0, "an empty tensor has no range");
  auto [low, high] = ops::aminmax(self);
  const shape::QParams chosen = shape::choose_qparams(static_cast<float>(number_of(low).as_double()),
                                                      static_cast<float>(number_of(high).as_double()), 0,
                                                      reduce_range ? 127 : 255, false, shape::Scale::Double);
  return {chosen.scale, chosen.zero_point};
}

namespace {

constexpr int64_t kLanes = 8;  // in which the search sums, so that it decides between equals as PyTorch's does

float as_half(float x) { return static_cast<float>(Half(x)); }

// The distance between `x` and its nearest of `levels + 1` values from `low` to `high`, as tables store them: the
// lowest and the step in half precision.
float distance(const float* x, int64_t count, float low, float high, float levels) {
  low = as_half(low);
  const float range = high - low, scale = range == 0 ? 1 : as_half(range / levels), inverse = 1 / scale;
  float lanes[kLanes] = {}, rest = 0;
  const int64_t whole = count / kLanes * kLanes;
  for (int64_t i = 0; i < count; ++i) {
    const float level = std::fmin(std::fmax(std::nearbyint((x[i] - low) * inverse), 0.0f), levels);
    const float error = x[i] - (level * scale + low), square = error * error;
    if (i == whole) rest = std::accumulate(lanes, lanes + kLanes, 0.0f);
    (i < whole ? lanes[i % kLanes] : rest) += square;
  }
  return std::sqrt(whole == count ? std::accumulate(lanes, lanes + kLanes, 0.0f) : rest);
}

}  // namespace

std::tuple<Tensor, Tensor> choose_qparams_optimized(const Tensor& input, int64_t numel, int64_t n_bins, double ratio,
                                                    int64_t bit_width) {
  TAEDA_CHECK(numel > 0 && numel <= input.numel(), "numel must be from 1 to the number of elements of input, ",
              input.numel(), "; got ", numel);
  TAEDA_CHECK(n_bins > 0 && bit_width > 0 && bit_width < 32, "there must be bins and levels; got n_bins=", n_bins,
              " and bit_width=", bit_width);
  TAEDA_CHECK(ratio >= 0 && ratio <= 1, "ratio must be from 0 to 1; got ", ratio);
  const Tensor values = on_cpu(input);
  const float* x = elements<float>(values);
  const auto levels = static_cast<float>((int64_t{1} << bit_width) - 1);
  float low = *std::min_element(x, x + numel), high = *std::max_element(x, x + numel);
  const float step = (high - low) / static_cast<float>(n_bins);
  const float kept = static_cast<float>(n_bins) * (1 - static_cast<float>(ratio)) * step;
  float best_low = low, best_high = high, best = std::numeric_limits<float>::infinity();
  float now = distance(x, numel, low, high, levels);
  while (low + kept < high) {
    const float from_low = distance(x, numel, low + step, high, levels),
                from_high = distance(x, numel, low, high - step, levels);
    if (now < from_low && now < from_high && now < best) {  // only where both ways lead to worse
      best = now;
      best_low = low;
      best_high = high;
    }
    float& end = from_low < from_high ? low : high;
    const float before = end;
    end += from_low < from_high ? step : -step;
    if (end == before) break;  // a bin is less than the floats' distance there
    now = from_low < from_high ? from_low : from_high;
  }
  Tensor largest = ops::empty(Dims{1}, DType::Float32), smallest = ops::empty(Dims{1}, DType::Float32);
  *largest.data<float>() = best_high;
  *smallest.data<float>() = best_low;
  return {largest, smallest};
}

}  // namespace taeda::composite
