// Attention by blocks of query rows: a block's scores against all keys stay in cache (M. Rabe and C. Staats, 2021). The
// gradient computes them again from the logarithms of the softmax's sums.
#include <cmath>
#include <limits>

#include "backend/cpu/engine/row_kernels.h"
#include "backend/cpu/libraries/gemm.h"
#include "backend/cpu/ops/attention.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

namespace {

constexpr int64_t kBlockElements = 65536;

// (N, H, length, E), E contiguous, as matrices.
template <class T>
struct Heads {
  Tensor tensor;
  explicit Heads(const Tensor& t) : tensor(ops::to(t, dtype_of<T>)) {
    if (tensor.sizes()[3] > 1 && tensor.strides()[3] != 1) tensor = ops::contiguous(tensor);
  }
  int64_t row() const { return tensor.strides()[2]; }
  T* at(int64_t head, int64_t position) const {
    const int64_t h = tensor.sizes()[1];
    return tensor.data<T>() + head / h * tensor.strides()[0] + head % h * tensor.strides()[1] + position * row();
  }
};

template <class T>
struct Attention {
  Heads<T> q, k, v;
  Tensor bias;
  bool is_causal;
  T scale;
  int64_t heads, queries, keys, width, value_width, block;

  Attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, bool causal, double factor)
      : q(query),
        k(key),
        v(value),
        bias(mask.defined() ? ops::to(mask, dtype_of<T>) : mask),
        is_causal(causal),
        scale(static_cast<T>(factor)),
        heads(query.sizes()[0] * query.sizes()[1]),
        queries(query.sizes()[2]),
        keys(key.sizes()[2]),
        width(query.sizes()[3]),
        value_width(value.sizes()[3]),
        block(std::clamp<int64_t>(kBlockElements / std::max<int64_t>(keys, 1), 16, 128)) {}

  // How many keys the rows before `end` see.
  int64_t visible(int64_t end) const { return is_causal ? std::min(end, keys) : keys; }

  // c (m, n) = a (m, k) b (k, n); steps are those of a row and a column of each.
  static void product(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_row, int64_t a_col, const T* b,
                      int64_t b_row, int64_t b_col, T* c, int64_t c_row, T alpha, bool add) {
    if (m == 0 || n == 0) return;
    gemm({dtype_of<T>, 1, m, n, k, a, 0, a_row, a_col, b, 0, b_row, b_col, c, 0, c_row,
          Scalar(static_cast<double>(alpha)), Scalar(add ? 1.0 : 0.0)});
  }

  // Scores of rows [from, to) against `count` keys, masked.
  void scores(int64_t head, int64_t from, int64_t to, int64_t count, T* out) const {
    product(to - from, count, width, q.at(head, from), q.row(), 1, k.at(head, 0), 1, k.row(), out, count, scale, false);
    if (bias.defined()) {
      const int64_t h = bias.sizes()[1];
      const T* start = bias.data<T>() + head / h * bias.strides()[0] + head % h * bias.strides()[1];
      for (int64_t i = from; i < to; ++i)
        row_kernels<T>().accumulate(start + i * bias.strides()[2], out + (i - from) * count, count);
    }
    if (is_causal)
      for (int64_t i = from; i < to; ++i)
        for (int64_t j = i + 1; j < count; ++j) out[(i - from) * count + j] = -std::numeric_limits<T>::infinity();
  }
};

template <class T>
void forward(const Attention<T>& a, const Tensor& out, T* logsumexp) {
  Heads<T> result(out);
  const int64_t blocks = (a.queries + a.block - 1) / a.block;
  parallel_for(0, a.heads * blocks, 1, [&](int64_t begin, int64_t end) {
    std::unique_ptr<T[]> buffer(new T[a.block * a.keys]);
    T* p = buffer.get();
    for (int64_t k = begin; k < end; ++k) {
      const int64_t head = k / blocks, from = k % blocks * a.block, to = std::min(from + a.block, a.queries),
                    count = a.visible(to);
      a.scores(head, from, to, count, p);
      for (int64_t i = from; i < to; ++i) {
        T* row = p + (i - from) * count;
        T top = row_kernels<T>().maximum(row, count), total = 0;
        // A row that sees nothing gives zeros.
        if (top == -std::numeric_limits<T>::infinity())
          std::fill_n(row, count, T(0)), logsumexp[head * a.queries + i] = std::numeric_limits<T>::infinity();
        else
          total = row_kernels<T>().exp_sum(row, count, top), logsumexp[head * a.queries + i] = top + std::log(total);
        if (total != 0) row_kernels<T>().affine(row, row, count, 1 / total, 0);
      }
      a.product(to - from, a.value_width, count, p, count, 1, a.v.at(head, 0), a.v.row(), 1, result.at(head, from),
                result.row(), 1, false);
    }
  });
  if (!result.tensor.is(out)) ops::copy_(out, result.tensor);
}

