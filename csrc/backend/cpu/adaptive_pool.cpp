// Pooling with windows chosen to give an output size: window i of n covers floor(i m / n) to ceil((i + 1) m / n) of m.
#include <limits>

#include "api/copy.h"
#include "api/create.h"
#include "backend/cpu/pool.h"
#include "shape/ops/pool.h"
#include "shape/view_rules.h"

namespace taeda::cpu {

namespace {

struct Span {
  int64_t from, to;
  Span(int64_t window, int64_t windows, int64_t size)
      : from(window * size / windows), to(((window + 1) * size + windows - 1) / windows) {}
  int64_t size() const { return to - from; }
};

// Planes of up to three dimensions, with the strides (in elements) of the tensor that holds them.
struct Grid {
  int64_t planes = 1, batch_stride = 0, channels = 1, channel_stride;
  std::array<int64_t, 3> size{1, 1, 1}, stride{0, 0, 0};

  Grid(const Tensor& t, int64_t rank) : channels(t.size(-rank - 1)), channel_stride(t.stride(-rank - 1)) {
    if (t.dim() == rank + 2) planes = t.sizes()[0], batch_stride = t.strides()[0];
    planes *= channels;
    for (int64_t d = 0; d < rank; ++d) size[3 - rank + d] = t.size(d - rank), stride[3 - rank + d] = t.stride(d - rank);
  }
  int64_t area() const { return size[0] * size[1] * size[2]; }
  int64_t start(int64_t plane) const { return plane / channels * batch_stride + plane % channels * channel_stride; }
  int64_t offset(int64_t z, int64_t y, int64_t x) const { return z * stride[0] + y * stride[1] + x * stride[2]; }
};

// body(plane, place of the window's result, its spans) for every window of every plane.
template <class F>
void each_window(const Grid& image, const Grid& out, const F& body) {
  parallel_for(0, out.planes, planes_per_piece(image.area() + out.area()), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      for (int64_t z = 0; z < out.size[0]; ++z)
        for (int64_t y = 0; y < out.size[1]; ++y)
          for (int64_t x = 0; x < out.size[2]; ++x)
            body(p, out.start(p) + out.offset(z, y, x),
                 std::array{Span(z, out.size[0], image.size[0]), Span(y, out.size[1], image.size[1]),
                            Span(x, out.size[2], image.size[2])});
  });
}

template <class F>
void each_element(const std::array<Span, 3>& s, const F& body) {
  for (int64_t z = s[0].from; z < s[0].to; ++z)
    for (int64_t y = s[1].from; y < s[1].to; ++y)
      for (int64_t x = s[2].from; x < s[2].to; ++x) body(z, y, x);
}

void largest(const Tensor& self, int64_t rank, const Tensor& output, const Tensor& indices) {
  Grid image(self, rank), out(output, rank);
  visit_floating(self.dtype(), [&]<class T>() {
    each_window(image, out, [&](int64_t plane, int64_t place, const std::array<Span, 3>& window) {
      const T* from = self.data<T>() + image.start(plane);
      double best = -std::numeric_limits<double>::infinity();
      int64_t index = (window[0].from * image.size[1] + window[1].from) * image.size[2] + window[2].from;
      each_element(window, [&](int64_t z, int64_t y, int64_t x) {
        double value = convert<double>(from[image.offset(z, y, x)]);
        if (value > best || value != value) best = value, index = (z * image.size[1] + y) * image.size[2] + x;
      });
      output.data<T>()[place] = convert<T>(best);
      indices.data<int64_t>()[place] = index;
    });
  });
}

// Where channels come last, the vectors of a window's positions are added up.
void mean_of_vectors(const Tensor& self, int64_t rank, const Tensor& output) {
  Tensor x = ops::contiguous(self, rank == 2 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d);
  const Grid image(x, rank), out(output, rank);
  const int64_t channels = image.channels, samples = x.sizes()[0];
  visit_compute(self.dtype(), [&]<class T>() {
    parallel_for(0, samples, planes_per_piece((image.area() + out.area()) * channels), [&](int64_t begin, int64_t end) {
      RowReader<T> in(x, image.area() * channels);
      RowWriter<T> to(output, out.area() * channels);
      std::vector<const T*> rows;
      for (int64_t n = begin; n < end; ++n) {
        const T* from = in(n * image.batch_stride, image.area() * channels);
        T* means = to.at(n * out.batch_stride);
        for (int64_t k = 0; k < out.area(); ++k, means += channels) {
          const std::array window{Span(k / (out.size[2] * out.size[1]), out.size[0], image.size[0]),
                                  Span(k / out.size[2] % out.size[1], out.size[1], image.size[1]),
                                  Span(k % out.size[2], out.size[2], image.size[2])};
          rows.clear();
          each_element(window, [&](int64_t z, int64_t y, int64_t x) { rows.push_back(from + image.offset(z, y, x)); });
          row_kernels<T>().sum_of(rows.data(), nullptr, static_cast<int64_t>(rows.size()),
                                  T(1) / static_cast<T>(rows.size()), means, channels);
        }
        to.done(n * out.batch_stride, out.area() * channels);
      }
    });
  });
}

// The mean of each whole plane, as most nets end.
template <class T>
void mean_of_planes(const Tensor& x, const Grid& image, const Tensor& output) {
  const int64_t area = image.area();
  parallel_for(0, image.planes, planes_per_piece(area), [&](int64_t begin, int64_t end) {
    RowReader<T> in(x, area);
    RowWriter<T> to(output, end - begin);
    T* means = to.at(begin);
    for (int64_t p = begin; p < end; ++p)
      means[p - begin] = row_kernels<T>().sum(in(p * area, area), area) / static_cast<T>(area);
    to.done(begin, end - begin);
  });
}

void mean(const Tensor& self, int64_t rank, const Tensor& output) {
  if (output.numel() == 0) return;
  const bool vectors =
      self.dim() == rank + 2 && shape::suggested_format(self) != MemoryFormat::Contiguous && output.stride(1) == 1;
  if (vectors) return mean_of_vectors(self, rank, output);
  Tensor x = ops::contiguous(self);
  Grid image(x, rank), out(output, rank);
  visit_compute(self.dtype(), [&]<class T>() {
    if (out.area() == 1) return mean_of_planes<T>(x, image, output);
    parallel_for(0, out.planes, planes_per_piece(image.area() + out.area()), [&](int64_t begin, int64_t end) {
      RowReader<T> in(x, image.area());
      RowWriter<T> to(output, 1);
      for (int64_t p = begin; p < end; ++p) {
        const T* plane = in(p * image.area(), image.area());
        for (int64_t k = 0; k < out.area(); ++k) {
          int64_t i = k % out.size[2], j = k / out.size[2] % out.size[1], l = k / (out.size[2] * out.size[1]);
          Span sx(i, out.size[2], image.size[2]), sy(j, out.size[1], image.size[1]), sz(l, out.size[0], image.size[0]);
          T sum = 0;
          // Whole rows lie one after another.
          const bool whole = sx.size() == image.size[2];
          for (int64_t z = sz.from; z < sz.to; ++z)
            for (int64_t y = sy.from; y < (whole ? sy.from + 1 : sy.to); ++y)
              sum += row_kernels<T>().sum(plane + (z * image.size[1] + y) * image.size[2] + sx.from,
                                          sx.size() * (whole ? sy.size() : 1));
          int64_t place = out.start(p) + out.offset(l, j, i);
          *to.at(place) = sum / static_cast<T>(sx.size() * sy.size() * sz.size());
          to.done(place, 1);
        }
      }
    });
  });
}

}  // namespace

