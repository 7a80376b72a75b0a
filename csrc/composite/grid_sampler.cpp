// The points of affine maps, and the gradients of sampling written with differentiable ops. The fused gradients are in
// csrc/backend/cpu/grid_sampler.cpp, which says what taps are.
#include <array>

#include "composite/ops/grid_sampler.h"
#include "composite/records.h"
#include "shape/sampling_rules.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/grid_sampler.h"
#include "taeda/ops/join.h"
#include "taeda/ops/linalg.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/scatter.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

using shape::Dims;

enum Interpolation : int64_t { kGridLinear, kGridNearest, kGridCubic };
enum Padding : int64_t { kZeros, kBorder, kReflection };

// Pixels, as whole numbers of the grid's dtype, their weights and the slopes of these over the grid's coordinate.
struct Along {
  std::vector<Tensor> pixel, weight, slope;
};

struct Place {
  Tensor at, slope;
};

Tensor shifted(const Tensor& x, double scale, double shift) {
  return ops::add(ops::mul(x, Scalar(scale)), Scalar(shift));
}

Place clipped(const Place& p, double last) {
  Tensor inside = ops::logical_and(ops::gt(p.at, Scalar(0)), ops::lt(p.at, Scalar(last)));
  return {ops::clamp(p.at, Scalar(0.0), Scalar(last)), ops::mul(p.slope, inside)};
}

Place reflected(const Place& p, double low, double span) {
  if (span == 0) return {ops::mul(p.at, Scalar(0)), ops::mul(p.slope, Scalar(0))};
  Tensor from = ops::fmod(ops::abs(shifted(p.at, 1, -low)), Scalar(2 * span));
  Tensor turned = ops::gt(from, Scalar(span)), back = ops::logical_xor(ops::lt(p.at, Scalar(low)), turned);
  return {ops::where(turned, shifted(from, -1, 2 * span + low), shifted(from, 1, low)),
          ops::where(back, ops::neg(p.slope), p.slope)};
}

struct Sampling {
  int64_t interpolation, padding;
  bool align_corners;

  Place padded(Place p, int64_t size) const {
    if (padding == kReflection)
      p = reflected(p, align_corners ? 0 : -0.5, static_cast<double>(align_corners ? size - 1 : size));
    return padding == kZeros ? p : clipped(p, static_cast<double>(size - 1));
  }

  Along along(const Tensor& coordinate, int64_t size) const {
    const double half = static_cast<double>(align_corners ? size - 1 : size) / 2;
    Place p{shifted(coordinate, half, align_corners ? half : half - 0.5), ops::full_like(coordinate, Scalar(half))};
    if (interpolation == kGridCubic) return cubics(p, size);
    p = padded(p, size);
    if (interpolation == kGridNearest) {
      Tensor pixel = ops::detach(ops::round(p.at));
      return {{pixel}, {ops::ones_like(pixel)}, {ops::zeros_like(pixel)}};
    }
    Tensor low = ops::detach(ops::floor(p.at)), share = ops::sub(p.at, low);
    return {{low, shifted(low, 1, 1)}, {shifted(share, -1, 1), share}, {ops::neg(p.slope), p.slope}};
  }

  // Keys' cubic convolution kernel: one polynomial within a pixel of the place, another beyond.
  Along cubics(const Place& p, int64_t size) const {
    constexpr double a = -0.75;
    Along result;
    Tensor low = ops::detach(ops::floor(p.at)), share = ops::sub(p.at, low);
    for (int k = -1; k <= 2; ++k) {
      const double sign = k < 1 ? 1 : -1;
      const bool near = k == 0 || k == 1;
      Tensor x = shifted(share, sign, -sign * k), square = ops::mul(x, x);
      const std::array<double, 4> c =
          near ? std::array{1.0, 0.0, -(a + 3), a + 2} : std::array{-4 * a, 8 * a, -5 * a, a};
      Tensor weight = ops::add(shifted(x, c[1], c[0]), ops::mul(square, shifted(x, c[3], c[2])));
      Tensor slope = ops::add(shifted(x, 2 * c[2], c[1]), ops::mul(square, Scalar(3 * c[3])));
      Tensor pixel = shifted(low, 1, k);
      result.pixel.push_back(padded({pixel, pixel}, size).at);
      result.weight.push_back(weight);
      result.slope.push_back(ops::mul(slope, ops::mul(p.slope, Scalar(sign))));
    }
    return result;
  }
};

