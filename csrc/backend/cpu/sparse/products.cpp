// Products of compressed sparse matrices with dense ones. Rows are independent of each other, and each is summed up in
// the order of its elements, so that threads change nothing.
#include <array>
#include <atomic>
#include <cstring>

#include "backend/cpu/ops/sparse.h"
#include "backend/cpu/sparse/parts.h"
#include "core/multiversion.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

using namespace sparse;

namespace {

// --- the loops, in vectors of the machine's width for float and double
template <class T>
struct Product {
  const int64_t *pointers, *columns;
  const T *values, *dense;
  T* out;
  int64_t width, n;
};

// Columns of `dense` in tiles that stay in registers.
template <class T, int kTile>
TAEDA_VERSIONED void tile_of_row(const Product<T>& p, int64_t row, int64_t first) {
  using A = Accumulator<T>;
  A sums[kTile] = {};
  for (int64_t k = p.pointers[row]; k < p.pointers[row + 1]; ++k) {
    const A value = convert<A>(p.values[k]);
    const T* from = p.dense + p.columns[k] * p.width + first;
    for (int j = 0; j < kTile; ++j) sums[j] = plus(sums[j], times(value, convert<A>(from[j])));
  }
  T* to = p.out + row * p.width + first;
  for (int j = 0; j < kTile; ++j) to[j] = convert<T>(sums[j]);
}

// One column: running sums, which are joined in a fixed order. Floats have two vectors of them, whose factors are
// loaded one by one: instructions that gather them take half as long again.
template <class T>
TAEDA_VERSIONED void vector_row(const Product<T>& p, int64_t row) {
  using A = Accumulator<T>;
  int64_t k = p.pointers[row];
  const int64_t end = p.pointers[row + 1];
  auto product = [&](int64_t i) { return times(convert<A>(p.values[i]), convert<A>(p.dense[p.columns[i]])); };
  auto finish = [&](auto& sums) {  // with up to three more
    for (int j = 0; k < end; ++k, ++j) sums[j] = plus(A(sums[j]), product(k));
    p.out[row] = convert<T>(plus(plus(A(sums[0]), A(sums[1])), plus(A(sums[2]), A(sums[3]))));
  };
  if constexpr (std::is_floating_point_v<T>) {
    typedef T Four __attribute__((vector_size(4 * sizeof(T))));
    auto add = [&](Four& sums, int64_t i) {
      const int64_t* at = p.columns + i;
      const T *d = p.dense, *v = p.values + i;
      sums += Four{v[0], v[1], v[2], v[3]} * Four{d[at[0]], d[at[1]], d[at[2]], d[at[3]]};
    };
    Four sums = {}, others = {};
    for (; k + 8 <= end; k += 8) {
      add(sums, k);
      add(others, k + 4);
    }
    if (k + 4 <= end) {
      add(sums, k);
      k += 4;
    }
    sums += others;
    finish(sums);
  } else {
    std::array<A, 4> sums{};
    for (; k + 4 <= end; k += 4)
      for (size_t j = 0; j < 4; ++j) sums[j] = plus(sums[j], product(k + static_cast<int64_t>(j)));
    finish(sums);
  }
}

// Wide rows: the sums stay in the nearest cache, and four elements share each pass over them.
template <class T>
TAEDA_VERSIONED void wide_row(const Product<T>& p, int64_t row, int64_t first, int64_t last) {
  T* __restrict to = p.out + row * p.width;
  for (int64_t j = first; j < last; ++j) to[j] = T();
  int64_t k = p.pointers[row];
  const int64_t end = p.pointers[row + 1];
  for (; k + 4 <= end; k += 4) {
    const T *a = p.dense + p.columns[k] * p.width, *b = p.dense + p.columns[k + 1] * p.width,
            *c = p.dense + p.columns[k + 2] * p.width, *d = p.dense + p.columns[k + 3] * p.width;
    const T v = p.values[k], w = p.values[k + 1], x = p.values[k + 2], y = p.values[k + 3];
    for (int64_t j = first; j < last; ++j)
      to[j] = plus(plus(plus(plus(to[j], times(v, a[j])), times(w, b[j])), times(x, c[j])), times(y, d[j]));
  }
  for (; k < end; ++k) {
    const T* a = p.dense + p.columns[k] * p.width;
    for (int64_t j = first; j < last; ++j) to[j] = plus(to[j], times(p.values[k], a[j]));
  }
}

template <class T>
TAEDA_VERSIONED void product_row(const Product<T>& p, int64_t row) {
  constexpr int64_t kWide = 64, kInCache = 2048;
  if (p.width == 1) return vector_row(p, row);
  int64_t j = 0;
  if constexpr (std::is_same_v<T, Accumulator<T>>)
    if (p.width >= kWide)
      for (; j < p.width; j += kInCache) wide_row(p, row, j, std::min(j + kInCache, p.width));
  for (; j + 16 <= p.width; j += 16) tile_of_row<T, 16>(p, row, j);
  for (; j + 8 <= p.width; j += 8) tile_of_row<T, 8>(p, row, j);
  for (; j + 4 <= p.width; j += 4) tile_of_row<T, 4>(p, row, j);
  for (; j < p.width; ++j) tile_of_row<T, 1>(p, row, j);
}

// False if a column is outside, where the rest is left undone. Columns are checked a few rows ahead, so that they are
// in the nearest cache when they are read again.
template <class T>
TAEDA_VERSIONED bool product_rows(const Product<T>& p, int64_t begin, int64_t end) {
  constexpr int64_t kAhead = 2048;
  for (int64_t row = begin; row < end;) {
    const int64_t from = p.pointers[row];
    int64_t last = row + 1;
    while (last < end && p.pointers[last + 1] - from <= kAhead) ++last;
    if (!all_below(p.columns + from, p.pointers[last] - from, p.n)) return false;
    for (; row < last; ++row) product_row(p, row);
  }
  return true;
}

// The transposed matrix: rows are added to those that columns name, for columns [first, last) of `dense` alone.
template <class T, class Out>
TAEDA_VERSIONED void scatter_rows(const Product<T>& p, Out* out, int64_t rows, int64_t first, int64_t last) {
  using A = Accumulator<T>;
  for (int64_t row = 0; row < rows; ++row) {
    const T* from = p.dense + row * p.width;
    for (int64_t k = p.pointers[row]; k < p.pointers[row + 1]; ++k) {
      const A value = convert<A>(p.values[k]);
      Out* to = out + p.columns[k] * p.width;
      for (int64_t j = first; j < last; ++j) to[j] = plus(to[j], times(value, convert<A>(from[j])));
    }
  }
}

template <class T>
struct Dots {
  const int64_t *pointers, *columns;
  const T *a, *b;
  T* out;
  int64_t width;
};

template <class T>
TAEDA_VERSIONED void dots_of_rows(const Dots<T>& d, int64_t begin, int64_t end) {
  using A = Accumulator<T>;
  constexpr int kLanes = 16;
  for (int64_t row = begin; row < end; ++row) {
    const T* a = d.a + row * d.width;
    for (int64_t k = d.pointers[row]; k < d.pointers[row + 1]; ++k) {
      const T* b = d.b + d.columns[k] * d.width;
      A lanes[kLanes] = {};
      int64_t j = 0;
      for (; j + kLanes <= d.width; j += kLanes)
        for (int l = 0; l < kLanes; ++l) lanes[l] = plus(lanes[l], times(convert<A>(a[j + l]), convert<A>(b[j + l])));
      for (int l = 0; j < d.width; ++j, ++l) lanes[l] = plus(lanes[l], times(convert<A>(a[j]), convert<A>(b[j])));
      for (int half = kLanes / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l) lanes[l] = plus(lanes[l], lanes[l + half]);
      d.out[k] = convert<T>(lanes[0]);
    }
  }
}

#define TAEDA_LOOPS(T)                                                                                         \
  TAEDA_MULTIVERSION(bool run_product(const Product<T>& p, int64_t begin, int64_t end),                        \
                     return product_rows(p, begin, end))                                                       \
  TAEDA_MULTIVERSION(void run_scatter(const Product<T>& p, T* out, int64_t rows, int64_t first, int64_t last), \
                     scatter_rows(p, out, rows, first, last))                                                  \
  TAEDA_MULTIVERSION(void run_dots(const Dots<T>& d, int64_t begin, int64_t end), dots_of_rows(d, begin, end))
TAEDA_LOOPS(float)
TAEDA_LOOPS(double)
#undef TAEDA_LOOPS
// Other elements take the loops as the compiler makes them for every machine.
template <class T>
bool run_product(const Product<T>& p, int64_t begin, int64_t end) {
  return product_rows(p, begin, end);
}
template <class T, class Out>
void run_scatter(const Product<T>& p, Out* out, int64_t rows, int64_t first, int64_t last) {
  scatter_rows(p, out, rows, first, last);
}
template <class T>
void run_dots(const Dots<T>& d, int64_t begin, int64_t end) {
  dots_of_rows(d, begin, end);
}

void check_matrix(const Tensor& t, const char* name) {
  TAEDA_CHECK(t.dim() == 2, name, " must be a matrix; got shape ", t.sizes());
}

void check_elements(const Tensor& columns, const Tensor& values, const Tensor& other) {
  TAEDA_CHECK(values.dim() == 1 && columns.numel() == values.numel(), "there must be a value for each of ",
              columns.numel(), " columns; got shape ", values.sizes());
  TAEDA_CHECK(values.dtype() == other.dtype(), "both factors must have one dtype; got ", values.dtype(), " and ",
              other.dtype());
}

Tensor zeros(IntList sizes, DType dtype) {
  Tensor t = new_tensor(sizes, dtype);
  if (t.numel()) std::memset(t.data(), 0, static_cast<size_t>(t.numel() * t.itemsize()));
  return t;
}

}  // namespace

