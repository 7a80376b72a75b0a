// Batch normalisation of (N, C, positions). Where channels come last (or there are no positions) the tensor is a matrix
// whose columns are channels; else a channel is one row in every sample.
#include "backend/cpu/norm/norm.h"
#include "backend/cpu/ops/norm.h"
#include "shape/norm_rules.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

namespace {

struct Layout {
  int64_t n, c, area;
  bool columns;
  MemoryFormat format;

  explicit Layout(const Tensor& t) : n(t.sizes()[0]), c(t.sizes()[1]), area(1), format(shape::normalised_format(t)) {
    for (int64_t d = 2; d < t.dim(); ++d) area *= t.sizes()[d];
    columns = area == 1 || format != MemoryFormat::Contiguous;
  }
  Tensor prepare(const Tensor& t) const { return ops::contiguous(t, format); }
  int64_t rows() const { return n * area; }  // of the matrix
  int64_t count() const { return n * area; }
};

template <class T>
struct Statistics {
  std::vector<T> mean, squares;
};

template <class T>
Statistics<T> column_statistics(const Tensor& x, const Layout& at) {
  const RowKernels<T>& rows = row_kernels<T>();
  const int64_t c = at.c;
  auto mean = sum_pieces<T>(at.rows(), c, c, [&](int64_t begin, int64_t end, T* sums) {
    RowReader<T> in(x, c);
    for (int64_t r = begin; r < end; ++r) rows.accumulate(in(r * c, c), sums, c);
  });
  for (T& m : mean) m /= static_cast<T>(at.rows());
  auto squares = sum_pieces<T>(at.rows(), c, c, [&](int64_t begin, int64_t end, T* sums) {
    RowReader<T> in(x, c);
    for (int64_t r = begin; r < end; ++r) rows.accumulate_squares(in(r * c, c), mean.data(), sums, c);
  });
  return {mean, squares};
}

// Each sample's row has its own mean; they are joined one after another (T. Chan, G. Golub, R. LeVeque, 1979).
template <class T>
Statistics<T> row_statistics(const Tensor& x, const Layout& at) {
  Statistics<T> s{std::vector<T>(at.c), std::vector<T>(at.c)};
  parallel_for(0, at.c, std::max<int64_t>(1, kGrain / 4 / std::max<int64_t>(at.count(), 1)),
               [&](int64_t begin, int64_t end) {
                 RowReader<T> in(x, at.area);
                 for (int64_t c = begin; c < end; ++c) {
                   double mean = 0, squares = 0;
                   for (int64_t n = 0; n < at.n; ++n) {
                     Pair<T> m = row_kernels<T>().moments(in((n * at.c + c) * at.area, at.area), at.area);
                     double delta = m.first - mean;
                     mean += delta / static_cast<double>(n + 1);
                     squares += m.second + delta * delta * static_cast<double>(at.area) * static_cast<double>(n) /
                                               static_cast<double>(n + 1);
                   }
                   s.mean[c] = static_cast<T>(mean);
                   s.squares[c] = static_cast<T>(squares);
                 }
               });
  return s;
}

// body(begin, end, length) for rows of one channel's numbers, or of all channels of one position.
template <class F>
void each_row(const Layout& at, const F& body) {
  const int64_t length = at.columns ? at.c : at.area, count = at.columns ? at.rows() : at.n * at.c;
  parallel_for(0, count, std::max<int64_t>(1, kGrain / 4 / std::max<int64_t>(length, 1)),
               [&](int64_t begin, int64_t end) { body(begin, end, length); });
}

template <class T>
void move_running(const Tensor& running, const std::vector<T>& values, double momentum) {
  if (!running.defined()) return;
  prepare_write(running);  // its declaration does not say so
  auto now = parameter<T>(running, running.numel(), 0);
  for (size_t i = 0; i < now.size(); ++i)
    now[i] = static_cast<T>((1 - momentum) * static_cast<double>(now[i]) + momentum * static_cast<double>(values[i]));
  converter(dtype_of<T>, running.dtype())(running.data<char>(), running.strides()[0] * running.itemsize(),
                                          reinterpret_cast<const char*>(now.data()), sizeof(T), running.numel());
}

}  // namespace

