// Rearranging the elements of sparse tensors: sorting and joining coordinates, transposing, finding what is not zero.
#include <bit>
#include <memory>

#include "backend/cpu/ops/sparse.h"
#include "backend/cpu/sparse/parts.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/index.h"

namespace taeda::cpu {

using namespace sparse;

namespace {

struct Keyed {
  uint64_t key;
  int64_t place;
};

// A radix sort, from the least significant digit; stable.
void sort_keys(std::vector<Keyed>& items, uint64_t largest) {
  constexpr int kBits = 11;
  constexpr uint64_t kMask = (1 << kBits) - 1;
  std::vector<Keyed> other(items.size());
  for (int shift = 0; shift < 64 && largest >> shift; shift += kBits) {
    std::vector<size_t> counts(kMask + 2, 0);
    for (const Keyed& item : items) ++counts[(item.key >> shift & kMask) + 1];
    for (size_t digit = 1; digit < counts.size(); ++digit) counts[digit] += counts[digit - 1];
    for (const Keyed& item : items) other[counts[item.key >> shift & kMask]++] = item;
    items.swap(other);
  }
}

// The place of each column of `indices` in a dense tensor; RuntimeError if one is outside of `size`.
std::vector<Keyed> keys_of(const Tensor& indices, IntList size, uint64_t& largest, bool& rising) {
  const int64_t dims = indices.sizes()[0], n = indices.sizes()[1];
  uint64_t places = 1;
  for (int64_t extent : size.first(static_cast<size_t>(dims)))
    TAEDA_CHECK(extent >= 0 &&
                    !__builtin_mul_overflow(places, static_cast<uint64_t>(std::max<int64_t>(extent, 1)), &places) &&
                    places < uint64_t{1} << 63,
                "sizes ", size, " have more places than 64 bits can count");
  std::vector<Keyed> items(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) items[static_cast<size_t>(i)] = {0, i};
  const int64_t* data = indices.data<int64_t>();
  for (int64_t d = 0; d < dims; ++d) {
    const auto extent = static_cast<uint64_t>(size[static_cast<size_t>(d)]);
    uint64_t outside = 0;
    for (int64_t i = 0; i < n; ++i) {
      const auto index = static_cast<uint64_t>(data[d * n + i]);
      outside |= index >= extent;
      items[static_cast<size_t>(i)].key = items[static_cast<size_t>(i)].key * extent + index;
    }
    TAEDA_CHECK(!outside, "indices of dimension ", d, " must be from 0 to ", static_cast<int64_t>(extent) - 1);
  }
  largest = 0;
  rising = true;
  uint64_t before = 0;
  for (const Keyed& item : items) {
    largest = std::max(largest, item.key);
    rising &= item.place == 0 || item.key > before;
    before = item.key;
  }
  return items;
}

template <class T>
T joined(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a || b;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

// The values in the order of `items`, those of equal keys summed: the first is copied, so that dtypes without
// arithmetic pass where no key stands twice.
template <class T>
void sum_values(const std::vector<Keyed>& items, const T* from, T* to, int64_t width) {
  using A = Accumulator<T>;
  const auto sums = std::make_unique<A[]>(static_cast<size_t>(width));
  int64_t row = 0;
  for (size_t i = 0; i < items.size(); ++row) {
    size_t end = i + 1;
    while (end < items.size() && items[end].key == items[i].key) ++end;
    const T* first = from + items[i].place * width;
    if (end == i + 1) {
      std::copy_n(first, width, to + row * width);
    } else {
      for (int64_t j = 0; j < width; ++j) sums[static_cast<size_t>(j)] = convert<A>(first[j]);
      for (size_t k = i + 1; k < end; ++k)
        for (int64_t j = 0; j < width; ++j)
          sums[static_cast<size_t>(j)] =
              joined(sums[static_cast<size_t>(j)], convert<A>(from[items[k].place * width + j]));
      for (int64_t j = 0; j < width; ++j) to[row * width + j] = convert<T>(sums[static_cast<size_t>(j)]);
    }
    i = end;
  }
}

}  // namespace

std::tuple<Tensor, Tensor> _sparse_coalesce(const Tensor& indices, const Tensor& values, IntList size) {
  TAEDA_CHECK(indices.dim() == 2 && indices.dtype() == DType::Int64 && values.dim() >= 1 &&
                  indices.sizes()[1] == values.sizes()[0] && static_cast<size_t>(indices.sizes()[0]) <= size.size(),
              "takes int64 indices (sparse dimensions, n) and values (n, ...); got ", indices.sizes(), " and ",
              values.sizes());
  Tensor where = ops::contiguous(indices), what = ops::contiguous(values);
  uint64_t largest;
  bool rising;
  std::vector<Keyed> items = keys_of(where, size, largest, rising);
  if (rising) return {where, what};
  sort_keys(items, largest);
  int64_t distinct = 0;
  for (size_t i = 0; i < items.size(); ++i) distinct += i == 0 || items[i].key != items[i - 1].key;
  const int64_t dims = indices.sizes()[0], n = indices.sizes()[1], shape[] = {dims, distinct};
  Tensor sorted = new_tensor(shape, DType::Int64);
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t* from = where.data<int64_t>() + d * n;
    int64_t* to = sorted.data<int64_t>() + d * distinct;
    for (size_t i = 0; i < items.size(); ++i)
      if (i == 0 || items[i].key != items[i - 1].key) *to++ = from[items[i].place];
  }
  std::vector<int64_t> sizes(values.sizes().begin(), values.sizes().end());
  sizes[0] = distinct;
  Tensor sums = new_tensor(sizes, values.dtype());
  const int64_t width = n ? values.numel() / n : 0;
  if (width) visit(values.dtype(), [&]<class T>() { sum_values(items, what.data<T>(), sums.data<T>(), width); });
  return {sorted, sums};
}

std::tuple<Tensor, Tensor, Tensor> _sparse_transpose(const Tensor& pointers, const Tensor& columns, int64_t n) {
  Rows rows(pointers, columns.numel());
  Indices at(columns, "columns");
  check_below(at, n, "columns");
  const int64_t count[] = {n + 1};
  Tensor begins = new_tensor(count, DType::Int64), numbers = new_tensor(columns.sizes(), DType::Int64),
         order = new_tensor(columns.sizes(), DType::Int64);
  int64_t *begin = begins.data<int64_t>(), *number = numbers.data<int64_t>(), *from = order.data<int64_t>();
  std::fill_n(begin, n + 1, int64_t{0});
  for (int64_t k = 0; k < at.size(); ++k) ++begin[at[k] + 1];
  for (int64_t i = 0; i < n; ++i) begin[i + 1] += begin[i];
  std::vector<int64_t> next(begin, begin + n);
  for (int64_t row = 0; row < rows.count(); ++row)
    for (int64_t k = rows[row]; k < rows[row + 1]; ++k) {
      const int64_t place = next[static_cast<size_t>(at[k])]++;
      number[place] = row;
      from[place] = k;
    }
  return {begins, numbers, order};
}

namespace {

Tensor vector_of(const std::vector<int64_t>& items) {
  const int64_t size[] = {static_cast<int64_t>(items.size())};
  Tensor t = new_tensor(size, DType::Int64);
  std::ranges::copy(items, t.data<int64_t>());
  return t;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> _sparse_union(const Tensor& a, const Tensor& b) {
  Indices first(a, "a"), second(b, "b");
  const int64_t n = first.size(), m = second.size();
  std::vector<int64_t> keys, in_a, in_b;
  for (auto* list : {&keys, &in_a, &in_b}) list->reserve(static_cast<size_t>(n + m));
  for (int64_t i = 0, j = 0; i < n || j < m;) {
    const bool takes_a = j == m || (i < n && first[i] <= second[j]),
               takes_b = i == n || (j < m && second[j] <= first[i]);
    keys.push_back(takes_a ? first[i] : second[j]);
    in_a.push_back(takes_a ? i++ : n);
    in_b.push_back(takes_b ? j++ : m);
  }
  return {vector_of(keys), vector_of(in_a), vector_of(in_b)};
}

std::tuple<Tensor, Tensor> _sparse_intersection(const Tensor& a, const Tensor& b) {
  Indices first(a, "a"), second(b, "b");
  std::vector<int64_t> in_a, in_b;
  for (int64_t i = 0, j = 0; i < first.size() && j < second.size();) {
    if (first[i] == second[j]) {
      in_a.push_back(i);
      in_b.push_back(j);
    }
    const bool steps_a = first[i] <= second[j], steps_b = second[j] <= first[i];
    i += steps_a;
    j += steps_b;
  }
  return {vector_of(in_a), vector_of(in_b)};
}

std::tuple<Tensor, Tensor, Tensor> _sparse_nonzero(const Tensor& self) {
  TAEDA_CHECK(self.dim() == 2, "takes a matrix; got shape ", self.sizes());
  Tensor matrix = ops::contiguous(self);
  const int64_t rows = self.sizes()[0], width = self.sizes()[1];
  std::vector<int64_t> begins(static_cast<size_t>(rows) + 1, 0);
  Tensor number, column, values;
  visit(self.dtype(), [&]<class T>() {
    const T* data = matrix.data<T>();
    const int64_t piece = rows_per_piece(rows, self.numel());
    auto is_set = [](T x) { return static_cast<int64_t>(!(convert<Accumulator<T>>(x) == Accumulator<T>())); };
    parallel_for(0, rows, piece, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t found = 0;
        for (int64_t j = 0; j < width; ++j) found += is_set(data[row * width + j]);
        begins[static_cast<size_t>(row) + 1] = found;
      }
    });
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) begins[row + 1] += begins[row];
    const int64_t count[] = {begins.back()};
    number = new_tensor(count, DType::Int64);
    column = new_tensor(count, DType::Int64);
    values = new_tensor(count, self.dtype());
    parallel_for(0, rows, piece, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t next = begins[static_cast<size_t>(row)];
        for (int64_t j = 0; j < width; ++j) {
          const T value = data[row * width + j];
          if (!is_set(value)) continue;
          number.data<int64_t>()[next] = row;
          column.data<int64_t>()[next] = j;
          values.data<T>()[next++] = value;
        }
      }
    });
  });
  return {number, column, values};
}

}  // namespace taeda::cpu
