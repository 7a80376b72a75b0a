// Products of half types: oneDNN's matmul where the machine has instructions for them, else through float.
#include "backend/cpu/libraries/onednn.h"
#include "core/multiversion.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu::onednn {

namespace {

constexpr int64_t kRows = 256;  // rows of results to a piece

Tensor borrowed(const void* data, DType dtype, std::array<int64_t, 3> sizes, std::array<int64_t, 3> strides) {
  int64_t bytes = extent(sizes, strides, 0) * itemsize(dtype);
  auto storage =
      make_ref<StorageImpl>(DataPtr(const_cast<void*>(data), nullptr, nullptr, Device{DeviceType::CPU}), bytes, false);
  return from_storage(std::move(storage), dtype, sizes, strides, 0);
}

Tensor to_float(const Tensor& t) {
  Tensor result = new_tensor(t.sizes(), DType::Float32);
  ops::copy_(result, t);
  return result;
}

// c = alpha * product + beta * c; the sum is rounded once before it becomes a half.
template <class T>
void finish(const Gemm& g, const float* product) {
  float alpha = g.alpha.to<float>(), beta = g.beta.to<float>();
  parallel_for(0, g.batch * g.m, std::max<int64_t>(kGrain / g.n, 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* to = static_cast<T*>(g.c) + i / g.m * g.c_batch + i % g.m * g.c_row;
      const float* from = product + i * g.n;
      for (int64_t j = 0; j < g.n; ++j)
        to[j] =
            T(beta == 0 ? alpha * from[j]
                        : static_cast<float>(static_cast<double>(beta) * static_cast<float>(to[j]) + alpha * from[j]));
    }
  });
}

void finish(const Gemm& g, const Tensor& product) {
  g.dtype == DType::BFloat16 ? finish<BFloat16>(g, product.data<float>()) : finish<Half>(g, product.data<float>());
}

void through_float(const Gemm& g) {
  Tensor a = to_float(borrowed(g.a, g.dtype, {g.batch, g.m, g.k}, {g.a_batch, g.a_row, g.a_col}));
  Tensor b = to_float(borrowed(g.b, g.dtype, {g.batch, g.k, g.n}, {g.b_batch, g.b_row, g.b_col}));
  Tensor product = new_tensor(IntList({g.batch, g.m, g.n}), DType::Float32);
  gemm({DType::Float32, g.batch, g.m, g.n, g.k, a.data(), g.m * g.k, g.k, 1, b.data(), g.k * g.n, g.n, 1,
        product.data(), g.m * g.n, g.n});
  finish(g, product);
}

struct Shape {
  DType dtype, result;
  int64_t m, n, k, a_row, a_col, b_row, b_col, c_row;
};

std::shared_ptr<Operation> matmul_operation(const Shape& s) {
  Key key;
  key.add('m').add(static_cast<int64_t>(s.dtype)).add(static_cast<int64_t>(s.result));
  for (int64_t v : {s.m, s.n, s.k, s.a_row, s.a_col, s.b_row, s.b_col, s.c_row}) key.add(v);
  return cached(key, [&] {
    std::array<int64_t, 2> a{s.m, s.k}, b{s.k, s.n}, c{s.m, s.n};
    MemoryDesc a_desc(s.dtype, a, IntList({s.a_row, s.a_col})), b_desc(s.dtype, b, IntList({s.b_row, s.b_col}));
    MemoryDesc c_desc(s.result, c, IntList({s.c_row, 1})), b_free = MemoryDesc::any(s.dtype, b);
    dnnl_primitive_desc_t desc = nullptr;
    check(dnnl().matmul_primitive_desc_create(&desc, engine(), a_desc.get(), s.m == kRows ? b_free.get() : b_desc.get(),
                                              nullptr, c_desc.get(), Attributes().get()));
    std::vector<Operation::Operand> operands;
    operands.push_back({DNNL_ARG_SRC, std::move(a_desc), false});
    operands.push_back({DNNL_ARG_WEIGHTS, std::move(b_desc), false});
    operands.push_back({DNNL_ARG_DST, std::move(c_desc), true});
    return std::make_shared<Operation>(Primitive(desc), std::move(operands));
  });
}

// --- the right side of a large product, packed once for all pieces
constexpr int64_t kPanel = 64;

TAEDA_VERSIONED void pack_panel_any(uint16_t* to, const uint16_t* from, int64_t step, int64_t pairs) {
  for (int64_t p = 0; p < pairs; ++p, to += 2 * kPanel, from += 2 * step)
#pragma omp simd
    for (int64_t j = 0; j < kPanel; ++j) {
      to[2 * j] = from[j];
      to[2 * j + 1] = from[step + j];
    }
}
TAEDA_MULTIVERSION(void pack_panel(uint16_t* to, const uint16_t* from, int64_t step, int64_t pairs),
                   pack_panel_any(to, from, step, pairs))