// The sums over all taps, of the flattened image (N, C, area) and points (N, P).
struct GridGradients {
  Tensor grad, image;
  std::vector<Along> axes;  // the last dimension first, as in the grid
  Dims sizes;               // of the image, likewise
  Tensor to_image;
  std::vector<Tensor> to_grid;

  void run() {
    to_image = ops::zeros_like(image);
    to_grid.assign(axes.size(), {});
    std::vector<size_t> taps(axes.size(), 0);
    size_t d = 0;
    while (d < taps.size()) {
      add(taps);
      for (d = 0; d < taps.size() && ++taps[d] == axes[d].pixel.size(); ++d) taps[d] = 0;
    }
  }

 private:
  void add(const std::vector<size_t>& taps) {
    Tensor position, inside;
    int64_t step = 1;
    for (size_t d = 0; d < taps.size(); ++d) {
      const Tensor& pixel = axes[d].pixel[taps[d]];
      Tensor here = ops::logical_and(ops::ge(pixel, Scalar(0)), ops::lt(pixel, Scalar(sizes[d])));
      Tensor offset = ops::mul(ops::to(pixel, DType::Int64), Scalar(step));
      inside = d ? ops::logical_and(inside, here) : here;
      position = d ? ops::add(position, offset) : offset;
      step *= sizes[d];
    }
    position =
        ops::expand(ops::unsqueeze(ops::masked_fill(position, ops::logical_not(inside), Scalar(0)), 1), grad.sizes());
    Tensor outside = ops::logical_not(inside);
    Tensor weight = ops::masked_fill(product(taps, taps.size()), outside, Scalar(0));
    to_image = ops::scatter_add(to_image, 2, position, ops::mul(grad, ops::unsqueeze(weight, 1)));
    Tensor value = ops::sum(ops::mul(grad, ops::gather(image, 2, position)), Dims{1});
    for (size_t d = 0; d < taps.size(); ++d) {
      Tensor slope = ops::masked_fill(product(taps, d), outside, Scalar(0)), part = ops::mul(value, slope);
      to_grid[d] = to_grid[d].defined() ? ops::add(to_grid[d], part) : part;
    }
  }

  // The tap's weight, or its slope along dimension `sloped`.
  Tensor product(const std::vector<size_t>& taps, size_t sloped) const {
    Tensor result;
    for (size_t d = 0; d < taps.size(); ++d) {
      const Tensor& factor = (d == sloped ? axes[d].slope : axes[d].weight)[taps[d]];
      result = d ? ops::mul(result, factor) : factor;
    }
    return result;
  }
};

using Pair = std::tuple<Tensor, Tensor>;

Pair gradients(const Tensor& grad, const Tensor& input, const Tensor& grid, const Sampling& sampling,
               IntList output_mask, int64_t rank) {
  shape::check_grid(input, grid, rank);
  Pair both;
  if (may_record(grad, input, grid)) {
    GridGradients sums{ops::flatten(grad, 2), ops::flatten(input, 2), {}, {}, {}, {}};
    for (int64_t d = 0; d < rank; ++d) {
      sums.sizes.push_back(input.size(-1 - d));
      sums.axes.push_back(sampling.along(ops::flatten(ops::select(grid, -1, d), 1), input.size(-1 - d)));
    }
    sums.run();
    both = {ops::reshape(sums.to_image, input.sizes()), ops::reshape(ops::stack(sums.to_grid, -1), grid.sizes())};
  } else {
    both = ops::grid_sampler_grads(grad, input, grid, sampling.interpolation, sampling.padding, sampling.align_corners,
                                   output_mask);
  }
  return {output_mask[0] ? std::get<0>(both) : Tensor(), output_mask[1] ? std::get<1>(both) : Tensor()};
}