Tensor _csr_mm(const Tensor& pointers, const Tensor& columns, const Tensor& values, const Tensor& dense) {
  check_matrix(dense, "dense");
  check_elements(columns, values, dense);
  Rows rows(pointers, columns.numel());
  Indices at(columns, "columns");
  Tensor v = ops::contiguous(values), d = ops::contiguous(dense);
  const int64_t width = dense.sizes()[1], n = dense.sizes()[0], sizes[] = {rows.count(), width};
  Tensor out = new_tensor(sizes, values.dtype());
  std::atomic<bool> inside = true;
  visit_products(values.dtype(), [&]<class T>() {
    const Product<T> p{rows.data(), at.data(), v.data<T>(), d.data<T>(), out.data<T>(), width, n};
    parallel_for(0, rows.count(), rows_per_piece(rows.count(), (at.size() + rows.count()) * (width + 1)),
                 [&](int64_t begin, int64_t end) {
                   if (!run_product(p, begin, end)) inside.store(false, std::memory_order_relaxed);
                 });
  });
  if (!inside) check_below(at, n, "columns");
  return out;
}

Tensor _sparse_mm_transposed(const Tensor& pointers, const Tensor& columns, const Tensor& values, const Tensor& dense,
                             int64_t n) {
  check_matrix(dense, "dense");
  check_elements(columns, values, dense);
  Rows rows(pointers, columns.numel());
  TAEDA_CHECK(rows.count() == dense.sizes()[0], "dense must have a row for each of ", rows.count(), "; got shape ",
              dense.sizes());
  Indices at(columns, "columns");
  check_below(at, n, "columns");
  Tensor v = ops::contiguous(values), d = ops::contiguous(dense);
  const int64_t width = dense.sizes()[1], sizes[] = {n, width};
  Tensor result;
  visit_products(values.dtype(), [&]<class T>() {
    using A = Accumulator<T>;
    Tensor out = zeros(sizes, dtype_of<A>);
    const Product<T> p{rows.data(), at.data(), v.data<T>(), d.data<T>(), nullptr, width, n};
    const int64_t piece = at.size() * 16 < kGrain ? std::max<int64_t>(width, 1) : 16;  // columns of `dense`
    parallel_for(0, width, piece,
                 [&](int64_t first, int64_t last) { run_scatter(p, out.data<A>(), rows.count(), first, last); });
    result = dtype_of<A> == values.dtype() ? out : ops::_to_copy(out, values.dtype());
  });
  return result;
}

