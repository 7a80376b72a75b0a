// Images sampled at points. A result is a sum over the pixels around its point (taps); a tap's weight is a product of
// one weight per dimension, so that linear, nearest and cubic interpolation in any number of dimensions are one loop.
#include <array>
#include <cmath>
#include <memory>

#include "backend/cpu/engine/row_kernels.h"
#include "backend/cpu/ops/grid_sampler.h"
#include "core/multiversion.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"

namespace taeda::cpu {

namespace {

enum Interpolation : int64_t { kLinear, kNearest, kCubic };
enum Padding : int64_t { kZeros, kBorder, kReflection };

constexpr int64_t kPoints = 64;   // whose taps are listed at a time
constexpr int64_t kChannels = 8;  // that one piece of work adds gradients to
constexpr int64_t kTaps = 16;     // 4 x 4 cubic ones at most
constexpr int64_t kSlopes = 32;

// Coordinates in pixels and their slopes over the grid's coordinates.
template <class T>
struct IndexOffsets {
  T at[kPoints], slope[kPoints];
};

// Along one dimension: up to four pixels for each point (-1: outside), their weights and the slopes of these.
template <class T>
struct Along {
  int count = 0;
  int32_t pixel[4][kPoints];
  T weight[4][kPoints], slope[4][kPoints];
};

// The points past the last one of a chunk repeat it. For each tap and point: the place in the image's plane (-1:
// outside), the weight, and its slope along each dimension, the last one first.
template <class T>
struct Taps {
  int64_t count = 0;
  bool all_inside = false;
  Along<T> axes[3];
  int32_t offset[kTaps][kPoints];
  T weight[kTaps][kPoints], slope[kSlopes][kPoints];
};

struct Sampling {
  int64_t interpolation, padding;
  bool align_corners;
};

// Into [0, last]: beyond it the coordinate no longer matters. Not a number counts as 0.
template <class T>
TAEDA_VERSIONED void clip(T* at, T* slope, T last) {
#pragma omp simd
  for (int64_t p = 0; p < kPoints; ++p) {
    slope[p] = at[p] > 0 && at[p] < last ? slope[p] : T(0);
    at[p] = at[p] > 0 ? (at[p] < last ? at[p] : last) : T(0);
  }
}

// Folded at the outermost pixels' centres, or at their edges.
template <class T>
TAEDA_VERSIONED void reflect(T* at, T* slope, int64_t size, bool align_corners) {
  const T low = align_corners ? T(0) : T(-0.5), span = static_cast<T>(align_corners ? size - 1 : size);
  for (int64_t p = 0; p < kPoints; ++p) {
    const T from = span == 0 ? T(0) : std::fmod(std::abs(at[p] - low), 2 * span);
    slope[p] = (at[p] < low) != (from > span) ? -slope[p] : slope[p];
    at[p] = (from > span ? 2 * span - from : from) + low;
  }
}

template <class T>
TAEDA_VERSIONED void pad(T* at, T* slope, int64_t size, const Sampling& sampling) {
  if (sampling.padding == kReflection) reflect(at, slope, size, sampling.align_corners);
  if (sampling.padding != kZeros) clip(at, slope, static_cast<T>(size - 1));
}

// Keys' cubic convolution kernel (R. Keys, 1981) and its derivative: c[0] + c[1] x + c[2] x^2 + c[3] x^3 within a pixel
// of its middle, other numbers from there to two.
template <class T>
constexpr T kKeys = T(-0.75);
template <class T>
constexpr T kNear[4] = {1, 0, -(kKeys<T> + 3), kKeys<T> + 2};
template <class T>
constexpr T kFar[4] = {-4 * kKeys<T>, 8 * kKeys<T>, -5 * kKeys<T>, kKeys<T>};

template <class T>
TAEDA_VERSIONED void set_pixels(int32_t* pixel, const T* at, int64_t size) {
  const T end = static_cast<T>(size);
#pragma omp simd
  for (int64_t p = 0; p < kPoints; ++p) pixel[p] = at[p] >= 0 && at[p] < end ? static_cast<int32_t>(at[p]) : -1;
}

template <class T>
TAEDA_VERSIONED void list_cubic(Along<T>& to, const IndexOffsets<T>& places, int64_t size, const Sampling& sampling) {
  T at[kPoints], unused[kPoints];
  for (int k = 0; k < 4; ++k) {
    const T* c = k == 1 || k == 2 ? kNear<T> : kFar<T>;
    const T sign = k < 2 ? T(1) : T(-1), shift = static_cast<T>(k - 1);
#pragma omp simd
    for (int64_t p = 0; p < kPoints; ++p) {
      const T low = std::floor(places.at[p]), x = sign * (places.at[p] - low - shift);
      at[p] = low + shift;
      unused[p] = 0;
      to.weight[k][p] = ((c[3] * x + c[2]) * x + c[1]) * x + c[0];
      to.slope[k][p] = sign * ((3 * c[3] * x + 2 * c[2]) * x + c[1]) * places.slope[p];
    }
    pad(at, unused, size, sampling);
    set_pixels(to.pixel[k], at, size);
  }
}

template <class T>
TAEDA_VERSIONED void list_linear(Along<T>& to, const IndexOffsets<T>& places, int64_t size) {
  T low[kPoints], high[kPoints];
#pragma omp simd
  for (int64_t p = 0; p < kPoints; ++p) {
    low[p] = std::floor(places.at[p]);
    high[p] = low[p] + 1;
    to.weight[1][p] = places.at[p] - low[p];
    to.weight[0][p] = 1 - to.weight[1][p];
    to.slope[1][p] = places.slope[p];
    to.slope[0][p] = -places.slope[p];
  }
  set_pixels(to.pixel[0], low, size);
  set_pixels(to.pixel[1], high, size);
}

// `coordinates` are `step` apart.
template <class T>
TAEDA_VERSIONED void list_along(Along<T>& to, const T* coordinates, int64_t step, int64_t points, int64_t size,
                                const Sampling& sampling) {
  const T pixels = static_cast<T>(sampling.align_corners ? size - 1 : size);
  const bool cubic = sampling.interpolation == kCubic, nearest = sampling.interpolation == kNearest;
  IndexOffsets<T> places;
  for (int64_t p = 0; p < kPoints; ++p) {
    const T c = coordinates[std::min(p, points - 1) * step] + 1;
    places.at[p] = sampling.align_corners ? c / 2 * pixels : (c * pixels - 1) / 2;
    places.slope[p] = pixels / 2;
  }
  to.count = cubic ? 4 : nearest ? 1 : 2;
  if (cubic) return list_cubic(to, places, size, sampling);
  pad(places.at, places.slope, size, sampling);
  if (!nearest) return list_linear(to, places, size);
#pragma omp simd
  for (int64_t p = 0; p < kPoints; ++p)
    places.at[p] = std::nearbyint(places.at[p]), to.weight[0][p] = 1, to.slope[0][p] = 0;
  set_pixels(to.pixel[0], places.at, size);
}

template <class T>
TAEDA_VERSIONED void list_body(Taps<T>& taps, const T* coordinates, int64_t points, const int64_t* image, int64_t rank,
                               const Sampling& sampling, bool with_slopes) {
  Along<T>&z = taps.axes[0], &y = taps.axes[1], &x = taps.axes[2];  // a missing first dimension has one pixel
  z.count = 1;
  for (int64_t p = 0; p < kPoints; ++p) z.pixel[0][p] = 0, z.weight[0][p] = 1, z.slope[0][p] = 0;
  for (int64_t d = 0; d < rank; ++d)
    list_along(taps.axes[3 - rank + d], coordinates + rank - 1 - d, rank, points, image[d], sampling);
  const auto height = static_cast<int32_t>(image[rank - 2]), width = static_cast<int32_t>(image[rank - 1]);
  taps.count = 0;
  int32_t signs = 0;
  for (int k = 0; k < z.count; ++k)
    for (int j = 0; j < y.count; ++j)
      for (int i = 0; i < x.count; ++i, ++taps.count) {
        int32_t* offset = taps.offset[taps.count];
        T *weight = taps.weight[taps.count], *slope = taps.slope[taps.count * rank];
#pragma omp simd reduction(| : signs)
        for (int64_t p = 0; p < kPoints; ++p) {
          const int32_t sign = z.pixel[k][p] | y.pixel[j][p] | x.pixel[i][p];
          offset[p] = sign >= 0 ? (z.pixel[k][p] * height + y.pixel[j][p]) * width + x.pixel[i][p] : -1;
          weight[p] = z.weight[k][p] * y.weight[j][p] * x.weight[i][p];
          signs |= sign;
        }
        if (!with_slopes) continue;
        for (int64_t p = 0; p < kPoints; ++p) {
          slope[p] = z.weight[k][p] * y.weight[j][p] * x.slope[i][p];
          slope[kPoints + p] = z.weight[k][p] * y.slope[j][p] * x.weight[i][p];
          if (rank == 3) slope[2 * kPoints + p] = z.slope[k][p] * y.weight[j][p] * x.weight[i][p];
        }
      }
  taps.all_inside = signs >= 0;
}

// What lies outside is 0, whatever number stands at the image's beginning.
template <int kCount, bool kInside, class T>
TAEDA_VERSIONED void sum_taps(const Taps<T>& taps, const T* plane, T* __restrict row) {
#pragma omp simd
  for (int64_t p = 0; p < kPoints; ++p) {
    T sum = 0;
#pragma GCC unroll 16
    for (int k = 0; k < kCount; ++k) {
      const int32_t offset = taps.offset[k][p];
      const T value = plane[kInside || offset >= 0 ? offset : 0] * taps.weight[k][p];
      sum += kInside || offset >= 0 ? value : T(0);
    }
    row[p] = sum;
  }
}

template <int kCount, class T>
TAEDA_VERSIONED void sum_some(const Taps<T>& taps, const T* plane, T* row) {
  taps.all_inside ? sum_taps<kCount, true>(taps, plane, row) : sum_taps<kCount, false>(taps, plane, row);
}

template <class T>
TAEDA_VERSIONED void gather_body(const Taps<T>& taps, const T* plane, T* row) {
  if (taps.count == 1) return sum_some<1>(taps, plane, row);
  if (taps.count == 4) return sum_some<4>(taps, plane, row);
  taps.count == 8 ? sum_some<8>(taps, plane, row) : sum_some<16>(taps, plane, row);
}

// sums[d][p] += grad[p] * the slope of the result along dimension d
template <class T>
TAEDA_VERSIONED void slopes_body(const Taps<T>& taps, const T* plane, const T* grad, int64_t rank, T* sums) {
  for (int64_t k = 0; k < taps.count; ++k) {
    const int32_t* offset = taps.offset[k];
    for (int64_t d = 0; d < rank; ++d) {
      const T* slope = taps.slope[k * rank + d];
      T* sum = sums + d * kPoints;
#pragma omp simd
      for (int64_t p = 0; p < kPoints; ++p) {
        const T value = plane[offset[p] < 0 ? 0 : offset[p]] * grad[p] * slope[p];
        sum[p] += offset[p] < 0 ? T(0) : value;
      }
    }
  }
}

#define TAEDA_SAMPLING(T)                                                                                         \
  TAEDA_MULTIVERSION(void list_taps(Taps<T>& taps, const T* coordinates, int64_t points, const int64_t* image,    \
                                    int64_t rank, const Sampling& sampling, bool with_slopes),                    \
                     list_body(taps, coordinates, points, image, rank, sampling, with_slopes))                    \
  TAEDA_MULTIVERSION(void gather_row(const Taps<T>& taps, const T* plane, T* row), gather_body(taps, plane, row)) \
  TAEDA_MULTIVERSION(void add_slopes(const Taps<T>& taps, const T* plane, const T* grad, int64_t rank, T* sums),  \
                     slopes_body(taps, plane, grad, rank, sums))
TAEDA_SAMPLING(float)
TAEDA_SAMPLING(double)

// What all loops share; everything is contiguous and of the compute type.
template <class T>
struct Job {
  Tensor image, grid;
  Sampling sampling;
  int64_t rank, batch, channels, area, points, chunks;