// The points of an image (1, area, 2 or 3), the last dimension first, each with a one behind it.
Tensor points(IntList image, bool align_corners, const Tensor& like) {
  std::vector<Tensor> coordinates;
  const int64_t rank = static_cast<int64_t>(image.size());
  const DType dtype = like.dtype();
  for (int64_t d = rank - 1; d >= 0; --d) {
    const int64_t n = image[d];
    Tensor line = n > 1 ? ops::linspace(Scalar(-1), Scalar(1), n, dtype, {}, like.device())
                        : ops::zeros(Dims{n}, dtype, {}, like.device());
    // Not by their ratio: an identity's points lie on pixels, where a rounding more decides between two gradients.
    if (!align_corners && n > 1) line = ops::div(ops::mul(line, Scalar(n - 1)), Scalar(n));
    Dims sizes;
    for (int64_t i = 0; i < rank; ++i) sizes.push_back(i == d ? n : 1);
    coordinates.push_back(ops::expand(ops::reshape(line, sizes), image));
  }
  coordinates.push_back(ops::ones(image, dtype, {}, like.device()));
  Tensor all = ops::to(ops::stack(coordinates, -1), like.dtype());
  return ops::reshape(all, Dims{1, numel_of(image), rank + 1});
}

void check_size(IntList size) {
  TAEDA_CHECK(size.size() == 4 || size.size() == 5, "size must be (N, C, H, W) or (N, C, D, H, W); got ", size);
}

}  // namespace

Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                    bool align_corners) {
  TAEDA_CHECK(input.dim() == 4 || input.dim() == 5, "input must be (N, C, H, W) or (N, C, D, H, W); got shape ",
              input.sizes());
  return input.dim() == 4 ? ops::grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners)
                          : ops::grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners);
}

Pair grid_sampler_2d_backward(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
                              int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
                              IntList output_mask) {
  return gradients(grad_output, input, grid, {interpolation_mode, padding_mode, align_corners}, output_mask, 2);
}
Pair grid_sampler_3d_backward(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
                              int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
                              IntList output_mask) {
  return gradients(grad_output, input, grid, {interpolation_mode, padding_mode, align_corners}, output_mask, 3);
}

Tensor affine_grid_generator(const Tensor& theta, IntList size, bool align_corners) {
  check_size(size);
  IntList image = size.subspan(2);
  const int64_t rank = static_cast<int64_t>(image.size());
  if (theta.dim() != 3) TAEDA_FAIL(Index, "theta must be (N, ", rank, ", ", rank + 1, "); got shape ", theta.sizes());
  TAEDA_CHECK(theta.size(0) == size[0] && theta.size(1) == rank && theta.size(2) == rank + 1, "theta must be of shape ",
              Dims{size[0], rank, rank + 1}, "; got ", theta.sizes());
  Tensor from = ops::expand(points(image, align_corners, theta), Dims{size[0], numel_of(image), rank + 1});
  Dims sizes{size[0]};
  for (int64_t n : image) sizes.push_back(n);
  sizes.push_back(rank);
  return ops::view(ops::bmm(from, ops::transpose(theta, 1, 2)), sizes);
}

Tensor affine_grid_generator_backward(const Tensor& grad, IntList size, bool align_corners) {
  check_size(size);
  IntList image = size.subspan(2);
  const int64_t rank = static_cast<int64_t>(image.size());
  Tensor from = ops::expand(points(image, align_corners, grad), Dims{size[0], numel_of(image), rank + 1});
  return ops::bmm(ops::transpose(ops::reshape(grad, Dims{size[0], numel_of(image), rank}), 1, 2), from);
}

}  // namespace taeda::composite
