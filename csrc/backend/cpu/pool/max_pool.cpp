// Max pooling. A row of windows (or the channels of one window, where they come last) is one vector: each element of
// the kernel is compared with the best so far for the whole row.
#include <limits>

#include "backend/cpu/ops/pool.h"
#include "backend/cpu/pool/pool.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/view.h"

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
void begin_max(const T* from, int64_t step, T* best, int32_t* index, int64_t n, int32_t first, int32_t index_step) {
  if constexpr (std::is_floating_point_v<T>) {
    row_kernels<T>().begin_max(from, step, best, index, n, first, index_step);
  } else {
    for (int64_t i = 0; i < n; ++i) best[i] = from[i * step], index[i] = first + static_cast<int32_t>(i) * index_step;
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

// `best` holds the places of the best elements of a row of windows.
template <class T>
void pool_plane(const Windows& w, const T* image, T* out, int64_t* out_index, int32_t* best) {
  const int64_t n = w.count[2];
  for (int64_t z = 0; z < w.count[0]; ++z)
    for (int64_t y = 0; y < w.count[1]; ++y, out += n, out_index += n) {
      const int64_t row = (first_inside(w, 0, z) * w.image[1] + first_inside(w, 1, y)) * w.image[2];
      auto begin = [&] {
        for (int64_t x = 0; x < n; ++x)
          out[x] = kLowest<T>, best[x] = static_cast<int32_t>(row + first_inside(w, 2, x));
      };
      bool begun = w.padding[2] > 0;  // else every window's first element is inside
      if (begun) begin();
      each_element(w, z, y, [&](int64_t image_row, int64_t offset) {
        Visible x(offset, w.image[2], n, w.stride[2]);
        int64_t start = image_row + offset + x.from * w.stride[2];
        (begun ? take_max<T> : begin_max<T>)(image + start, w.stride[2], out + x.from, best + x.from, x.count(),
                                             static_cast<int32_t>(start), static_cast<int32_t>(w.stride[2]));
        begun = true;
      });
      if (!begun) begin();
#pragma omp simd
      for (int64_t x = 0; x < n; ++x) out_index[x] = best[x];
    }
}

// The channels of the elements of one window, and their places in the image.
template <class T>
struct Members {
  std::vector<const T*> rows;
  std::vector<int32_t> places;

  void collect(const Windows& w, const T* image, int64_t channels, int64_t z, int64_t y, int64_t x) {
    rows.clear();
    places.clear();
    each_element(w, z, y, [&](int64_t image_row, int64_t offset) {
      const int64_t in_x = x * w.stride[2] + offset;
      if (!inside(in_x, w.image[2])) return;
      places.push_back(static_cast<int32_t>(image_row + in_x));
      rows.push_back(image + (image_row + in_x) * channels);
    });
  }
  void largest(int64_t channels, int32_t first, T* out, int64_t* index) const {
    const auto count = static_cast<int64_t>(rows.size());
    if constexpr (std::is_floating_point_v<T>) {
      row_kernels<T>().max_of(rows.data(), places.data(), count, first, out, index, channels);
    } else {
      std::fill_n(out, channels, kLowest<T>);
      std::fill_n(index, channels, first);
      for (int64_t k = 0; k < count; ++k)
        for (int64_t c = 0; c < channels; ++c)
          if (rows[k][c] > out[c]) out[c] = rows[k][c], index[c] = places[k];
    }
  }
};

template <class T>
void pool_channels(const Windows& w, const T* image, int64_t channels, T* out, int64_t* index) {
  Members<T> members;
  for (int64_t z = 0; z < w.count[0]; ++z)
    for (int64_t y = 0; y < w.count[1]; ++y) {
      const int64_t row = (first_inside(w, 0, z) * w.image[1] + first_inside(w, 1, y)) * w.image[2];
      for (int64_t x = 0; x < w.count[2]; ++x, out += channels, index += channels) {
        members.collect(w, image, channels, z, y, x);
        members.largest(channels, static_cast<int32_t>(row + first_inside(w, 2, x)), out, index);
      }
    }
}

void max_pool(const Tensor& self, const shape::PoolGeometry& g, const Tensor& out, const Tensor& indices) {
  if (g.image.size() == 3 && out.dim() == 4 && !out.is_contiguous())  // channels come last without a batch, too
    return max_pool(ops::unsqueeze(self, 0), g, ops::unsqueeze(out, 0), ops::unsqueeze(indices, 0));
  Windows w = pool_windows(g);
  Planes planes(out, static_cast<int64_t>(g.image.size()));
  Tensor x = ops::contiguous(self, planes.format);
  const int64_t area = w.image_area(), windows = w.columns(), inner = planes.inner;
  TAEDA_CHECK(area <= INT32_MAX, "planes of more than 2^31 - 1 elements cannot be pooled; got ", g.image);
  auto run = [&]<class T>() {
    parallel_for(0, planes.outer, planes_per_piece(windows * inner * w.kernel_area()), [&](int64_t begin, int64_t end) {
      RowReader<T> in(x, area * inner);
      RowWriter<T> to(out, windows * inner);
      std::vector<int32_t> best(w.count[2]);
      for (int64_t p = begin; p < end; ++p) {
        const T* from = in(p * area * inner, area * inner);
        const int64_t place = p * windows * inner;
        int64_t* index = indices.data<int64_t>() + place;
        inner > 1 ? pool_channels<T>(w, from, inner, to.at(place), index)
                  : pool_plane<T>(w, from, to.at(place), index, best.data());
        to.done(place, windows * inner);
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
