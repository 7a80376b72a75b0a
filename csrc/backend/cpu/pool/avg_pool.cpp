// Average pooling: rows of windows are summed element by element of the kernel, then divided.
#include "backend/cpu/ops/pool.h"
#include "backend/cpu/pool/pool.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"

namespace taeda::cpu {

namespace {

struct Averages {
  Windows w;
  bool count_include_pad;
  std::optional<int64_t> divisor;

  // How many elements window `at` counts along dimension d; a window that hangs over the padding is cut there.
  int64_t counted(int d, int64_t at) const {
    int64_t start = at * w.stride[d] - w.padding[d], end = std::min(start + w.kernel[d], w.image[d] + w.padding[d]);
    return count_include_pad ? end - start : std::min(end, w.image[d]) - std::max<int64_t>(start, 0);
  }
  template <class T>
  std::vector<T> factors(int64_t z, int64_t y) const {
    std::vector<T> result(w.count[2]);
    for (int64_t x = 0; x < w.count[2]; ++x)
      result[x] = T(1) / static_cast<T>(divisor ? *divisor : counted(0, z) * counted(1, y) * counted(2, x));
    return result;
  }
  // body(z, y) for every row of windows; body(image row, offset) for the elements of the kernel in it.
  template <class F>
  void each_row(const F& body) const {
    for (int64_t z = 0; z < w.count[0]; ++z)
      for (int64_t y = 0; y < w.count[1]; ++y) body(z, y);
  }
  template <class F>
  void each_element(int64_t z, int64_t y, const F& body) const {
    for (int64_t kz = 0; kz < w.kernel[0]; ++kz)
      for (int64_t ky = 0; ky < w.kernel[1]; ++ky) {
        int64_t in_z = z * w.stride[0] - w.padding[0] + kz, in_y = y * w.stride[1] - w.padding[1] + ky;
        if (!inside(in_z, w.image[0]) || !inside(in_y, w.image[1])) continue;
        for (int64_t kx = 0; kx < w.kernel[2]; ++kx) body((in_z * w.image[1] + in_y) * w.image[2], kx - w.padding[2]);
      }
  }
};

Averages averages(IntList sizes, int64_t rank, IntList kernel_size, IntList stride, IntList padding, bool ceil_mode,
                  bool count_include_pad, std::optional<int64_t> divisor) {
  return {pool_windows({sizes, rank, kernel_size, stride, padding, shape::Dims{1}, ceil_mode}), count_include_pad,
          divisor};
}

template <class T>
void average_channels(const Averages& a, const T* image, T* out, int64_t channels) {
  const Windows& w = a.w;
  std::vector<const T*> rows;
  a.each_row([&](int64_t z, int64_t y) {
    auto factors = a.factors<T>(z, y);
    for (int64_t x = 0; x < w.count[2]; ++x, out += channels) {
      rows.clear();
      a.each_element(z, y, [&](int64_t image_row, int64_t offset) {
        int64_t in_x = x * w.stride[2] + offset;
        if (inside(in_x, w.image[2])) rows.push_back(image + (image_row + in_x) * channels);
      });
      row_kernels<T>().sum_of(rows.data(), nullptr, static_cast<int64_t>(rows.size()), factors[x], out, channels);
    }
  });
}

template <class T>
void average_plane(const Averages& a, const T* image, T* out) {
  const Windows& w = a.w;
  const int64_t n = w.count[2];
  a.each_row([&](int64_t z, int64_t y) {
    std::fill_n(out, n, T(0));
    a.each_element(z, y, [&](int64_t image_row, int64_t offset) {
      Visible x(offset, w.image[2], n, w.stride[2]);
      row_kernels<T>().take_sum(image + image_row + offset + x.from * w.stride[2], w.stride[2], out + x.from,
                                x.count());
    });
    auto factors = a.factors<T>(z, y);
    for (int64_t x = 0; x < n; ++x) out[x] *= factors[x];
    out += n;
  });
}

// Quotients of whole numbers, rounded to zero.
void average_whole(const Tensor& self, const Averages& a, const Tensor& out) {
  const Windows& w = a.w;
  Tensor x = ops::contiguous(self), result = ops::empty(out.sizes(), DType::Int64);
  const int64_t area = w.image_area(), windows = w.columns();
  parallel_for(0, x.numel() / area, planes_per_piece(windows * w.kernel_area()), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t* image = x.data<int64_t>() + p * area;
      int64_t* to = result.data<int64_t>() + p * windows;
      a.each_row([&](int64_t z, int64_t y) {
        std::fill_n(to, w.count[2], int64_t{0});
        a.each_element(z, y, [&](int64_t image_row, int64_t offset) {
          const Visible x(offset, w.image[2], w.count[2], w.stride[2]);
          for (int64_t i = x.from; i < x.to; ++i) to[i] += image[image_row + offset + i * w.stride[2]];
        });
        for (int64_t i = 0; i < w.count[2]; ++i)
          to[i] /= a.divisor ? *a.divisor : a.counted(0, z) * a.counted(1, y) * a.counted(2, i);
        to += w.count[2];
      });
    }
  });
  ops::copy_(out, result);
}

