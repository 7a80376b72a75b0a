#include "backend/cpu/libraries/gemm.h"

#include <climits>
#include <cstring>
#include <optional>

#include "backend/cpu/engine/isa.h"
#include "backend/cpu/libraries/bundled_libraries.h"
#include "backend/cpu/libraries/onednn.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

namespace {

constexpr int64_t kDirect = 1024;          // multiply-adds up to which plain loops beat a call of BLAS
constexpr int64_t kDirectVector = 256;     // likewise for a vector of results
constexpr int64_t kOneDnn = 96 * 96 * 96;  // and from which oneDNN's kernel beats OpenBLAS's
constexpr int64_t kPiece = 1 << 22;        // multiply-adds worth a piece of their own
constexpr int64_t kMaxPieces = 16;
constexpr int64_t kTileStep = 32;  // tiles are cut at multiples of this

// A tile of one product: all of k, some rows and columns.
struct Tile {
  int64_t m, n, k;
  const char* a;
  int64_t a_row, a_col;
  const char* b;
  int64_t b_row, b_col;
  char* c;
  int64_t c_row;
};

template <class T>
struct Compute {
  using type = T;
};
template <>
struct Compute<Half> {
  using type = float;
};
template <>
struct Compute<BFloat16> {
  using type = float;
};
template <class T>
  requires std::is_integral_v<T>
struct Compute<T> {
  using type = uint64_t;  // wraps without undefined behaviour; the low bits are right for every width
};

template <class T>
T product(T x, T y) {
  if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>)
    return T(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
  else
    return x * y;
}

template <class T, class C>
void store(T& to, C sum, C alpha, C beta) {
  C value = product(alpha, sum);
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {  // one rounding before that to a half
    if (beta != 0) value = static_cast<float>(static_cast<double>(beta) * convert<double>(to) + value);
  } else if (beta != C(0)) {
    value += product(beta, convert<C>(to));
  }
  to = convert<T>(value);
}

// `width` sums of a row of c, as many at a time as stay in registers: b is read by rows of `b_row`.
template <class C, class A, class B>
void sum_columns(C* sums, int64_t width, const A* a, int64_t a_col, const B* b, int64_t b_row, int64_t k) {
  constexpr int64_t kWide = 64 / sizeof(C);
  int64_t j = 0;
  for (; j + kWide <= width; j += kWide) {
    C wide[kWide] = {};
    for (int64_t p = 0; p < k; ++p) {
      C x = convert<C>(a[p * a_col]);
      for (int64_t l = 0; l < kWide; ++l) wide[l] += product(x, convert<C>(b[p * b_row + j + l]));
    }
    std::copy_n(wide, kWide, sums + j);
  }
  for (; j < width; ++j) {
    C sum{};
    for (int64_t p = 0; p < k; ++p) sum += product(convert<C>(a[p * a_col]), convert<C>(b[p * b_row + j]));
    sums[j] = sum;
  }
}

// Rows of c, a strip of kStrip columns at a time: the strip's sums stay in L1 while b streams by. A small b whose rows
// are no neighbours in memory (of a transposed weight) is laid out once for all rows.
template <class T>
void direct(const Tile& t, const Scalar& alpha_number, const Scalar& beta_number) {
  using C = typename Compute<T>::type;
  constexpr int64_t kStrip = 64, kPacked = std::is_arithmetic_v<C> ? kDirect : 1;
  auto a = reinterpret_cast<const T*>(t.a);
  auto b = reinterpret_cast<const T*>(t.b);
  auto c = reinterpret_cast<T*>(t.c);
  const C alpha = alpha_number.to<C>(), beta = beta_number.to<C>();
  C sums[kStrip], packed[kPacked];
  for (int64_t j0 = 0; j0 < t.n; j0 += kStrip) {
    int64_t width = std::min(kStrip, t.n - j0);
    const T* strip = b + j0 * t.b_col;
    bool packs = t.b_col != 1 && t.m > 1 && t.k * width <= kPacked;
    if (packs)
      for (int64_t p = 0; p < t.k; ++p)
        for (int64_t j = 0; j < width; ++j) packed[p * width + j] = convert<C>(strip[p * t.b_row + j * t.b_col]);
    for (int64_t i = 0; i < t.m; ++i) {
      const T* row = a + i * t.a_row;
      if (packs) {
        sum_columns(sums, width, row, t.a_col, packed, width, t.k);
      } else if (t.b_col == 1) {
        sum_columns(sums, width, row, t.a_col, strip, t.b_row, t.k);
      } else {
        for (int64_t j = 0; j < width; ++j) sum_columns(sums + j, 1, row, t.a_col, strip + j * t.b_col, t.b_row, t.k);
      }
      T* to = c + i * t.c_row + j0;
      for (int64_t j = 0; j < width; ++j) store(to[j], sums[j], alpha, beta);
    }
  }
}

// How BLAS is told to read a matrix: as rows, or as the rows of its transpose.
struct Layout2d {
  bool transposed;
  int64_t leading;
};
Layout2d layout_of(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride) {
  if (cols <= 1 || col_stride == 1) return {false, rows > 1 ? row_stride : std::max<int64_t>(cols, 1)};
  return {true, cols > 1 ? col_stride : std::max<int64_t>(rows, 1)};
}

bool fits_int(const Tile& t, const Layout2d& a, const Layout2d& b) {
  return std::max({t.m, t.n, t.k, a.leading, b.leading, t.c_row}) <= INT_MAX;
}

void sgemm_onednn(const Tile& t, Layout2d a, Layout2d b, float alpha, float beta) {
  onednn::HandlersWait wait;
  onednn::check(dnnl().sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', t.m, t.n, t.k, alpha,
                             reinterpret_cast<const float*>(t.a), a.leading, reinterpret_cast<const float*>(t.b),
                             b.leading, beta, reinterpret_cast<float*>(t.c), t.c_row));
}

