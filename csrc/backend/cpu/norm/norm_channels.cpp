// Group normalisation of (N, C, positions): a group's channels lie one after another, so that each group is one row.
#include "backend/cpu/norm/norm.h"
#include "backend/cpu/ops/norm.h"
#include "shape/norm_rules.h"
#include "shape/view_rules.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"

namespace taeda::cpu {

namespace {

int64_t groups_per_piece(int64_t length) { return std::max<int64_t>(1, kGrain / 4 / std::max<int64_t>(length, 1)); }

// Where channels come last, a gradient is made with positions last and moved.
struct Positioned {
  const Tensor& out;
  Tensor dense;
  explicit Positioned(const Tensor& t) : out(t), dense(t.is_contiguous() ? t : ops::empty(t.sizes(), t.dtype())) {}
  void finish() const {
    if (!dense.is(out)) ops::copy_(out, dense);
  }
};

// Where channels come last, a sample is a matrix whose columns are channels.
template <class T>
void normalise_columns(const Tensor& x, const std::vector<T>& w, const std::vector<T>& b, int64_t area, int64_t group,
                       double eps, const Tensor& out, const Tensor& mean, const Tensor& rstd) {
  const RowKernels<T>& rows = row_kernels<T>();
  const int64_t c = static_cast<int64_t>(w.size()), channels = c / group, size = c * area;
  const T length = static_cast<T>(channels * area);
  parallel_for(0, x.sizes()[0], groups_per_piece(size), [&](int64_t begin, int64_t end) {
    RowReader<T> in(x, size);
    RowWriter<T> to(out, size);
    std::vector<T> means(c), squares(c), slope(c), constant(c);
    for (int64_t n = begin; n < end; ++n) {
      const T* from = in(n * size, size);
      T* y = to.at(n * size);
      std::fill(means.begin(), means.end(), T(0));
      std::fill(squares.begin(), squares.end(), T(0));
      for (int64_t r = 0; r < area; ++r) rows.accumulate(from + r * c, means.data(), c);
      for (int64_t g = 0; g < group; ++g) {
        const T m = rows.sum(means.data() + g * channels, channels) / length;
        std::fill_n(means.begin() + g * channels, channels, m);
        mean.data<T>()[n * group + g] = m;
      }
      for (int64_t r = 0; r < area; ++r) rows.accumulate_squares(from + r * c, means.data(), squares.data(), c);
      for (int64_t g = 0; g < group; ++g) {
        const T scale = 1 / std::sqrt(rows.sum(squares.data() + g * channels, channels) / length + static_cast<T>(eps));
        rstd.data<T>()[n * group + g] = scale;
        for (int64_t i = g * channels; i < (g + 1) * channels; ++i) {
          slope[i] = scale * w[i];
          constant[i] = b[i] - means[i] * slope[i];
        }
      }
      for (int64_t r = 0; r < area; ++r) rows.affine_each(from + r * c, slope.data(), constant.data(), y + r * c, c);
      to.done(n * size, size);
    }
  });
}

}  // namespace

void _native_group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t n, int64_t c,
                        int64_t area, int64_t group, double eps, const Tensor& out, const Tensor& mean,
                        const Tensor& rstd) {
  if (input.numel() == 0) return;
  const bool last = !out.is_contiguous();
  Tensor x = ops::contiguous(input, last ? shape::normalised_format(input) : MemoryFormat::Contiguous);
  const int64_t channels = c / group, length = channels * area;
  visit_compute(x.dtype(), [&]<class T>() {
    const RowKernels<T>& rows = row_kernels<T>();
    auto w = parameter<T>(weight, c, 1), b = parameter<T>(bias, c, 0);
    if (last) return normalise_columns<T>(x, w, b, area, group, eps, out, mean, rstd);
    parallel_for(0, n * group, groups_per_piece(length), [&](int64_t begin, int64_t end) {
      RowReader<T> in(x, length);
      RowWriter<T> to(out, length);
      for (int64_t k = begin; k < end; ++k) {
        const T* row = in(k * length, length);
        T* y = to.at(k * length);
        Pair<T> m = rows.moments(row, length);
        T scale = 1 / std::sqrt(m.second / static_cast<T>(length) + static_cast<T>(eps));
        const int64_t first = k % group * channels;
        if (area == 1)
          rows.normalise(row, w.data() + first, b.data() + first, y, length, m.first, scale);
        else
          for (int64_t i = 0; i < channels; ++i) {
            T slope = scale * w[first + i];
            rows.affine(row + i * area, y + i * area, area, slope, b[first + i] - m.first * slope);
          }
        to.done(k * length, length);
        mean.data<T>()[k] = m.first;
        rstd.data<T>()[k] = scale;
      }
    });
  });
}

void group_norm_grads(const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& rstd,
                      const Tensor& weight, int64_t group, IntList output_mask, const Tensor& out0, const Tensor& out1,
                      const Tensor& out2) {
  const int64_t n = input.sizes()[0], c = input.sizes()[1], channels = c / group;
  const int64_t area = input.numel() ? input.numel() / (n * c) : 0, length = channels * area;
  Tensor g = ops::contiguous(grad), x = ops::contiguous(input);
  const Positioned to_input(out0);
  visit_compute(x.dtype(), [&]<class T>() {
    const RowKernels<T>& rows = row_kernels<T>();
    auto w = parameter<T>(weight, c, 1);
    // Samples are added up; the first c sums are the weight's gradient, the others the bias's.
    auto sums = sum_pieces<T>(area ? n : 0, 2 * c, c * area, [&](int64_t begin, int64_t end, T* piece) {
      RowReader<T> from_g(g, length), from_x(x, length);
      std::unique_ptr<RowWriter<T>> to(output_mask[0] ? new RowWriter<T>(to_input.dense, length) : nullptr);
      for (int64_t k = begin * group; k < end * group; ++k) {
        const T *gs = from_g(k * length, length), *xs = from_x(k * length, length);
        const int64_t first = k % group * channels;
        const T m = mean.data<T>()[k], scale = rstd.data<T>()[k];
        T along_mean = 0, along_x = 0;
        for (int64_t i = 0; i < channels; ++i) {
          Pair<T> d = rows.dots(gs + i * area, xs + i * area, area, m);
          piece[first + i] += d.second * scale;
          piece[c + first + i] += d.first;
          along_mean += d.first * w[first + i];
          along_x += d.second * w[first + i];
        }
        if (!to) continue;
        T* result = to->at(k * length);
        const T slope = -scale * scale * scale * along_x / static_cast<T>(length);
        const T constant = -scale * along_mean / static_cast<T>(length) - slope * m;
        for (int64_t i = 0; i < channels; ++i)
          rows.combine(gs + i * area, xs + i * area, result + i * area, area, scale * w[first + i], slope, constant);
        to->done(k * length, length);
      }
    });
    std::vector<T> bias_sums(sums.begin() + c, sums.end());
    sums.resize(c);
    if (output_mask[1]) write_parameter(sums, out1);
    if (output_mask[2]) write_parameter(bias_sums, out2);
  });
  if (output_mask[0]) to_input.finish();
}

}  // namespace taeda::cpu
