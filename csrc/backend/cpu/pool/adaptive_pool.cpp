// Pooling with windows chosen to give an output size: window i of n covers floor(i m / n) to ceil((i + 1) m / n) of m.
// The image rows of a row of windows become one, from which each window takes its part.
#include <algorithm>

#include "backend/cpu/ops/pool.h"
#include "backend/cpu/pool/pool.h"
#include "shape/view_rules.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"

namespace taeda::cpu {

namespace {

constexpr int64_t kShort = 16;  // numbers that are summed before a call for them would have begun

struct Span {
  int64_t from, to;
  int64_t size() const { return to - from; }
};

// Planes of up to three dimensions, and where the windows begin and end along each.
struct Areas {
  std::array<int64_t, 3> image{1, 1, 1};
  std::array<std::vector<Span>, 3> spans;

  Areas(const Tensor& images, const Tensor& windows, int64_t rank) {
    for (int64_t d = 3 - rank; d < 3; ++d) image[d] = images.size(d - 3);
    for (int64_t d = 0; d < 3; ++d) {
      const int64_t size = image[d], count = d < 3 - rank ? 1 : windows.size(d - 3);
      for (int64_t i = 0; i < count; ++i) spans[d].push_back({i * size / count, ((i + 1) * size + count - 1) / count});
    }
    if (image[2] > 1 || spans[2].size() > 1) return;  // else rows along the dimension before
    std::rotate(image.begin(), image.begin() + 2, image.end());
    std::rotate(spans.begin(), spans.begin() + 2, spans.end());
  }
  int64_t width() const { return image[2]; }
  int64_t area() const { return image[0] * image[1] * image[2]; }
  int64_t windows() const { return static_cast<int64_t>(spans[0].size() * spans[1].size() * spans[2].size()); }