// With AVX2, oneDNN takes up to twice the time for a matrix whose rows, one for each step of k, lie such a multiple of
// floats apart: they share a few sets of the cache. It reads fewer of a's in a row than of b's, and `repeats` times
// all.
bool is_aliased(int64_t leading, int64_t multiple, int64_t repeats) {
  return leading % multiple == 0 && repeats >= 16 && kIsa != Isa::Avx512;
}

// `rows` rows of `columns` floats, side by side but for a gap where they would be aliased again.
struct Block {
  Tensor data;
  int64_t leading;
  Block(int64_t rows, int64_t columns) : leading(columns % 128 ? columns : columns + 16) {
    data = new_tensor(IntList({rows, leading}), DType::Float32);
  }
  const char* copy(const char* from, int64_t rows, int64_t columns, int64_t step) const {
    auto to = static_cast<char*>(data.data());
    for (int64_t i = 0; i < rows; ++i)
      std::memcpy(to + i * leading * 4, from + i * step * 4, static_cast<size_t>(columns) * 4);
    return to;
  }
};

void sgemm(Tile t, Layout2d a, Layout2d b, float alpha, float beta) {
  constexpr int64_t kSteps = 512;  // of k whose rows are copied together, to be read from the cache
  const bool copies_a = a.transposed && is_aliased(a.leading, 256, t.n),
             copies_b = !b.transposed && is_aliased(b.leading, 512, t.m);
  if (!copies_a && !copies_b) return sgemm_onednn(t, a, b, alpha, beta);
  const int64_t steps = std::min(kSteps, t.k);
  std::optional<Block> of_a, of_b;
  if (copies_a) of_a.emplace(steps, t.m);
  if (copies_b) of_b.emplace(steps, t.n);
  for (int64_t first = 0; first < t.k; first += kSteps, beta = 1.0f) {
    Tile piece = t;
    piece.k = std::min(kSteps, t.k - first);
    piece.a += first * t.a_col * 4;
    piece.b += first * t.b_row * 4;
    Layout2d of_piece_a = a, of_piece_b = b;
    if (of_a) piece.a = of_a->copy(piece.a, piece.k, t.m, a.leading), of_piece_a.leading = of_a->leading;
    if (of_b) piece.b = of_b->copy(piece.b, piece.k, t.n, b.leading), of_piece_b.leading = of_b->leading;
    sgemm_onednn(piece, of_piece_a, of_piece_b, alpha, beta);
  }
}

