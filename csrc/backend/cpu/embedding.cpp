// Tables: gradients of rows, norms of rows, bags of rows.
#include <cmath>

#include "api/ops.h"
#include "backend/cpu/combine.h"
#include "backend/cpu/order.h"
#include "backend/cpu/positions.h"
#include "shape/embedding_rules.h"
#include "shape/ops/embedding.h"

namespace taeda::cpu {

namespace {

constexpr int64_t kColumns = 64;  // of a row, that one thread handles at least

void check_rows(const Tensor& positions, int64_t rows) {
  const int64_t* index = positions.data<int64_t>();
  for (int64_t i = 0; i < positions.numel(); ++i)
    TAEDA_CHECK_INDEX(index[i] >= 0 && index[i] < rows, "index ", index[i], " is outside a table of ", rows, " rows");
}

// Each row divided by how often its index stands in `positions`.
Tensor by_frequency(const Tensor& rows, const Tensor& positions) {
  Tensor count = ops::take(ops::bincount(positions), positions);
  return ops::div(rows, ops::unsqueeze(ops::_to_copy(count, rows.dtype()), 1));
}

}  // namespace

// Threads share the columns, so that every row is summed in the order of its indices.
void embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights,
                              int64_t padding_idx, bool scale_grad_by_freq, const Tensor& out) {
  ops::zero_(out);
  const int64_t flat[] = {-1};
  Tensor positions = ops::reshape(as_positions(indices), flat);
  check_rows(positions, num_weights);
  if (out.numel() == 0 || positions.numel() == 0) return;
  int64_t width = out.sizes()[1], n = positions.numel(), item = out.itemsize();
  const int64_t sizes[] = {n, width};
  Tensor rows = ops::contiguous(ops::reshape(grad_output, sizes));
  if (scale_grad_by_freq) rows = by_frequency(rows, positions);
  RowOps sum = row_ops(Combine::Sum, out.dtype());
  const int64_t* index = positions.data<int64_t>();
  int64_t grain = std::max(kColumns, kGrain / n);
  parallel_for(0, width, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < n; ++i)
      if (index[i] != padding_idx)
        sum.row(out.data<char>() + (index[i] * width + begin) * item, item,
                rows.data<char>() + (i * width + begin) * item, item, end - begin);
  });
}

namespace {

template <class T>
double norm_of(const T* row, int64_t step, int64_t n, double p) {
  double total = 0;
  for (int64_t i = 0; i < n; ++i) {
    double x = std::abs(static_cast<double>(convert<float>(row[i * step])));
    if constexpr (std::is_same_v<T, double>) x = std::abs(row[i * step]);
    if (std::isinf(p))
      total = std::max(total, x);
    else
      total += p == 2 ? x * x : p == 1 ? x : std::pow(x, p);
  }
  return std::isinf(p) ? total : p == 2 ? std::sqrt(total) : p == 1 ? total : std::pow(total, 1 / p);
}

}  // namespace

void embedding_renorm_(const Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  shape::check_table(self, indices);
  Tensor positions = as_positions(indices);
  check_rows(positions, self.sizes()[0]);
  std::vector<int64_t> rows(positions.data<int64_t>(), positions.data<int64_t>() + positions.numel());
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  int64_t width = self.sizes()[1], step = self.strides()[1];
  visit_floating(self.dtype(), [&]<class T>() {
    for (int64_t r : rows) {
      T* row = self.data<T>() + r * self.strides()[0];
      double norm = norm_of(row, step, width, norm_type);
      if (!(norm > max_norm)) continue;
      double scale = max_norm / (norm + 1e-7);
      for (int64_t i = 0; i < width; ++i) row[i * step] = convert<T>(convert<double>(row[i * step]) * scale);
    }
  });
}