  // body(span of z, span of y) for every row of windows.
  template <class F>
  void each_row(const F& body) const {
    for (const Span& z : spans[0])
      for (const Span& y : spans[1]) body(z, y);
  }
  // body(where it starts in the plane) for the image rows of such a row.
  template <class F>
  void each_image_row(const Span& z, const Span& y, const F& body) const {
    for (int64_t k = z.from; k < z.to; ++k)
      for (int64_t j = y.from; j < y.to; ++j) body((k * image[1] + j) * image[2]);
  }
};

// body(begin, end) for pieces of the planes.
template <class F>
void each_piece(int64_t planes, int64_t cost, const F& body) {
  parallel_for(0, planes, planes_per_piece(cost), body);
}

Tensor dense_like(const Tensor& out) { return out.is_contiguous() ? out : ops::empty(out.sizes(), out.dtype()); }

// --- the largest

// The first of equal ones wins, the last of those that are not numbers.
template <class T>
bool beats(T a, int32_t place_of_a, T b, int32_t place_of_b) {
  if (a != a) return b == b || place_of_a > place_of_b;
  return a > b || (a == b && place_of_a < place_of_b);
}

template <class T>
void largest_of_plane(const Areas& areas, const T* plane, T* best, int32_t* places, T* out, int64_t* index) {
  areas.each_row([&](const Span& z, const Span& y) {
    bool begun = false;
    areas.each_image_row(z, y, [&](int64_t start) {
      auto join = begun ? row_kernels<T>().take_max : row_kernels<T>().begin_max;
      join(plane + start, 1, best, places, areas.width(), static_cast<int32_t>(start), 1);
      begun = true;
    });
    for (const Span& x : areas.spans[2]) {
      int64_t top = x.from;
      for (int64_t i = x.from + 1; i < x.to; ++i)
        if (beats(best[i], places[i], best[top], places[top])) top = i;
      *out++ = best[top];
      *index++ = places[top];
    }
  });
}

void largest(const Tensor& self, int64_t rank, const Tensor& output, const Tensor& indices) {
  if (output.numel() == 0) return;
  const Tensor x = ops::contiguous(self), to_values = dense_like(output), to_indices = dense_like(indices);
  const Areas areas(x, output, rank);
  const int64_t area = areas.area(), windows = areas.windows();
  TAEDA_CHECK(area <= INT32_MAX, "planes of more than 2^31 - 1 elements cannot be pooled; got shape ", self.sizes());
  visit_compute(self.dtype(), [&]<class T>() {
    each_piece(output.numel() / windows, area + windows, [&](int64_t begin, int64_t end) {
      RowReader<T> in(x, area);
      RowWriter<T> to(to_values, windows);
      std::vector<T> best(areas.width());
      std::vector<int32_t> places(areas.width());
      for (int64_t p = begin; p < end; ++p) {
        largest_of_plane(areas, in(p * area, area), best.data(), places.data(), to.at(p * windows),
                         to_indices.data<int64_t>() + p * windows);
        to.done(p * windows, windows);
      }
    });
  });
  if (!to_values.is(output)) ops::copy_(output, to_values);
  if (!to_indices.is(indices)) ops::copy_(indices, to_indices);
}

// --- the mean

// Where channels come last, the vectors of a window's positions are added up.
void mean_of_vectors(const Tensor& self, int64_t rank, const Tensor& output) {
  Tensor images = ops::contiguous(self, rank == 2 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d);
  const Areas areas(images, output, rank);
  const int64_t channels = images.sizes()[1], image = areas.area() * channels, windows = areas.windows() * channels;
  visit_compute(self.dtype(), [&]<class T>() {
    each_piece(images.sizes()[0], image + windows, [&](int64_t begin, int64_t end) {
      RowReader<T> in(images, image);
      RowWriter<T> to(output, windows);
      std::vector<const T*> rows;
      for (int64_t n = begin; n < end; ++n) {
        const T* from = in(n * image, image);
        T* means = to.at(n * windows);
        areas.each_row([&](const Span& z, const Span& y) {
          for (const Span& x : areas.spans[2]) {
            rows.clear();
            areas.each_image_row(z, y, [&](int64_t start) {
              for (int64_t i = x.from; i < x.to; ++i) rows.push_back(from + (start + i) * channels);
            });
            row_kernels<T>().sum_of(rows.data(), nullptr, static_cast<int64_t>(rows.size()),
                                    T(1) / static_cast<T>(rows.size()), means, channels);
            means += channels;
          }
        });
        to.done(n * windows, windows);
      }
    });
  });
}

// The mean of each whole plane, as most nets end.
template <class T>
void mean_of_planes(const Tensor& x, int64_t area, const Tensor& output) {
  each_piece(output.numel(), area, [&](int64_t begin, int64_t end) {
    RowReader<T> in(x, area);
    RowWriter<T> to(output, end - begin);
    T* means = to.at(begin);
    for (int64_t p = begin; p < end; ++p)
      means[p - begin] = row_kernels<T>().sum(in(p * area, area), area) / static_cast<T>(area);
    to.done(begin, end - begin);
  });
}

template <class T>
T sum_of_span(const T* line, const Span& span) {
  if (span.size() > kShort) return row_kernels<T>().sum(line + span.from, span.size());
  T sum = 0;
  for (int64_t i = span.from; i < span.to; ++i) sum += line[i];
  return sum;
}

template <class T>
void mean_in_plane(const Areas& areas, const T* plane, std::vector<const T*>& rows, T* line, T* out) {
  areas.each_row([&](const Span& z, const Span& y) {
    rows.clear();
    areas.each_image_row(z, y, [&](int64_t start) { rows.push_back(plane + start); });
    const auto count = static_cast<int64_t>(rows.size());
    row_kernels<T>().sum_of(rows.data(), nullptr, count, T(1), line, areas.width());
    for (const Span& x : areas.spans[2]) *out++ = sum_of_span(line, x) / static_cast<T>(count * x.size());
  });
}

void mean(const Tensor& self, int64_t rank, const Tensor& output) {
  if (output.numel() == 0) return;
  const bool vectors =
      self.dim() == rank + 2 && shape::suggested_format(self) != MemoryFormat::Contiguous && output.stride(1) == 1;
  if (vectors) return mean_of_vectors(self, rank, output);
  const Tensor x = ops::contiguous(self), dense = dense_like(output);
  const Areas areas(x, output, rank);
  const int64_t area = areas.area(), windows = areas.windows();
  visit_compute(self.dtype(), [&]<class T>() {
    if (windows == 1) return mean_of_planes<T>(x, area, dense);
    each_piece(output.numel() / windows, area + windows, [&](int64_t begin, int64_t end) {
      RowReader<T> in(x, area);
      RowWriter<T> to(dense, windows);
      std::vector<const T*> rows;
      std::vector<T> line(areas.width());
      for (int64_t p = begin; p < end; ++p) {
        mean_in_plane(areas, in(p * area, area), rows, line.data(), to.at(p * windows));
        to.done(p * windows, windows);
      }
    });
  });
  if (!dense.is(output)) ops::copy_(output, dense);
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

namespace {

// The shares of a row of windows along x, in `line`, are added to the image rows that they see.
template <class T>
void spread_mean(const Areas& areas, const T* grad, T* line, T* plane) {
  std::fill_n(plane, areas.area(), T(0));
  areas.each_row([&](const Span& z, const Span& y) {
    std::fill_n(line, areas.width(), T(0));
    for (const Span& x : areas.spans[2]) {
      const T share = *grad++ / static_cast<T>(z.size() * y.size() * x.size());
      for (int64_t i = x.from; i < x.to; ++i) line[i] += share;
    }
    areas.each_image_row(z, y, [&](int64_t start) { row_kernels<T>().accumulate(line, plane + start, areas.width()); });
  });
}

}  // namespace

void adaptive_avg_pool_backward(const Tensor& upper, IntList, int64_t rank, const Tensor& out) {
  if (out.numel() == 0) return;
  const Tensor grad = ops::contiguous(upper), dense = dense_like(out);
  const Areas areas(dense, grad, rank);
  const int64_t area = areas.area(), windows = areas.windows();
  visit_compute(out.dtype(), [&]<class T>() {
    each_piece(out.numel() / area, area + windows, [&](int64_t begin, int64_t end) {
      RowReader<T> in(grad, windows);
      RowWriter<T> to(dense, area);
      std::vector<T> line(areas.width());
      for (int64_t p = begin; p < end; ++p) {
        spread_mean(areas, in(p * windows, windows), line.data(), to.at(p * area));
        to.done(p * area, area);
      }
    });
  });
  if (!dense.is(out)) ops::copy_(out, dense);
}

}  // namespace taeda::cpu