template <class T>
void call_blas(const Tile& t, Layout2d a, Layout2d b, const Scalar& alpha_number, const Scalar& beta_number) {
  auto call = [&](auto* gemm, auto alpha, auto beta) {
    gemm(kRowMajor, a.transposed ? kTrans : kNoTrans, b.transposed ? kTrans : kNoTrans, static_cast<int>(t.m),
         static_cast<int>(t.n), static_cast<int>(t.k), alpha, t.a, static_cast<int>(a.leading), t.b,
         static_cast<int>(b.leading), beta, t.c, static_cast<int>(t.c_row));
  };
  T alpha = alpha_number.to<T>(), beta = beta_number.to<T>();
  if constexpr (std::is_same_v<T, float>) call(blas().sgemm, alpha, beta);
  if constexpr (std::is_same_v<T, double>) call(blas().dgemm, alpha, beta);
  if constexpr (std::is_same_v<T, complex64>)
    call(blas().cgemm, static_cast<const void*>(&alpha), static_cast<const void*>(&beta));
  if constexpr (std::is_same_v<T, complex128>)
    call(blas().zgemm, static_cast<const void*>(&alpha), static_cast<const void*>(&beta));
}

// A column or a row of results: a matrix by a vector. BLAS reads the matrix once, at the speed of memory.
template <class T>
void call_gemv(const void* matrix, Layout2d layout, int64_t rows, int64_t cols, const void* vector, int64_t step,
               void* result, int64_t result_step, const Scalar& alpha, const Scalar& beta) {
  auto call = [&](auto* gemv) {
    if (layout.transposed) std::swap(rows, cols);
    gemv(kRowMajor, layout.transposed ? kTrans : kNoTrans, static_cast<int>(rows), static_cast<int>(cols),
         alpha.to<T>(), matrix, static_cast<int>(layout.leading), vector, static_cast<int>(step), beta.to<T>(), result,
         static_cast<int>(result_step));
  };
  if constexpr (std::is_same_v<T, float>) call(blas().sgemv);
  if constexpr (std::is_same_v<T, double>) call(blas().dgemv);
}

bool is_gemv_step(int64_t step) { return step > 0 && step <= INT_MAX; }

template <class T>
void run_tile(const Tile& t, const Scalar& alpha, const Scalar& beta) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, complex64> ||
                std::is_same_v<T, complex128>) {
    int64_t work = t.m * t.n * t.k;
    bool usable = is_blas_matrix(t.m, t.k, t.a_row, t.a_col) && is_blas_matrix(t.k, t.n, t.b_row, t.b_col);
    if (work > (t.n == 1 || t.m == 1 ? kDirectVector : kDirect) && usable) {
      Layout2d a = layout_of(t.m, t.k, t.a_row, t.a_col), b = layout_of(t.k, t.n, t.b_row, t.b_col);
      if (fits_int(t, a, b)) {
        if constexpr (std::is_floating_point_v<T>)
          if (t.n == 1 && is_gemv_step(t.b_row))
            return call_gemv<T>(t.a, a, t.m, t.k, t.b, t.b_row, t.c, t.c_row, alpha, beta);
        if constexpr (std::is_floating_point_v<T>)
          if (t.m == 1 && is_gemv_step(t.a_col))
            return call_gemv<T>(t.b, {!b.transposed, b.leading}, t.n, t.k, t.a, t.a_col, t.c, 1, alpha, beta);
        if constexpr (std::is_same_v<T, float>)
          if (work >= kOneDnn && has_dnnl()) return sgemm(t, a, b, alpha.to<float>(), beta.to<float>());
        return call_blas<T>(t, a, b, alpha, beta);
      }
    }
  }
  direct<T>(t, alpha, beta);
}

