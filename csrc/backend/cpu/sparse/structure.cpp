// Rearranging the elements of sparse tensors: sorting and joining coordinates, transposing, finding what is not zero.
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "backend/cpu/ops/sparse.h"
#include "backend/cpu/sparse/parts.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/index.h"
#include "taeda/ops/reshape.h"

namespace taeda::cpu {

using namespace sparse;

namespace {

// A key, and which element it is of: in 8 bytes where that is enough.
template <class N>
struct Keyed {
  N key, place;
};
template <class N>
using Items = std::vector<Keyed<N>>;

// A radix sort, from the least significant digit; stable.
template <class N>
void sort_keys(Items<N>& items, uint64_t largest) {
  const int bits = 64 - std::countl_zero(largest), passes = (bits + 11) / 12,
            width = passes ? (bits + passes - 1) / passes : 1;
  const uint64_t mask = (uint64_t{1} << width) - 1;
  Items<N> other(items.size());
  std::vector<size_t> counts(mask + 2);
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = pass * width;
    std::ranges::fill(counts, 0);
    for (const Keyed<N>& item : items) ++counts[(item.key >> shift & mask) + 1];
    for (size_t digit = 1; digit < counts.size(); ++digit) counts[digit] += counts[digit - 1];
    for (const Keyed<N>& item : items) other[counts[item.key >> shift & mask]++] = item;
    items.swap(other);
  }
}

uint64_t places_of(IntList size) {
  uint64_t places = 1;
  for (int64_t extent : size)
    TAEDA_CHECK(extent >= 0 &&
                    !__builtin_mul_overflow(places, static_cast<uint64_t>(std::max<int64_t>(extent, 1)), &places) &&
                    places < uint64_t{1} << 63,
                "sizes ", size, " have more places than 64 bits can count");
  return places;
}

// The place of each column of `indices` in a dense tensor, and whether they rise; RuntimeError if one is outside.
template <class N>
Items<N> keys_of(const Tensor& indices, IntList size, uint64_t& largest, bool& rising) {
  const int64_t dims = indices.sizes()[0], n = indices.sizes()[1];
  Items<N> items(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) items[static_cast<size_t>(i)] = {0, static_cast<N>(i)};
  const int64_t* data = indices.data<int64_t>();
  for (int64_t d = 0; d < dims; ++d) {
    const auto extent = static_cast<uint64_t>(size[static_cast<size_t>(d)]);
    const int64_t* row = data + d * n;
    TAEDA_CHECK(n == 0 || largest_of(row, n) < extent, "indices of dimension ", d, " must be from 0 to ",
                static_cast<int64_t>(extent) - 1);
    Keyed<N>* item = items.data();
    for (int64_t i = 0; i < n; ++i) item[i].key = static_cast<N>(item[i].key * extent + static_cast<uint64_t>(row[i]));
  }
  largest = 0;
  rising = true;
  for (size_t i = 0; i < items.size(); ++i) {
    largest = std::max<uint64_t>(largest, items[i].key);
    rising &= i == 0 || items[i].key > items[i - 1].key;
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
template <class T, class N>
void sum_values(const Items<N>& items, const T* from, T* to, int64_t width) {
  using A = Accumulator<T>;
  const auto sums = std::make_unique<A[]>(static_cast<size_t>(width));
  int64_t row = 0;
  for (size_t i = 0; i < items.size(); ++row) {
    size_t end = i + 1;
    while (end < items.size() && items[end].key == items[i].key) ++end;
    const T* first = from + static_cast<int64_t>(items[i].place) * width;
    if (end == i + 1) {
      std::copy_n(first, width, to + row * width);
    } else {
      for (int64_t j = 0; j < width; ++j) sums[static_cast<size_t>(j)] = convert<A>(first[j]);
      for (size_t k = i + 1; k < end; ++k)
        for (int64_t j = 0; j < width; ++j)
          sums[static_cast<size_t>(j)] =
              joined(sums[static_cast<size_t>(j)], convert<A>(from[static_cast<int64_t>(items[k].place) * width + j]));
      for (int64_t j = 0; j < width; ++j) to[row * width + j] = convert<T>(sums[static_cast<size_t>(j)]);
    }
    i = end;
  }
}

}  // namespace

namespace {

template <class N>
std::tuple<Tensor, Tensor> coalesced(const Tensor& where, const Tensor& what, IntList size) {
  uint64_t largest;
  bool rising;
  Items<N> items = keys_of<N>(where, size, largest, rising);
  if (rising) return {where, what};
  sort_keys(items, largest);
  int64_t distinct = 0;
  for (size_t i = 0; i < items.size(); ++i) distinct += i == 0 || items[i].key != items[i - 1].key;
  const int64_t dims = where.sizes()[0], n = where.sizes()[1], shape[] = {dims, distinct};
  Tensor sorted = new_tensor(shape, DType::Int64);
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t* from = where.data<int64_t>() + d * n;
    int64_t* to = sorted.data<int64_t>() + d * distinct;
    for (size_t i = 0; i < items.size(); ++i)
      if (i == 0 || items[i].key != items[i - 1].key) *to++ = from[items[i].place];
  }
  std::vector<int64_t> sizes(what.sizes().begin(), what.sizes().end());
  sizes[0] = distinct;
  Tensor sums = new_tensor(sizes, what.dtype());
  const int64_t width = n ? what.numel() / n : 0;
  if (width) visit(what.dtype(), [&]<class T>() { sum_values(items, what.data<T>(), sums.data<T>(), width); });
  return {sorted, sums};
}

}  // namespace

std::tuple<Tensor, Tensor> _sparse_coalesce(const Tensor& indices, const Tensor& values, IntList size) {
  TAEDA_CHECK(indices.dim() == 2 && indices.dtype() == DType::Int64 && values.dim() >= 1 &&
                  indices.sizes()[1] == values.sizes()[0] && static_cast<size_t>(indices.sizes()[0]) <= size.size(),
              "takes int64 indices (sparse dimensions, n) and values (n, ...); got ", indices.sizes(), " and ",
              values.sizes());
  Tensor where = ops::contiguous(indices), what = ops::contiguous(values);
  IntList sparse = size.first(static_cast<size_t>(indices.sizes()[0]));
  const bool narrow = places_of(sparse) <= UINT32_MAX && indices.sizes()[1] <= UINT32_MAX;
  return narrow ? coalesced<uint32_t>(where, what, sparse) : coalesced<uint64_t>(where, what, sparse);
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

namespace {

// Runs body(row, k, place of the element in a dense matrix of n columns) for each element; columns are checked.
template <class F>
void each_place(const Rows& rows, const Indices& at, int64_t n, const F& body) {
  check_below(at, n, "columns");
  parallel_for(0, rows.count(), rows_per_piece(rows.count(), 4 * (at.size() + rows.count())),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row)
                   for (int64_t k = rows[row]; k < rows[row + 1]; ++k) body(k, row * n + at[k]);
               });
}

bool rises(const Rows& rows, const Indices& at) {
  for (int64_t row = 0; row < rows.count(); ++row)
    for (int64_t k = rows[row] + 1; k < rows[row + 1]; ++k)
      if (at[k] <= at[k - 1]) return false;
  return true;
}

// Calls body<Word>(words) with a word of which elements of `bytes` are made.
template <class F>
void visit_words(int64_t bytes, const F& body) {
  if (bytes % 8 == 0) return body.template operator()<uint64_t>(bytes / 8);
  if (bytes % 4 == 0) return body.template operator()<uint32_t>(bytes / 4);
  if (bytes % 2 == 0) return body.template operator()<uint16_t>(bytes / 2);
  body.template operator()<uint8_t>(bytes);
}

}  // namespace

