// Tables: gradients of rows, norms of rows, bags of rows.
#include <cmath>

#include "backend/cpu/engine/combine.h"
#include "backend/cpu/engine/index_offsets.h"
#include "backend/cpu/engine/row_kernels.h"
#include "backend/cpu/ops/embedding.h"
#include "backend/cpu/sort/order.h"
#include "shape/embedding_rules.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/index.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/search.h"
#include "taeda/ops/view.h"

namespace taeda::cpu {

namespace {

constexpr int64_t kColumns = 64;  // of a row, that one thread handles at least

void check_rows(const Tensor& positions, int64_t rows, ErrorKind kind = ErrorKind::Index) {
  const int64_t* index = positions.data<int64_t>();
  for (int64_t i = 0; i < positions.numel(); ++i)
    if (index[i] < 0 || index[i] >= rows) fail(kind, str("index ", index[i], " is outside a table of ", rows, " rows"));
}

// Each row divided by how often its index stands in `positions`; integers are cut off.
Tensor by_frequency(const Tensor& rows, const Tensor& positions) {
  Tensor count = ops::take(ops::bincount(positions), positions);
  Tensor shares = ops::div(rows, ops::unsqueeze(ops::_to_copy(count, rows.dtype()), 1));
  return shares.dtype() == rows.dtype() ? shares : ops::_to_copy(shares, rows.dtype());
}

}  // namespace

// Threads share the columns, so that every row is summed in the order of its indices.
void embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights,
                              int64_t padding_idx, bool scale_grad_by_freq, const Tensor& out) {
  ops::zero_(out);
  const int64_t flat[] = {-1};
  Tensor positions = ops::reshape(as_indices(indices), flat);
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
double size_of(T x) {
  return std::abs(convert<double>(x));
}
template <class R>
double size_of(std::complex<R> x) {
  return std::abs(std::complex<double>(x));
}
template <class T>
T scaled(T x, double scale) {
  return convert<T>(convert<double>(x) * scale);
}
template <class R>
std::complex<R> scaled(std::complex<R> x, double scale) {
  return std::complex<R>(std::complex<double>(x) * scale);
}

template <class T>
double norm_of(const T* row, int64_t step, int64_t n, double p) {
  double total = 0;
  for (int64_t i = 0; i < n; ++i) {
    double x = size_of(row[i * step]);
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
  Tensor positions = as_indices(indices);
  check_rows(positions, self.sizes()[0]);
  std::vector<int64_t> rows(positions.data<int64_t>(), positions.data<int64_t>() + positions.numel());
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  int64_t width = self.sizes()[1], step = self.strides()[1];
  auto run = [&]<class T>() {
    for (int64_t r : rows) {
      T* row = self.data<T>() + r * self.strides()[0];
      double norm = norm_of(row, step, width, norm_type);
      if (!(norm > max_norm)) continue;
      double scale = max_norm / (norm + 1e-7);
      for (int64_t i = 0; i < width; ++i) row[i * step] = scaled(row[i * step], scale);
    }
  };
  if (self.dtype() == DType::Complex64) return run.operator()<complex64>();
  if (self.dtype() == DType::Complex128) return run.operator()<complex128>();
  visit_floating(self.dtype(), run);
}

namespace {

struct Bags {
  std::vector<int64_t> starts;  // one more than there are bags
  const int64_t* rows;
  int64_t padding;
};

// With `to_the_end` the last bag has all that is left, wherever the last offset says that it ends: PyTorch does so for
// maxima, and with a padding.
Bags bags_of(const Tensor& positions, const Tensor& offsets, bool include_last, int64_t padding, bool to_the_end) {
  Tensor given = as_indices(offsets);
  const int64_t* offset = given.data<int64_t>();
  int64_t n = positions.numel();
  Bags bags{{offset, offset + given.numel()}, positions.data<int64_t>(), padding};
  if (!bags.starts.empty()) TAEDA_CHECK(bags.starts[0] == 0, "the first offset must be 0; got ", bags.starts[0]);
  if (!include_last) bags.starts.push_back(n);
  for (size_t i = 1; i < bags.starts.size(); ++i)
    TAEDA_CHECK(bags.starts[i] >= bags.starts[i - 1] && bags.starts[i] <= n, "offsets must rise and not exceed the ", n,
                " indices; got ", bags.starts[i], " after ", bags.starts[i - 1]);
  if (include_last && to_the_end && bags.starts.size() > 1) bags.starts.back() = n;
  return bags;
}

template <class T>
struct Rows {  // of a table, computed in T
  Tensor weight;
  int64_t width, step;
  explicit Rows(const Tensor& t) : weight(t), width(t.sizes()[1]) {
    if (width > 1 && t.strides()[1] != 1) weight = ops::contiguous(t);
    step = weight.strides()[0];
  }
};

// The sum of a bag's rows, each times its sample's weight, divided by `count`.
template <class T>
struct Summed {
  std::vector<const T*> rows;
  std::vector<T> weights;

  void run(const Rows<T>& table, RowReader<T>& read, const Bags& bags, int64_t bag, const T* samples, int64_t count,
           T* to) {
    const bool direct = table.weight.dtype() == dtype_of<T>;
    if (!direct) std::fill_n(to, table.width, T(0));
    rows.clear();
    weights.clear();
    for (int64_t i = bags.starts[bag]; i < bags.starts[bag + 1]; ++i) {
      if (bags.rows[i] == bags.padding) continue;
      const T* row = read(bags.rows[i] * table.step, table.width);
      if (!direct) {
        row_kernels<T>().scale_add(row, to, table.width, samples ? samples[i] : T(1));
        continue;
      }
      rows.push_back(row);
      if (samples) weights.push_back(samples[i]);
    }
    if (direct)
      row_kernels<T>().sum_of(rows.data(), samples ? weights.data() : nullptr, static_cast<int64_t>(rows.size()), T(1),
                              to, table.width);
    if (count > 1)
      for (int64_t d = 0; d < table.width; ++d) to[d] /= static_cast<T>(count);
  }
};

// The largest of each column of a bag, and the rows that they stand in; zeros for an empty bag.
template <class T>
void largest_of_bag(const Rows<T>& rows, RowReader<T>& read, const Bags& bags, int64_t bag, T* to, int64_t* best) {
  std::fill_n(to, rows.width, T(0));
  bool first = true;
  for (int64_t i = bags.starts[bag]; i < bags.starts[bag + 1]; ++i) {
    if (bags.rows[i] == bags.padding) continue;
    const T* row = read(bags.rows[i] * rows.step, rows.width);
    for (int64_t d = 0; d < rows.width; ++d)
      if (first || row[d] > to[d] || row[d] != row[d]) to[d] = row[d], best[d] = bags.rows[i];
    first = false;
  }
}

// The bag of each index; those after the last bag, which include_last_offset may leave, get the number of bags.
std::vector<int64_t> owners_of(const Bags& bags, int64_t indices) {
  std::vector<int64_t> owners(indices, static_cast<int64_t>(bags.starts.size()) - 1);
  for (size_t b = 0; b + 1 < bags.starts.size(); ++b)
    std::fill(owners.begin() + bags.starts[b], owners.begin() + bags.starts[b + 1], static_cast<int64_t>(b));
  return owners;
}

std::vector<int64_t> lengths_of(const Bags& bags) {
  std::vector<int64_t> lengths;
  for (size_t b = 0; b + 1 < bags.starts.size(); ++b)
    lengths.push_back(bags.starts[b + 1] - bags.starts[b] -
                      std::count(bags.rows + bags.starts[b], bags.rows + bags.starts[b + 1], bags.padding));
  return lengths;
}

void write(const int64_t* values, const Tensor& to) {
  converter(DType::Int64, to.dtype())(to.data<char>(), to.itemsize(), reinterpret_cast<const char*>(values),
                                      sizeof(int64_t), to.numel());
}

}  // namespace

void _embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool, int64_t mode, bool,
                    const Tensor& per_sample_weights, bool include_last_offset, int64_t padding_idx,
                    const Tensor& output, const Tensor& offset2bag, const Tensor& bag_size, const Tensor& max_indices) {
  Tensor positions = as_indices(indices);
  check_rows(positions, weight.sizes()[0], ErrorKind::Runtime);
  Bags bags = bags_of(positions, offsets, include_last_offset, padding_idx, mode == 2 || padding_idx >= 0);
  const int64_t count = bag_size.numel(), width = weight.sizes()[1];
  // Sums do not need the sizes of bags: PyTorch leaves them zero.
  std::vector<int64_t> lengths = mode == 0 ? std::vector<int64_t>(count) : lengths_of(bags), best(max_indices.numel());
  visit_compute(weight.dtype(), [&]<class T>() {
    const Rows<T> rows(weight);
    Tensor samples =
        per_sample_weights.defined() ? ops::contiguous(ops::to(per_sample_weights, dtype_of<T>)) : Tensor();
    parallel_for(0, count, std::max<int64_t>(1, kGrain / 8 / std::max<int64_t>(width, 1)),
                 [&](int64_t begin, int64_t end) {
                   RowReader<T> read(rows.weight, width);
                   RowWriter<T> write(output, width);
                   Summed<T> sum;
                   for (int64_t b = begin; b < end; ++b) {
                     T* to = write.at(b * width);
                     if (mode == 2)
                       largest_of_bag(rows, read, bags, b, to, best.data() + b * width);
                     else
                       sum.run(rows, read, bags, b, samples.defined() ? samples.data<T>() : nullptr, lengths[b], to);
                     write.done(b * width, width);
                   }
                 });
  });
  if (offset2bag.numel()) write(owners_of(bags, positions.numel()).data(), offset2bag);
  write(lengths.data(), bag_size);
  write(mode == 2 ? best.data() : lengths.data(), max_indices);
}

}  // namespace taeda::cpu