namespace {

struct Bags {
  std::vector<int64_t> starts;  // one more than there are bags
  const int64_t* rows;
  int64_t padding;
};

Bags bags_of(const Tensor& positions, const Tensor& offsets, bool include_last, int64_t padding) {
  Tensor given = as_positions(offsets);
  const int64_t* offset = given.data<int64_t>();
  int64_t n = positions.numel();
  Bags bags{{offset, offset + given.numel()}, positions.data<int64_t>(), padding};
  if (!bags.starts.empty()) TAEDA_CHECK(bags.starts[0] == 0, "the first offset must be 0; got ", bags.starts[0]);
  if (!include_last) bags.starts.push_back(n);
  for (size_t i = 1; i < bags.starts.size(); ++i)
    TAEDA_CHECK(bags.starts[i] >= bags.starts[i - 1] && bags.starts[i] <= n, "offsets must rise and not exceed the ", n,
                " indices; got ", bags.starts[i], " after ", bags.starts[i - 1]);
  return bags;
}

template <class T>
void fill_bag(const Tensor& weight, const Bags& bags, int64_t bag, int64_t mode, const T* sample_weights, T* to,
              int64_t* best, int64_t count) {
  int64_t width = weight.sizes()[1], row_step = weight.strides()[0], step = weight.strides()[1];
  using A = std::conditional_t<std::is_same_v<T, double>, double, float>;
  std::vector<A> totals;
  totals.assign(static_cast<size_t>(width), A(0));
  bool first = true;
  for (int64_t i = bags.starts[bag]; i < bags.starts[bag + 1]; ++i) {
    if (bags.rows[i] == bags.padding) continue;
    const T* row = weight.data<T>() + bags.rows[i] * row_step;
    A scale = sample_weights ? convert<A>(sample_weights[i]) : A(1);
    for (int64_t d = 0; d < width; ++d) {
      A x = convert<A>(row[d * step]);
      if (mode != 2) {
        totals[d] += scale * x;
      } else if (first || x > totals[d] || x != x) {
        totals[d] = x;
        best[d] = bags.rows[i];
      }
    }
    first = false;
  }
  for (int64_t d = 0; d < width; ++d)
    to[d] = convert<T>(mode == 1 && count > 0 ? totals[d] / static_cast<A>(count) : totals[d]);
}

}  // namespace

void _embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool, int64_t mode, bool,
                    const Tensor& per_sample_weights, bool include_last_offset, int64_t padding_idx,
                    const Tensor& output, const Tensor& offset2bag, const Tensor& bag_size, const Tensor& max_indices) {
  Tensor positions = as_positions(indices);
  check_rows(positions, weight.sizes()[0]);
  Bags bags = bags_of(positions, offsets, include_last_offset, padding_idx);
  int64_t count = bag_size.numel(), width = weight.sizes()[1];
  const int64_t sizes[] = {count}, index_sizes[] = {positions.numel()};
  Tensor owners = ops::zeros(index_sizes, DType::Int64), lengths = ops::zeros(sizes, DType::Int64);
  Tensor best = mode == 2 ? ops::full(max_indices.sizes(), Scalar(-1), DType::Int64) : Tensor();
  Tensor samples = per_sample_weights.defined() ? ops::contiguous(per_sample_weights) : Tensor();
  visit_floating(weight.dtype(), [&]<class T>() {
    parallel_for(0, count, std::max<int64_t>(1, kGrain / 8 / std::max<int64_t>(width, 1)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t b = begin; b < end; ++b) {
                     int64_t used = 0;
                     for (int64_t i = bags.starts[b]; i < bags.starts[b + 1]; ++i) {
                       owners.data<int64_t>()[i] = b;
                       used += bags.rows[i] != padding_idx;
                     }
                     lengths.data<int64_t>()[b] = used;
                     fill_bag<T>(weight, bags, b, mode, samples.defined() ? samples.data<T>() : nullptr,
                                 output.data<T>() + b * width,
                                 best.defined() ? best.data<int64_t>() + b * width : nullptr, used);
                   }
                 });
  });
  ops::copy_(offset2bag, owners);
  ops::copy_(bag_size, lengths);
  if (best.defined()) ops::copy_(max_indices, best);
}

}  // namespace taeda::cpu
