// Products of 8-bit integers in pieces of rows: by tiles.h, which makes results of sums at once, else by oneDNN or
// plain loops, whose sums stay in the cache until they are results.
#include "backend/cpu/ops/quantized_linear.h"
#include "backend/cpu/quantized/epilogue.h"
#include "backend/cpu/quantized/product.h"
#include "backend/cpu/quantized/scratch.h"
#include "backend/cpu/quantized/tiles.h"
#include "core/multiversion.h"
#include "taeda/core/parallel.h"

namespace taeda::cpu::quantized {

namespace {

using namespace onednn;

constexpr int64_t kRows = 128;  // to a piece

// x (m, k) row-major times weight (n, k) row-major, transposed.
std::shared_ptr<Operation> product(DType x, int64_t m, int64_t n, int64_t k) {
  return byte_product(x, m, n, k, IntList({1, k}));
}

// --- without instructions for it
template <class X>
TAEDA_VERSIONED int32_t dot_any(const X* x, const int8_t* w, int64_t count) {
  int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += static_cast<int32_t>(x[i]) * static_cast<int32_t>(w[i]);
  return sum;
}
TAEDA_MULTIVERSION(int32_t dot(const uint8_t* x, const int8_t* w, int64_t count), return dot_any(x, w, count))
TAEDA_MULTIVERSION(int32_t dot(const int8_t* x, const int8_t* w, int64_t count), return dot_any(x, w, count))

template <class X>
int32_t sum_of(const X* x, int64_t count) {
  int32_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += x[i];
  return sum;
}

struct Problem {
  const Tensor &x, &weight, &packed;
  int64_t m, n, k;
  const char* row(int64_t i) const { return static_cast<const char*>(x.data()) + i * k; }
  bool is_signed() const { return x.dtype() == DType::Int8; }
};

void plain_sums(const Problem& p, int64_t first, int64_t rows, int32_t* to) {
  auto w = static_cast<const int8_t*>(p.weight.data());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      const char* row = p.row(first + i);
      to[i * p.n + j] = p.is_signed() ? dot(reinterpret_cast<const int8_t*>(row), w + j * p.k, p.k)
                                      : dot(reinterpret_cast<const uint8_t*>(row), w + j * p.k, p.k);
    }
}

// The sums of `rows` rows from `first` on.
void sums_of(const Problem& p, int64_t first, int64_t rows, int32_t* to) {
  if (!has_native(DType::Int8)) return plain_sums(p, first, rows, to);
  auto operation = product(p.x.dtype(), rows, p.n, p.k);
  auto nominal = product(DType::UInt8, kRows, p.n, p.k);  // what is packed for
  bool fits = p.packed.numel() && nominal->settled_like(*operation, 1);
  if (fits) check_packed(p.packed, operation->bytes(1));
  void* weight = fits ? p.packed.data() : p.weight.data();
  void* data[] = {const_cast<char*>(p.row(first)), weight, to};
  operation->run(data, fits ? 1 : -1);
}

void finish(const Problem& p, const Epilogue& e, int64_t first, int64_t rows, const int32_t* sums, char* result) {
  for (int64_t i = 0; i < rows; ++i) {
    int32_t row_sum = 0;
    if (e.zeros)
      row_sum = p.is_signed() ? sum_of(reinterpret_cast<const int8_t*>(p.row(first + i)), p.k)
                              : sum_of(reinterpret_cast<const uint8_t*>(p.row(first + i)), p.k);
    e.row(sums + i * p.n, result + (first + i) * p.n * e.result_size(), 0, p.n, row_sum);
  }
}

void check_operands(const Tensor& x, const Tensor& weight) {
  TAEDA_CHECK((x.dtype() == DType::UInt8 || x.dtype() == DType::Int8) && x.dim() == 2 && x.is_contiguous(),
              "x must be a contiguous matrix of 8-bit integers; got ", x.dtype(), " of shape ", x.sizes());
  TAEDA_CHECK(
      weight.dtype() == DType::Int8 && weight.dim() == 2 && weight.is_contiguous() && weight.size(1) == x.size(1),
      "the weight must be a contiguous int8 matrix of ", x.size(1), " columns; got ", weight.dtype(), " of shape ",
      weight.sizes());
}

Tensor pack_tiles(const Tiles& own, const Tensor& weight) {
  const int64_t n = weight.size(0), k = weight.size(1);
  const Shape s{n, 1, k};
  Tensor packed = new_tensor(IntList({own.bytes(s)}), DType::UInt8);
  auto from = static_cast<const int8_t*>(weight.data());
  auto to = static_cast<int8_t*>(packed.data());
  std::fill_n(to, packed.numel(), int8_t{0});
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < k; ++i) to[own.place_of(s, j, 0, i)] = from[j * k + i];
  return packed;
}