void adaptive_max_pool2d(const Tensor& self, IntList, const Tensor& output, const Tensor& indices) {
  largest(self, 2, output, indices);
}
void adaptive_max_pool3d(const Tensor& self, IntList, const Tensor& output, const Tensor& indices) {
  largest(self, 3, output, indices);
}
void _adaptive_avg_pool2d(const Tensor& self, IntList, const Tensor& out) { mean(self, 2, out); }
void _adaptive_avg_pool3d(const Tensor& self, IntList, const Tensor& out) { mean(self, 3, out); }

void adaptive_avg_pool_backward(const Tensor& upper, IntList, int64_t rank, const Tensor& out) {
  if (out.numel() == 0) return;
  Tensor dense = out.is_contiguous() ? out : ops::empty(out.sizes(), out.dtype());
  Grid image(dense, rank), windows(upper, rank);
  visit_compute(out.dtype(), [&]<class T>() {
    parallel_for(0, windows.planes, planes_per_piece(image.area() + windows.area()), [&](int64_t begin, int64_t end) {
      RowReader<T> in(upper, 1);
      RowWriter<T> to(dense, image.area());
      for (int64_t p = begin; p < end; ++p) {
        T* plane = to.at(p * image.area());
        if (windows.area() == 1) {
          std::fill_n(plane, image.area(), *in(windows.start(p), 1) / static_cast<T>(image.area()));
          to.done(p * image.area(), image.area());
          continue;
        }
        std::fill_n(plane, image.area(), T(0));
        for (int64_t k = 0; k < windows.area(); ++k) {
          int64_t i = k % windows.size[2], j = k / windows.size[2] % windows.size[1],
                  l = k / (windows.size[2] * windows.size[1]);
          Span sx(i, windows.size[2], image.size[2]), sy(j, windows.size[1], image.size[1]),
              sz(l, windows.size[0], image.size[0]);
          T share =
              *in(windows.start(p) + windows.offset(l, j, i), 1) / static_cast<T>(sx.size() * sy.size() * sz.size());
          for (int64_t z = sz.from; z < sz.to; ++z)
            for (int64_t y = sy.from; y < sy.to; ++y) {
              T* row = plane + (z * image.size[1] + y) * image.size[2] + sx.from;
              row_kernels<T>().affine(row, row, sx.size(), 1, share);
            }
        }
        to.done(p * image.area(), image.area());
      }
    });
  });
  if (!dense.is(out)) ops::copy_(out, dense);
}

}  // namespace taeda::cpu