Tensor _sparse_dots(const Tensor& pointers, const Tensor& columns, const Tensor& a, const Tensor& b) {
  check_matrix(a, "a");
  check_matrix(b, "b");
  TAEDA_CHECK(a.dtype() == b.dtype() && a.sizes()[1] == b.sizes()[1],
              "both factors must have as many columns and one dtype; got shapes ", a.sizes(), " and ", b.sizes(),
              " of ", a.dtype(), " and ", b.dtype());
  Rows rows(pointers, columns.numel());
  TAEDA_CHECK(rows.count() == a.sizes()[0], "a must have a row for each of ", rows.count(), "; got shape ", a.sizes());
  Indices at(columns, "columns");
  check_below(at, b.sizes()[0], "columns");
  Tensor left = ops::contiguous(a), right = ops::contiguous(b), out = new_tensor(columns.sizes(), a.dtype());
  const int64_t width = a.sizes()[1];
  visit_products(a.dtype(), [&]<class T>() {
    const Dots<T> d{rows.data(), at.data(), left.data<T>(), right.data<T>(), out.data<T>(), width};
    parallel_for(0, rows.count(), rows_per_piece(rows.count(), (at.size() + rows.count()) * (width + 4)),
                 [&](int64_t begin, int64_t end) { run_dots(d, begin, end); });
  });
  return out;
}