  Job(const Tensor& input, const Tensor& points_of, int64_t interpolation, int64_t padding, bool align_corners)
      : image(ops::contiguous(ops::to(input, dtype_of<T>))),
        grid(ops::contiguous(ops::to(points_of, dtype_of<T>))),
        sampling{interpolation, padding, align_corners},
        rank(input.dim() - 2),
        batch(input.sizes()[0]),
        channels(input.sizes()[1]),
        area(numel_of(input.sizes().subspan(2))),
        points(numel_of(points_of.sizes().subspan(1)) / rank),
        chunks((points + kPoints - 1) / kPoints) {
    TAEDA_CHECK(area <= INT32_MAX, "images of more than 2^31 - 1 pixels cannot be sampled; got shape ", input.sizes());
  }

  int64_t count(int64_t chunk) const { return std::min(kPoints, points - chunk * kPoints); }
  void list(Taps<T>& taps, int64_t sample, int64_t chunk, bool with_slopes) const {
    list_taps(taps, grid.data<T>() + (sample * points + chunk * kPoints) * rank, count(chunk),
              image.sizes().subspan(2).data(), rank, sampling, with_slopes);
  }
  const T* plane(int64_t sample, int64_t channel) const {
    return image.data<T>() + (sample * channels + channel) * area;
  }
  int64_t place(int64_t sample, int64_t channel, int64_t chunk) const {
    return (sample * channels + channel) * points + chunk * kPoints;
  }
};

// body(taps, sample, chunk) for all chunks of points; each piece of work has taps of its own.
template <class T, class F>
void each_chunk(const Job<T>& job, const F& body) {
  const int64_t grain = std::max<int64_t>(1, kGrain / (kPoints * (job.channels + 4)));
  parallel_for(0, job.batch * job.chunks, grain, [&](int64_t begin, int64_t end) {
    std::unique_ptr<Taps<T>> taps(new Taps<T>);  // not filled with zeros
    for (int64_t i = begin; i < end; ++i) body(*taps, i / job.chunks, i % job.chunks);
  });
}

template <class T>
void sample(const Job<T>& job, const Tensor& out) {
  each_chunk(job, [&](Taps<T>& taps, int64_t n, int64_t chunk) {
    job.list(taps, n, chunk, false);
    RowWriter<T> to(out, kPoints);
    T row[kPoints];
    for (int64_t c = 0; c < job.channels; ++c) {
      gather_row(taps, job.plane(n, c), row);
      std::copy_n(row, job.count(chunk), to.at(job.place(n, c, chunk)));
      to.done(job.place(n, c, chunk), job.count(chunk));
    }
  });
}

template <class T>
void add_to_image(const Taps<T>& taps, const T* grad, int64_t points, T* plane) {
  for (int64_t k = 0; k < taps.count; ++k)
    for (int64_t p = 0; p < points; ++p)
      if (taps.offset[k][p] >= 0) plane[taps.offset[k][p]] += taps.weight[k][p] * grad[p];
}

// Each piece owns the planes that it adds to.
template <class T>
void to_image(const Job<T>& job, const Tensor& grad, const Tensor& out) {
  const int64_t groups = (job.channels + kChannels - 1) / kChannels;
  parallel_for(0, job.batch * groups, 1, [&](int64_t begin, int64_t end) {
    std::unique_ptr<Taps<T>> taps(new Taps<T>);  // not filled with zeros
    RowReader<T> from(grad, kPoints);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / groups, first = i % groups * kChannels, last = std::min(first + kChannels, job.channels);
      T* planes = out.data<T>() + (n * job.channels + first) * job.area;
      std::fill_n(planes, (last - first) * job.area, T(0));
      for (int64_t chunk = 0; chunk < job.chunks; ++chunk) {
        job.list(*taps, n, chunk, false);
        for (int64_t c = first; c < last; ++c)
          add_to_image(*taps, from(job.place(n, c, chunk), job.count(chunk)), job.count(chunk),
                       planes + (c - first) * job.area);
      }
    }
  });
}

template <class T>
void to_grid(const Job<T>& job, const Tensor& grad, const Tensor& out) {
  each_chunk(job, [&](Taps<T>& taps, int64_t n, int64_t chunk) {
    job.list(taps, n, chunk, true);
    RowReader<T> from(grad, kPoints);
    T sums[3 * kPoints] = {}, row[kPoints] = {};
    for (int64_t c = 0; c < job.channels; ++c) {
      std::copy_n(from(job.place(n, c, chunk), job.count(chunk)), job.count(chunk), row);
      add_slopes(taps, job.plane(n, c), row, job.rank, sums);
    }
    T* to = out.data<T>() + (n * job.points + chunk * kPoints) * job.rank;
    for (int64_t p = 0; p < job.count(chunk); ++p)
      for (int64_t d = 0; d < job.rank; ++d) *to++ = sums[d * kPoints + p];
  });
}

void sampler(const Tensor& input, const Tensor& grid, int64_t interpolation, int64_t padding, bool align_corners,
             const Tensor& out) {
  if (out.numel() == 0) return;
  visit_compute(input.dtype(),
                [&]<class T>() { sample<T>(Job<T>(input, grid, interpolation, padding, align_corners), out); });
}

// body(target) with `out`, or with a tensor of the compute type that is copied to it.
template <class T, class F>
void through(const Tensor& out, const F& body) {
  if (out.dtype() == dtype_of<T>) return body(out);
  Tensor wide = ops::empty(out.sizes(), dtype_of<T>);
  body(wide);
  ops::copy_(out, wide);
}

}  // namespace

void grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                     bool align_corners, const Tensor& out) {
  sampler(input, grid, interpolation_mode, padding_mode, align_corners, out);
}
void grid_sampler_3d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                     bool align_corners, const Tensor& out) {
  sampler(input, grid, interpolation_mode, padding_mode, align_corners, out);
}

void grid_sampler_grads(const Tensor& grad_output, const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                        int64_t padding_mode, bool align_corners, IntList output_mask, const Tensor& out0,
                        const Tensor& out1) {
  Tensor grad = ops::contiguous(grad_output);
  visit_compute(input.dtype(), [&]<class T>() {
    Job<T> job(input, grid, interpolation_mode, padding_mode, align_corners);
    if (output_mask[0]) through<T>(out0, [&](const Tensor& out) { to_image<T>(job, grad, out); });
    if (output_mask[1]) through<T>(out1, [&](const Tensor& out) { to_grid<T>(job, grad, out); });
  });
}

}  // namespace taeda::cpu