// As `operation` wants it. What AMX multiplies, pairs of rows in panels of 64 columns, oneDNN packs in twice the time.
Tensor packed_right(const Gemm& g, const Operation& operation) {
  bool fits = g.b_col == 1 && g.n % kPanel == 0 && g.k % 32 == 0;
  if (!fits || !operation.wants(1, MemoryDesc::tagged(g.dtype, IntList({g.k, g.n}), dnnl_BA16a64b2a))) {
    Threads own(num_threads());
    return operation.settle(1, const_cast<void*>(g.b));
  }
  Tensor result = new_tensor(IntList({g.k * g.n}), g.dtype);
  auto to = static_cast<uint16_t*>(result.data());
  parallel_for(0, g.n / kPanel, std::max<int64_t>(kGrain / (g.k * kPanel), 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      pack_panel(to + i * g.k * kPanel, static_cast<const uint16_t*>(g.b) + i * kPanel, g.b_row, g.k / 2);
  });
  return result;
}

// --- a matrix and a vector: bound by reading the matrix once
constexpr int64_t kLanes = 16, kColumnRows = 256;

TAEDA_VERSIONED float dot_any(const BFloat16* row, const float* vector, int64_t count) {
  float sums[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += static_cast<float>(row[i + lane]) * vector[i + lane];
  float sum = 0;
  for (; i < count; ++i) sum += static_cast<float>(row[i]) * vector[i];
  for (float s : sums) sum += s;
  return sum;
}
TAEDA_MULTIVERSION(float dot(const BFloat16* row, const float* vector, int64_t count),
                   return dot_any(row, vector, count))

TAEDA_VERSIONED void add_column_any(float* sums, const BFloat16* column, float factor, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) sums[i] += static_cast<float>(column[i]) * factor;
}
TAEDA_MULTIVERSION(void add_column(float* sums, const BFloat16* column, float factor, int64_t count),
                   add_column_any(sums, column, factor, count))

// product[i] = sum of matrix[i, p] * vector[p], for a matrix whose rows or columns are contiguous.
void matrix_times_vector(const BFloat16* matrix, int64_t rows, int64_t depth, int64_t row_stride, int64_t col_stride,
                         const float* vector, float* product) {
  if (col_stride == 1 || depth == 1) {
    return parallel_for(0, rows, std::max<int64_t>(kGrain / depth, 1), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) product[i] = dot(matrix + i * row_stride, vector, depth);
    });
  }
  parallel_for(0, rows, kColumnRows, [&](int64_t begin, int64_t end) {
    std::fill(product + begin, product + end, 0.0f);
    for (int64_t p = 0; p < depth; ++p)
      add_column(product + begin, matrix + begin + p * col_stride, vector[p], end - begin);
  });
}

void vector_gemm(const Gemm& g) {
  bool by_left = g.n == 1;
  int64_t rows = by_left ? g.m : g.n, step = by_left ? g.b_row : g.a_col;
  auto values = static_cast<const BFloat16*>(by_left ? g.b : g.a);
  std::vector<float> vector(g.k), product(rows);
  for (int64_t p = 0; p < g.k; ++p) vector[p] = static_cast<float>(values[p * step]);
  if (by_left)
    matrix_times_vector(static_cast<const BFloat16*>(g.a), rows, g.k, g.a_row, g.a_col, vector.data(), product.data());
  else
    matrix_times_vector(static_cast<const BFloat16*>(g.b), rows, g.k, g.b_col, g.b_row, vector.data(), product.data());
  finish<BFloat16>(g, product.data());
}

bool is_vector_gemm(const Gemm& g) {
  if (g.dtype != DType::BFloat16 || g.batch != 1 || (g.m != 1 && g.n != 1)) return false;
  int64_t row = g.n == 1 ? g.a_row : g.b_col, col = g.n == 1 ? g.a_col : g.b_row;
  return row == 1 || col == 1;
}

}  // namespace

void half_gemm(const Gemm& g) {
  if (is_vector_gemm(g)) return vector_gemm(g);
  if (!has_native(g.dtype)) return through_float(g);
  bool plain = g.alpha.equals(1) && g.beta.equals(0);
  Tensor product = plain ? Tensor() : new_tensor(IntList({g.batch, g.m, g.n}), DType::Float32);
  DType result = plain ? g.dtype : DType::Float32;
  int64_t c_row = plain ? g.c_row : g.n, c_batch = plain ? g.c_batch : g.m * g.n;
  char* c = static_cast<char*>(plain ? g.c : product.data());
  int64_t pieces = (g.m + kRows - 1) / kRows, size = itemsize(g.dtype);
  auto operation = [&](int64_t rows) {
    return matmul_operation({g.dtype, result, rows, g.n, g.k, g.a_row, g.a_col, g.b_row, g.b_col, c_row});
  };
  Tensor packed = g.batch == 1 && g.m >= kRows ? packed_right(g, *operation(kRows)) : Tensor();
  parallel_for(0, g.batch * pieces, 1, [&](int64_t begin, int64_t end) {
    Threads one(1);
    for (int64_t index = begin; index < end; ++index) {
      int64_t batch = index / pieces, i = index % pieces * kRows, rows = std::min(kRows, g.m - i);
      bool is_packed = packed.defined() && rows == kRows;
      auto a = static_cast<const char*>(g.a) + (batch * g.a_batch + i * g.a_row) * size;
      auto b = is_packed ? static_cast<const char*>(packed.data())
                         : static_cast<const char*>(g.b) + batch * g.b_batch * size;
      void* data[] = {const_cast<char*>(a), const_cast<char*>(b), c + (batch * c_batch + i * c_row) * itemsize(result)};
      operation(rows)->run(data, is_packed ? 1 : -1);
    }
  });
  if (!plain) finish(g, product);
}

}  // namespace taeda::cpu::onednn
