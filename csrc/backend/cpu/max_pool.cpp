// Max pooling. A row of windows (or the channels of one window, where they come last) is one vector: each element of
// the kernel is compared with the best so far for the whole row.
#include <limits>

#include "api/ops.h"
#include "backend/cpu/pool.h"
#include "shape/ops/pool.h"

namespace taeda::cpu {

namespace {

template <class T>
void take_max(const T* from, int64_t step, T* best, int32_t* index, int64_t n, int32_t first, int32_t index_step) {
  if constexpr (std::is_floating_point_v<T>) {
    row_kernels<T>().take_max(from, step, best, index, n, first, index_step);
  } else {
    for (int64_t i = 0; i < n; ++i)
      if (from[i * step] > best[i]) best[i] = from[i * step], index[i] = first + static_cast<int32_t>(i) * index_step;
  }
}

template <class T>
constexpr T kLowest =
    std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();

// The first element of window `at` that lies inside along dimension d: the answer where nothing is above -inf.
int64_t first_inside(const Windows& w, int d, int64_t at) {
  int64_t start = at * w.stride[d] - w.padding[d];
  return start >= 0 ? start : start + (-start + w.dilation[d] - 1) / w.dilation[d] * w.dilation[d];
}

// body(image row, offset in it of the kernel's element) for every element of the kernel whose row is inside.
template <class F>
void each_element(const Windows& w, int64_t z, int64_t y, const F& body) {
  for (int64_t kz = 0; kz < w.kernel[0]; ++kz)
    for (int64_t ky = 0; ky < w.kernel[1]; ++ky) {
      int64_t in_z = z * w.stride[0] - w.padding[0] + kz * w.dilation[0],
              in_y = y * w.stride[1] - w.padding[1] + ky * w.dilation[1];
      if (!inside(in_z, w.image[0]) || !inside(in_y, w.image[1])) continue;
      for (int64_t kx = 0; kx < w.kernel[2]; ++kx)
        body((in_z * w.image[1] + in_y) * w.image[2], kx * w.dilation[2] - w.padding[2]);
    }
}

template <class T>
void pool_plane(const Windows& w, const T* image, T* out, int64_t* out_index, std::vector<int32_t>& best) {
  const int64_t n = w.count[2];
  for (int64_t z = 0; z < w.count[0]; ++z)
    for (int64_t y = 0; y < w.count[1]; ++y, out += n, out_index += n) {
      const int64_t row = (first_inside(w, 0, z) * w.image[1] + first_inside(w, 1, y)) * w.image[2];
      for (int64_t x = 0; x < n; ++x) out[x] = kLowest<T>, best[x] = static_cast<int32_t>(row + first_inside(w, 2, x));
      each_element(w, z, y, [&](int64_t image_row, int64_t offset) {
        Visible x(offset, w.image[2], n, w.stride[2]);
        int64_t start = image_row + offset + x.from * w.stride[2];
        take_max(image + start, w.stride[2], out + x.from, best.data() + x.from, x.count(), static_cast<int32_t>(start),
                 static_cast<int32_t>(w.stride[2]));
      });
      std::copy_n(best.begin(), n, out_index);
    }
}

template <class T>
void pool_channels(const Windows& w, RowReader<T>& image, int64_t base, int64_t channels, RowWriter<T>& to,
                   int64_t out_base, int64_t* out_index, std::vector<int32_t>& best) {
  for (int64_t at = 0; at < w.columns(); ++at, out_base += channels, out_index += channels) {
    const int64_t x = at % w.count[2], y = at / w.count[2] % w.count[1], z = at / (w.count[2] * w.count[1]);
    const int64_t first =
        (first_inside(w, 0, z) * w.image[1] + first_inside(w, 1, y)) * w.image[2] + first_inside(w, 2, x);
    T* out = to.at(out_base);
    std::fill_n(out, channels, kLowest<T>);
    std::fill(best.begin(), best.end(), static_cast<int32_t>(first));
    each_element(w, z, y, [&](int64_t image_row, int64_t offset) {
      int64_t in_x = x * w.stride[2] + offset;
      if (!inside(in_x, w.image[2])) return;
      int64_t place = image_row + in_x;
      take_max(image(base + place * channels, channels), 1, out, best.data(), channels, static_cast<int32_t>(place), 0);
    });
    std::copy_n(best.begin(), channels, out_index);
    to.done(out_base, channels);
  }
}

void max_pool(const Tensor& self, const shape::PoolGeometry& g, const Tensor& out, const Tensor& indices) {
  Windows w = pool_windows(g);
  Planes planes(out, static_cast<int64_t>(g.image.size()));
  Tensor x = ops::contiguous(self, planes.format);
  const int64_t area = w.image_area(), windows = w.columns(), inner = planes.inner;
  TAEDA_CHECK(area <= INT32_MAX, "planes of more than 2^31 - 1 elements cannot be pooled; got ", g.image);
  auto run = [&]<class T>() {
    parallel_for(0, planes.outer, planes_per_piece(windows * inner * w.kernel_area()), [&](int64_t begin, int64_t end) {
      RowReader<T> in(x, inner == 1 ? area : inner);
      RowWriter<T> to(out, inner == 1 ? windows : inner);
      std::vector<int32_t> best(inner == 1 ? w.count[2] : inner);
      for (int64_t p = begin; p < end; ++p) {
        int64_t* index = indices.data<int64_t>() + p * windows * inner;
        if (inner > 1) {
          pool_channels<T>(w, in, p * area * inner, inner, to, p * windows * inner, index, best);
          continue;
        }
        pool_plane<T>(w, in(p * area, area), to.at(p * windows), index, best);
        to.done(p * windows, windows);
      }
    });
  };
  if (!is_floating(self.dtype())) return run.operator()<int64_t>();
  visit_compute(self.dtype(), run);
}

}  // namespace

void max_pool2d_with_indices(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, IntList dilation,
                             bool ceil_mode, const Tensor& out, const Tensor& indices) {
  max_pool(self, {self.sizes(), 2, kernel_size, stride, padding, dilation, ceil_mode}, out, indices);
}
void max_pool3d_with_indices(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, IntList dilation,
                             bool ceil_mode, const Tensor& out, const Tensor& indices) {
  max_pool(self, {self.sizes(), 3, kernel_size, stride, padding, dilation, ceil_mode}, out, indices);
}

void max_pool_backward(const Tensor& upper, const Tensor& indices, IntList, int64_t rank, const Tensor& out) {
  if (out.numel() == 0) return;
  Planes planes(out, rank);
  Tensor g = ops::contiguous(upper, planes.format), places = ops::contiguous(indices, planes.format);
  const int64_t inner = planes.inner, windows = g.numel() / planes.outer, area = out.numel() / planes.outer;
  visit_compute(out.dtype(), [&]<class T>() {
    parallel_for(0, planes.outer, planes_per_piece(windows + area), [&](int64_t begin, int64_t end) {
      RowReader<T> in(g, windows);
      RowWriter<T> to(out, area);
      for (int64_t p = begin; p < end; ++p) {
        const T* from = in(p * windows, windows);
        const int64_t* place = places.data<int64_t>() + p * windows;
        T* image = to.at(p * area);
        std::fill_n(image, area, T(0));
        for (int64_t i = 0; i < windows; ++i) {
          TAEDA_CHECK_INDEX(inside(place[i], area / inner), "the index ", place[i], " is outside a plane of ",
                            area / inner, " elements");
          image[place[i] * inner + (inner > 1 ? i % inner : 0)] += from[i];
        }
        to.done(p * area, area);
      }
    });
  });
}

}  // namespace taeda::cpu
