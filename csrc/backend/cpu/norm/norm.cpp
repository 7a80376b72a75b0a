// Normalisation of rows: layer norm, and RMS norm as its form that is not centred.
#include "backend/cpu/norm/norm.h"

#include "backend/cpu/ops/norm.h"
#include "shape/norm_rules.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/unary.h"

namespace taeda::cpu {

namespace {

int64_t row_length(IntList normalized_shape) { return numel_of(normalized_shape); }
int64_t rows_per_piece(int64_t n) { return std::max<int64_t>(1, kGrain / 4 / std::max<int64_t>(n, 1)); }

// Without `mean` the rows are not centred.
void normalise_rows(const Tensor& input, int64_t n, const Tensor& weight, const Tensor& bias, double eps,
                    const Tensor& out, const Tensor& mean, const Tensor& rstd) {
  if (input.numel() == 0) return;
  Tensor x = ops::contiguous(input);
  visit_compute(x.dtype(), [&]<class T>() {
    const RowKernels<T>& rows = row_kernels<T>();
    Tensor w = weight.defined() ? ops::contiguous(weight) : weight, b = bias.defined() ? ops::contiguous(bias) : bias;
    RowReader<T> all_w(w, n), all_b(b, n);
    const T *weights = all_w(0, n), *biases = all_b(0, n);
    parallel_for(0, x.numel() / n, rows_per_piece(n), [&](int64_t begin, int64_t end) {
      RowReader<T> in(x, n);
      RowWriter<T> to(out, n);
      for (int64_t r = begin; r < end; ++r) {
        const T* row = in(r * n, n);
        Pair<T> m = mean.defined() ? rows.moments(row, n) : Pair<T>{0, rows.dot(row, row, n)};
        T scale = 1 / std::sqrt(m.second / static_cast<T>(n) + static_cast<T>(eps));
        rows.normalise(row, weights, biases, to.at(r * n), n, m.first, scale);
        to.done(r * n, n);
        if (mean.defined()) mean.data<T>()[r] = m.first;
        rstd.data<T>()[r] = scale;
      }
    });
  });
}

}  // namespace

void _native_layer_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight, const Tensor& bias,
                        double eps, const Tensor& out, const Tensor& mean, const Tensor& rstd) {
  normalise_rows(input, row_length(normalized_shape), weight, bias, eps, out, mean, rstd);
}

namespace {

// Without conjugates, as PyTorch has it.
void complex_rms_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight, double eps,
                      const Tensor& out, const Tensor& rstd) {
  shape::Dims within;
  for (int64_t d = input.dim() - static_cast<int64_t>(normalized_shape.size()); d < input.dim(); ++d)
    within.push_back(d);
  ops::copy_(rstd, ops::rsqrt(ops::add(ops::mean(ops::mul(input, input), within, true), Scalar(eps))));
  Tensor rows = ops::mul(input, rstd);
  ops::copy_(out, weight.defined() ? ops::mul(rows, weight) : rows);
}

}  // namespace

void _fused_rms_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight, std::optional<double> eps,
                     const Tensor& out, const Tensor& rstd) {
  const double least = eps.value_or(shape::default_eps(input.dtype()));
  if (is_complex(input.dtype())) return complex_rms_norm(input, normalized_shape, weight, least, out, rstd);
  normalise_rows(input, row_length(normalized_shape), weight, {}, least, out, {}, rstd);
}

void layer_norm_grads(const Tensor& grad, const Tensor& input, IntList normalized_shape, const Tensor& mean,
                      const Tensor& rstd, const Tensor& weight, IntList output_mask, const Tensor& out0,
                      const Tensor& out1, const Tensor& out2) {
  const int64_t n = row_length(normalized_shape), count = n ? input.numel() / n : 0;
  Tensor g = ops::contiguous(grad), x = ops::contiguous(input), w = weight.defined() ? ops::contiguous(weight) : weight;
  visit_compute(x.dtype(), [&]<class T>() {
    RowReader<T> all_w(w, n);
    const T* weights = all_w(0, n);
    bool to_weight = output_mask[1], to_bias = output_mask[2];
    auto sums = sum_pieces<T>(count, 2 * n, n, [&](int64_t begin, int64_t end, T* piece) {
      RowReader<T> from_g(g, n), from_x(x, n);
      std::unique_ptr<RowWriter<T>> to(output_mask[0] ? new RowWriter<T>(out0, n) : nullptr);
      for (int64_t r = begin; r < end; ++r) {
        row_kernels<T>().normalise_backward(from_g(r * n, n), from_x(r * n, n), weights, to ? to->at(r * n) : nullptr,
                                            to_weight ? piece : nullptr, to_bias ? piece + n : nullptr, n,
                                            mean.defined() ? mean.data<T>()[r] : T(0), rstd.data<T>()[r],
                                            mean.defined());
        if (to) to->done(r * n, n);
      }
    });
    std::vector<T> bias_sums(sums.begin() + n, sums.end());
    sums.resize(n);
    if (to_weight) write_parameter(sums, out1);
    if (to_bias) write_parameter(bias_sums, out2);
  });
}

}  // namespace taeda::cpu
