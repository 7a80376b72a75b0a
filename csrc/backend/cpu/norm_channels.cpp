// Group normalisation of (N, C, positions): a group's channels lie one after another, so that each group is one row.
#include "api/ops.h"
#include "backend/cpu/norm.h"
#include "shape/ops/norm.h"

namespace taeda::cpu {

namespace {

int64_t groups_per_piece(int64_t length) { return std::max<int64_t>(1, kGrain / 4 / std::max<int64_t>(length, 1)); }

}  // namespace

void native_group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t n, int64_t c,
                       int64_t area, int64_t group, double eps, const Tensor& out, const Tensor& mean,
                       const Tensor& rstd) {
  if (input.numel() == 0) return;
  Tensor x = ops::contiguous(input);
  const int64_t channels = c / group, length = channels * area;
  visit_compute(x.dtype(), [&]<class T>() {
    const RowKernels<T>& rows = row_kernels<T>();
    auto w = parameter<T>(weight, c, 1), b = parameter<T>(bias, c, 0);
    parallel_for(0, n * group, groups_per_piece(length), [&](int64_t begin, int64_t end) {
      RowReader<T> in(x, length);
      RowWriter<T> to(out, length);
      for (int64_t k = begin; k < end; ++k) {
        const T* row = in(k * length, length);
        T* result = to.at(k * length);
        Pair<T> m = rows.moments(row, length);
        T scale = 1 / std::sqrt(m.second / static_cast<T>(length) + static_cast<T>(eps));
        const int64_t first = k % group * channels;
        if (area == 1)
          rows.normalise(row, w.data() + first, b.data() + first, result, length, m.first, scale);
        else
          for (int64_t i = 0; i < channels; ++i) {
            T slope = scale * w[first + i];
            rows.affine(row + i * area, result + i * area, area, slope, b[first + i] - m.first * slope);
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
  visit_compute(x.dtype(), [&]<class T>() {
    const RowKernels<T>& rows = row_kernels<T>();
    auto w = parameter<T>(weight, c, 1);
    // Samples are added up; the first c sums are the weight's gradient, the others the bias's.
    auto sums = sum_pieces<T>(area ? n : 0, 2 * c, c * area, [&](int64_t begin, int64_t end, T* piece) {
      RowReader<T> from_g(g, length), from_x(x, length);
      std::unique_ptr<RowWriter<T>> to(output_mask[0] ? new RowWriter<T>(out0, length) : nullptr);
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
}

}  // namespace taeda::cpu