void _native_batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                        const Tensor& running_var, bool training, double momentum, double eps, const Tensor& out,
                        const Tensor& mean, const Tensor& rstd) {
  if (input.numel() == 0) return;
  Layout at(input);
  Tensor x = at.prepare(input);
  visit_compute(x.dtype(), [&]<class T>() {
    const RowKernels<T>& rows = row_kernels<T>();
    auto slope = parameter<T>(weight, at.c, 1), constant = parameter<T>(bias, at.c, 0);
    std::vector<T> means, variances;
    if (training) {
      auto [m, squares] = at.columns ? column_statistics<T>(x, at) : row_statistics<T>(x, at);
      means = m;
      auto unbiased = squares;
      for (T& v : unbiased) v /= static_cast<T>(std::max<int64_t>(at.count() - 1, 1));
      for (T& v : squares) v /= static_cast<T>(at.count());
      variances = squares;
      move_running(running_mean, means, momentum);
      move_running(running_var, unbiased, momentum);
    } else {
      means = parameter<T>(running_mean, at.c, 0);
      variances = parameter<T>(running_var, at.c, 1);
    }
    for (int64_t c = 0; c < at.c; ++c) {
      T scale = 1 / std::sqrt(variances[c] + static_cast<T>(eps));
      mean.data<T>()[c] = means[c];
      rstd.data<T>()[c] = scale;
      slope[c] *= scale;
      constant[c] -= means[c] * slope[c];
    }
    each_row(at, [&](int64_t begin, int64_t end, int64_t length) {
      RowReader<T> in(x, length);
      RowWriter<T> to(out, length);
      for (int64_t r = begin; r < end; ++r) {
        const T* row = in(r * length, length);
        if (at.columns)
          rows.affine_each(row, slope.data(), constant.data(), to.at(r * length), length);
        else
          rows.affine(row, to.at(r * length), length, slope[r % at.c], constant[r % at.c]);
        to.done(r * length, length);
      }
    });
  });
}

namespace {

// Per channel: the sums of g and of g * (x - mean).
template <class T>
std::vector<T> gradient_sums(const Tensor& g, const Tensor& x, const Layout& at, const std::vector<T>& mean) {
  const RowKernels<T>& rows = row_kernels<T>();
  const int64_t c = at.c;
  if (at.columns)
    return sum_pieces<T>(at.rows(), 2 * c, c, [&](int64_t begin, int64_t end, T* sums) {
      RowReader<T> from_g(g, c), from_x(x, c);
      for (int64_t r = begin; r < end; ++r)
        rows.accumulate_dots(from_g(r * c, c), from_x(r * c, c), mean.data(), sums, sums + c, c);
    });
  std::vector<T> sums(2 * c);
  parallel_for(0, c, std::max<int64_t>(1, kGrain / 4 / std::max<int64_t>(at.count(), 1)),
               [&](int64_t begin, int64_t end) {
                 RowReader<T> from_g(g, at.area), from_x(x, at.area);
                 for (int64_t k = begin; k < end; ++k)
                   for (int64_t n = 0; n < at.n; ++n) {
                     int64_t offset = (n * c + k) * at.area;
                     Pair<T> d = rows.dots(from_g(offset, at.area), from_x(offset, at.area), at.area, mean[k]);
                     sums[k] += d.first;
                     sums[c + k] += d.second;
                   }
               });
  return sums;
}

}  // namespace

void batch_norm_grads(const Tensor& grad, const Tensor& input, const Tensor& weight, const Tensor& mean,
                      const Tensor& rstd, bool training, IntList output_mask, const Tensor& out0, const Tensor& out1,
                      const Tensor& out2) {
  Layout at(input);
  Tensor x = at.prepare(input), g = at.prepare(grad);
  const int64_t c = at.c;
  visit_compute(x.dtype(), [&]<class T>() {
    const RowKernels<T>& rows = row_kernels<T>();
    auto means = parameter<T>(mean, c, 0), scale = parameter<T>(rstd, c, 1), w = parameter<T>(weight, c, 1);
    std::vector<T> sums(2 * c);
    if (training || output_mask[1] || output_mask[2]) sums = gradient_sums<T>(g, x, at, means);
    // dx = a * g + b * x + k, where the last two take off what moving the statistics did.
    std::vector<T> a(c), b(c), k(c), to_weight(c);
    for (int64_t i = 0; i < c; ++i) {
      a[i] = scale[i] * w[i];
      to_weight[i] = sums[c + i] * scale[i];
      if (!training) continue;
      b[i] = -a[i] * scale[i] * to_weight[i] / static_cast<T>(at.count());
      k[i] = -a[i] * sums[i] / static_cast<T>(at.count()) - b[i] * means[i];
    }
    if (output_mask[1]) write_parameter(to_weight, out1);
    sums.resize(c);
    if (output_mask[2]) write_parameter(sums, out2);
    if (!output_mask[0]) return;
    each_row(at, [&](int64_t begin, int64_t end, int64_t length) {
      RowReader<T> from_g(g, length), from_x(x, length);
      RowWriter<T> to(out0, length);
      for (int64_t r = begin; r < end; ++r) {
        const T *gs = from_g(r * length, length), *xs = from_x(r * length, length);
        int64_t i = r % c;
        if (at.columns)
          rows.combine_each(gs, xs, to.at(r * length), length, a.data(), b.data(), k.data());
        else
          rows.combine(gs, xs, to.at(r * length), length, a[i], b[i], k[i]);
        to.done(r * length, length);
      }
    });
  });
}

}  // namespace taeda::cpu