void average(const Tensor& self, int64_t rank, const Averages& a, const Tensor& out) {
  if (out.numel() == 0) return;
  if (self.dtype() == DType::Int64) return average_whole(self, a, out);
  Planes planes(out, rank);
  Tensor x = ops::contiguous(self, planes.format);
  const int64_t area = a.w.image_area() * planes.inner, windows = a.w.columns() * planes.inner;
  visit_compute(self.dtype(), [&]<class T>() {
    parallel_for(0, planes.outer, planes_per_piece(windows * a.w.kernel_area()), [&](int64_t begin, int64_t end) {
      RowReader<T> in(x, area);
      RowWriter<T> to(out, windows);
      for (int64_t p = begin; p < end; ++p) {
        if (planes.inner > 1)
          average_channels<T>(a, in(p * area, area), to.at(p * windows), planes.inner);
        else
          average_plane<T>(a, in(p * area, area), to.at(p * windows));
        to.done(p * windows, windows);
      }
    });
  });
}

template <class T>
void share_channels(const Averages& a, const T* from, T* image, int64_t channels) {
  const Windows& w = a.w;
  a.each_row([&](int64_t z, int64_t y) {
    auto factors = a.factors<T>(z, y);
    for (int64_t x = 0; x < w.count[2]; ++x, from += channels)
      a.each_element(z, y, [&](int64_t image_row, int64_t offset) {
        int64_t in_x = x * w.stride[2] + offset;
        if (inside(in_x, w.image[2]))
          row_kernels<T>().scale_add(from, image + (image_row + in_x) * channels, channels, factors[x]);
      });
  });
}

template <class T>
void share_plane(const Averages& a, const T* from, T* image) {
  const Windows& w = a.w;
  const int64_t n = w.count[2];
  a.each_row([&](int64_t z, int64_t y) {
    auto shares = a.factors<T>(z, y);
    for (int64_t x = 0; x < n; ++x) shares[x] *= from[x];
    a.each_element(z, y, [&](int64_t image_row, int64_t offset) {
      Visible x(offset, w.image[2], n, w.stride[2]);
      row_kernels<T>().give_sum(shares.data() + x.from, image + image_row + offset + x.from * w.stride[2], w.stride[2],
                                x.count());
    });
    from += n;
  });
}

void average_backward(const Tensor& upper, int64_t rank, const Averages& a, const Tensor& out) {
  if (out.numel() == 0) return;
  Planes planes(out, rank);
  Tensor g = ops::contiguous(upper, planes.format);
  const int64_t area = a.w.image_area() * planes.inner, windows = a.w.columns() * planes.inner;
  visit_compute(out.dtype(), [&]<class T>() {
    parallel_for(0, planes.outer, planes_per_piece(windows * a.w.kernel_area()), [&](int64_t begin, int64_t end) {
      RowReader<T> in(g, windows);
      RowWriter<T> to(out, area);
      for (int64_t p = begin; p < end; ++p) {
        T* image = to.at(p * area);
        std::fill_n(image, area, T(0));
        if (planes.inner > 1)
          share_channels<T>(a, in(p * windows, windows), image, planes.inner);
        else
          share_plane<T>(a, in(p * windows, windows), image);
        to.done(p * area, area);
      }
    });
  });
}

}  // namespace

void avg_pool2d(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, bool ceil_mode,
                bool count_include_pad, std::optional<int64_t> divisor_override, const Tensor& out) {
  average(self, 2,
          averages(self.sizes(), 2, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override), out);
}
void avg_pool3d(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, bool ceil_mode,
                bool count_include_pad, std::optional<int64_t> divisor_override, const Tensor& out) {
  average(self, 3,
          averages(self.sizes(), 3, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override), out);
}
void avg_pool2d_gradient(const Tensor& upper, IntList sizes, IntList kernel_size, IntList stride, IntList padding,
                         bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override,
                         const Tensor& out) {
  average_backward(
      upper, 2, averages(sizes, 2, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override), out);
}
void avg_pool3d_gradient(const Tensor& upper, IntList sizes, IntList kernel_size, IntList stride, IntList padding,
                         bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override,
                         const Tensor& out) {
  average_backward(
      upper, 3, averages(sizes, 3, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override), out);
}

}  // namespace taeda::cpu