template <class T>
void backward(const Attention<T>& a, const Tensor& grad, const Tensor& output, const T* logsumexp,
              const Tensor& to_query, const Tensor& to_key, const Tensor& to_value) {
  Heads<T> g(grad), o(output), gq(to_query), gk(to_key), gv(to_value);
  for (const auto* t : {&gq, &gk, &gv}) ops::zero_(t->tensor);
  // The sum of p * dp is that of grad * output, which is shorter; but not where the output was rounded.
  const bool is_exact = output.dtype() == dtype_of<T>;
  parallel_for(0, a.heads, 1, [&](int64_t begin, int64_t end) {
    std::unique_ptr<T[]> buffer(new T[2 * a.block * a.keys]);
    T *p = buffer.get(), *dp = p + a.block * a.keys;
    for (int64_t head = begin; head < end; ++head)
      for (int64_t from = 0; from < a.queries; from += a.block) {
        const int64_t to = std::min(from + a.block, a.queries), rows = to - from, count = a.visible(to);
        a.scores(head, from, to, count, p);
        for (int64_t i = 0; i < rows; ++i)
          row_kernels<T>().exp_shifted(p + i * count, p + i * count, count, logsumexp[head * a.queries + from + i], 1);
        a.product(count, a.value_width, rows, p, 1, count, g.at(head, from), g.row(), 1, gv.at(head, 0), gv.row(), 1,
                  true);
        a.product(rows, count, a.value_width, g.at(head, from), g.row(), 1, a.v.at(head, 0), 1, a.v.row(), dp, count, 1,
                  false);
        for (int64_t i = 0; i < rows; ++i) {  // dp = p * (dp - sum(p * dp))
          T sum = is_exact ? row_kernels<T>().dot(g.at(head, from + i), o.at(head, from + i), a.value_width)
                           : row_kernels<T>().dot(p + i * count, dp + i * count, count);
          row_kernels<T>().affine(dp + i * count, dp + i * count, count, 1, -sum);
          row_kernels<T>().multiply(p + i * count, dp + i * count, count);
        }
        a.product(rows, a.width, count, dp, count, 1, a.k.at(head, 0), a.k.row(), 1, gq.at(head, from), gq.row(),
                  a.scale, false);
        a.product(count, a.width, rows, dp, 1, count, a.q.at(head, from), a.q.row(), 1, gk.at(head, 0), gk.row(),
                  a.scale, true);
      }
  });
  if (!gq.tensor.is(to_query)) ops::copy_(to_query, gq.tensor);
  if (!gk.tensor.is(to_key)) ops::copy_(to_key, gk.tensor);
  if (!gv.tensor.is(to_value)) ops::copy_(to_value, gv.tensor);
}

}  // namespace

void attention_rows(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias, bool is_causal,
                    double scale, const Tensor& output, const Tensor& logsumexp) {
  if (key.sizes()[2] == 0) return void(ops::zero_(output));
  visit_compute(query.dtype(), [&]<class T>() {
    forward<T>(Attention<T>(query, key, value, bias, is_causal, scale), output, logsumexp.data<T>());
  });
}

void attention_grads(const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value,
                     const Tensor& bias, const Tensor& output, const Tensor& logsumexp, bool is_causal, double scale,
                     const Tensor& out0, const Tensor& out1, const Tensor& out2) {
  visit_compute(query.dtype(), [&]<class T>() {
    backward<T>(Attention<T>(query, key, value, bias, is_causal, scale), grad, output, logsumexp.data<T>(), out0, out1,
                out2);
  });
}

}  // namespace taeda::cpu