Tensor _sparse_spread(const Tensor& pointers, const Tensor& columns, const Tensor& values, int64_t n) {
  Rows rows(pointers, columns.numel());
  Indices at(columns, "columns");
  TAEDA_CHECK(values.dim() >= 1 && values.sizes()[0] == at.size(), "there must be a value for each of ", at.size(),
              " columns; got shape ", values.sizes());
  std::vector<int64_t> sizes(values.sizes().begin(), values.sizes().end());
  sizes[0] = rows.count();
  sizes.insert(sizes.begin() + 1, n);
  Tensor from = ops::contiguous(values), out = new_tensor(sizes, values.dtype());
  if (out.numel() == 0) return out;
  std::memset(out.data(), 0, static_cast<size_t>(out.numel() * out.itemsize()));
  if (!rises(rows, at)) {  // nobody checked it: what shares a place is summed, as products do
    Tensor places = new_tensor(IntList({at.size()}), DType::Int64);
    each_place(rows, at, n, [to = places.data<int64_t>()](int64_t k, int64_t place) { to[k] = place; });
    Tensor lines = ops::flatten(out, 0, 1);
    ops::index_add_(lines, 0, places, from);
    return out;
  }
  visit_words(out.numel() / (rows.count() * n) * out.itemsize(), [&]<class W>(int64_t words) {
    auto source = static_cast<const W*>(from.data());
    auto target = static_cast<W*>(out.data());
    each_place(rows, at, n, [=](int64_t k, int64_t place) {
      for (int64_t w = 0; w < words; ++w) target[place * words + w] = source[k * words + w];
    });
  });
  return out;
}

Tensor _sparse_pick(const Tensor& pointers, const Tensor& columns, const Tensor& dense) {
  Rows rows(pointers, columns.numel());
  Indices at(columns, "columns");
  TAEDA_CHECK(dense.dim() >= 2 && dense.sizes()[0] == rows.count(), "dense must have a row for each of ", rows.count(),
              "; got shape ", dense.sizes());
  std::vector<int64_t> sizes(dense.sizes().begin() + 1, dense.sizes().end());
  const int64_t n = sizes[0];
  sizes[0] = at.size();
  Tensor from = ops::contiguous(dense), out = new_tensor(sizes, dense.dtype());
  check_below(at, n, "columns");
  if (out.numel() == 0) return out;
  visit_words(out.numel() / at.size() * out.itemsize(), [&]<class W>(int64_t words) {
    auto source = static_cast<const W*>(from.data());
    auto target = static_cast<W*>(out.data());
    each_place(rows, at, n, [=](int64_t k, int64_t place) {
      for (int64_t w = 0; w < words; ++w) target[k * words + w] = source[place * words + w];
    });
  });
  return out;
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