void run_tile(DType dtype, const Tile& t, const Scalar& alpha, const Scalar& beta) {
  visit(dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>)
      TAEDA_FAIL(NotImplemented, "matrix products are not defined for bool tensors; convert them to an integer dtype");
    else
      run_tile<T>(t, alpha, beta);
  });
}

// How a product is cut: into a grid of tiles of about equal work, the fewer the smaller the product.
struct Grid {
  int64_t tile_m, tile_n, rows, cols;
};
int64_t tile_size(int64_t size, int64_t parts) {
  int64_t tile = (size + parts - 1) / parts;
  return std::min(size, (tile + kTileStep - 1) / kTileStep * kTileStep);
}
Grid grid_for(int64_t m, int64_t n, int64_t k) {
  int64_t pieces = std::clamp<int64_t>(m * n * std::max<int64_t>(k, 1) / kPiece, 1, kMaxPieces);
  int64_t rows = 1, cols = 1;
  while (rows * cols < pieces) (m / rows >= n / cols ? rows : cols) *= 2;
  Grid grid{tile_size(m, rows), tile_size(n, cols), 0, 0};
  grid.rows = (m + grid.tile_m - 1) / grid.tile_m;
  grid.cols = (n + grid.tile_n - 1) / grid.tile_n;
  return grid;
}

Tile tile_at(const Gemm& g, const Grid& grid, int64_t index) {
  int64_t tiles = grid.rows * grid.cols, batch = index / tiles, size = itemsize(g.dtype);
  int64_t i = index % tiles / grid.cols * grid.tile_m, j = index % grid.cols * grid.tile_n;
  return {std::min(grid.tile_m, g.m - i),
          std::min(grid.tile_n, g.n - j),
          g.k,
          static_cast<const char*>(g.a) + (batch * g.a_batch + i * g.a_row) * size,
          g.a_row,
          g.a_col,
          static_cast<const char*>(g.b) + (batch * g.b_batch + j * g.b_col) * size,
          g.b_row,
          g.b_col,
          static_cast<char*>(g.c) + (batch * g.c_batch + i * g.c_row + j) * size,
          g.c_row};
}

void run_all(const Gemm& g) {
  Grid grid = grid_for(g.m, g.n, g.k);
  int64_t tiles = g.batch * grid.rows * grid.cols;
  int64_t work = std::max<int64_t>(grid.tile_m * grid.tile_n * g.k, 1);
  parallel_for(0, tiles, std::max<int64_t>(kPiece / 4 / work, 1), [&](int64_t begin, int64_t end) {
    onednn::Threads one(1);
    for (int64_t i = begin; i < end; ++i) run_tile(g.dtype, tile_at(g, grid, i), g.alpha, g.beta);
  });
}

}  // namespace

bool is_blas_matrix(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride) {
  bool by_rows = (cols <= 1 || col_stride == 1) && (rows <= 1 || row_stride >= std::max<int64_t>(cols, 1));
  bool by_columns = (rows <= 1 || row_stride == 1) && (cols <= 1 || col_stride >= std::max<int64_t>(rows, 1));
  return by_rows || by_columns;
}

Tensor blas_operand(const Tensor& t) {
  int64_t d = t.dim();
  if (is_blas_matrix(t.size(d - 2), t.size(d - 1), t.stride(d - 2), t.stride(d - 1))) return t;
  return ops::contiguous(t);
}

void gemm(const Gemm& g) {
  if (g.batch == 0 || g.m == 0 || g.n == 0) return;
  if (g.batch == 1 && g.m * g.n * g.k <= kDirect) {
    Tile whole{g.m,
               g.n,
               g.k,
               static_cast<const char*>(g.a),
               g.a_row,
               g.a_col,
               static_cast<const char*>(g.b),
               g.b_row,
               g.b_col,
               static_cast<char*>(g.c),
               g.c_row};
    return run_tile(g.dtype, whole, g.alpha, g.beta);
  }
  if (g.k > 0 && (g.dtype == DType::BFloat16 || g.dtype == DType::Float16)) return onednn::half_gemm(g);
  run_all(g);
}

}  // namespace taeda::cpu