Tensor _sparse_best(const Tensor& pointers, const Tensor& columns, const Tensor& values, const Tensor& dense,
                    bool largest) {
  check_matrix(dense, "dense");
  check_elements(columns, values, dense);
  Rows rows(pointers, columns.numel());
  Indices at(columns, "columns");
  check_below(at, dense.sizes()[0], "columns");
  Tensor v = ops::contiguous(values), d = ops::contiguous(dense);
  const int64_t width = dense.sizes()[1], sizes[] = {rows.count(), width};
  Tensor out = new_tensor(sizes, DType::Int64);
  visit_products(values.dtype(), [&]<class T>() {
    using A = Accumulator<T>;
    if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
      TAEDA_FAIL(Runtime, "complex numbers have no order; got ", values.dtype());
    } else {
      auto row_of = [&](int64_t row, A* best) {
        int64_t* from = out.data<int64_t>() + row * width;
        std::fill_n(from, width, int64_t{-1});
        for (int64_t k = rows[row]; k < rows[row + 1]; ++k) {
          const T* line = d.data<T>() + at[k] * width;
          for (int64_t j = 0; j < width; ++j) {
            A product = times(convert<A>(v.data<T>()[k]), convert<A>(line[j]));
            bool better = largest ? product > best[j] : product < best[j];
            if (from[j] >= 0 && best[j] != best[j]) continue;  // NaN stays
            if (from[j] >= 0 && !better && product == product) continue;
            best[j] = product;
            from[j] = k;
          }
        }
      };
      parallel_for(0, rows.count(), rows_per_piece(rows.count(), (at.size() + rows.count()) * width),
                   [&](int64_t begin, int64_t end) {
                     std::vector<A> best(static_cast<size_t>(width));
                     for (int64_t row = begin; row < end; ++row) row_of(row, best.data());
                   });
    }
  });
  return out;
}

}  // namespace taeda::cpu