// Rows of whole fours of elements.
Tensor as_read(const Tiles& own, const Tensor& x) {
  const int64_t m = x.size(0), k = x.size(1), step = (k + 3) / 4 * 4;
  const bool is_signed = x.dtype() == DType::Int8;
  if (step == k && own.element == 1 && !is_signed) return x;
  Tensor rows = new_tensor(IntList({m, step * own.element}), DType::UInt8);
  auto from = static_cast<const char*>(x.data());
  auto to = static_cast<char*>(rows.data());
  parallel_for(0, m, std::max<int64_t>(kGrain / std::max<int64_t>(step, 1), 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      char* row = to + i * step * own.element;
      own.read(from + i * k, k, is_signed, row);
      std::fill(row + k * own.element, row + step * own.element, char{0});
    }
  });
  return rows;
}

void multiply_tiles(const Tiles& tiles, const Problem& p, Epilogue e, char* to) {
  constexpr int64_t kPiece = 96, kProducts = 1 << 20;  // rows that are read together; products worth a thread
  const Tiles& own = p.is_signed() ? tiles : tiles.fitting(p.row(0), p.m * p.k);
  e = own.epilogue(e, p.is_signed());
  const Shape s{p.n, 1, p.k};
  check_packed(p.packed, own.bytes(s));
  const Tensor x = as_read(own, p.x);
  const int64_t zero = 0, panels = (p.n + own.panel - 1) / own.panel, step = x.size(1);
  const int64_t at_once =
      std::clamp<int64_t>(kProducts / std::max<int64_t>(std::min(p.m, kPiece) * p.k * own.panel, 1), 1, panels);
  const int64_t across = (panels + at_once - 1) / at_once, pieces = (p.m + kPiece - 1) / kPiece;
  auto weights = static_cast<const int8_t*>(p.packed.data());
  parallel_for(0, pieces * across, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t first = task / across * kPiece, panel = task % across * at_once * own.panel;
      const auto count = static_cast<size_t>(std::min(kPiece, p.m - first));
      const char* rows[kPiece];
      for (size_t i = 0; i < count; ++i)
        rows[i] = static_cast<const char*>(x.data()) + (first + static_cast<int64_t>(i)) * step;
      own.multiply({s, &zero, weights, e}, {rows, count}, to + first * p.n * e.result_size(), p.n * e.result_size(),
                   panel, std::min(panel + at_once * own.panel, p.n));
    }
  });
}

}  // namespace

Tensor _pack_matrix(const Tensor& weight) {
  TAEDA_CHECK(weight.dtype() == DType::Int8 && weight.dim() == 2 && weight.is_contiguous(),
              "takes a contiguous int8 matrix; got ", weight.dtype(), " of shape ", weight.sizes());
  if (const Tiles* own = tiles()) return pack_tiles(*own, weight);
  if (!has_native(DType::Int8) || weight.numel() == 0) return new_tensor(IntList({0}), DType::UInt8);
  Threads own(num_threads());
  Tensor packed = product(DType::UInt8, kRows, weight.size(0), weight.size(1))->settle(1, weight.data());
  return packed.defined() ? packed : new_tensor(IntList({0}), DType::UInt8);
}

Tensor _matmul(const Tensor& x, const Tensor& weight, const Tensor& packed, int64_t x_zero_point, const Tensor& sums,
               const Tensor& zero_points, const Tensor& factors, const Tensor& bias, std::optional<DType> dtype,
               int64_t zero_point, bool relu) {
  check_operands(x, weight);
  Problem p{x, weight, packed, x.size(0), weight.size(0), x.size(1)};
  Epilogue e = epilogue_of(p.n, x_zero_point, sums, zero_points, factors, bias, dtype, zero_point, relu);
  e.depth = p.k;
  Tensor result = new_tensor(IntList({p.m, p.n}), e.result);
  if (result.numel() == 0) return result;
  char* to = static_cast<char*>(result.data());
  if (const Tiles* own = tiles()) {
    multiply_tiles(*own, p, e, to);
    return result;
  }
  int64_t pieces = (p.m + kRows - 1) / kRows;
  parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
    Threads one(pieces > 1 ? 1 : num_threads());
    auto sums_here = static_cast<int32_t*>(scratch<Scratch::Sums>(std::min(kRows, p.m) * p.n * 4));
    for (int64_t piece = begin; piece < end; ++piece) {
      int64_t first = piece * kRows, rows = std::min(kRows, p.m - first);
      if (p.k)
        sums_of(p, first, rows, sums_here);
      else
        std::fill_n(sums_here, rows * p.n, 0);
      finish(p, e, first, rows, sums_here, to);
    }
  });
  return result;
}

}  // namespace taeda::cpu::quantized
