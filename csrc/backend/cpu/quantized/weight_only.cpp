// Products of floats with weights of 8 or 4 bits: a block of the weights' rows becomes floats in the cache at a time.
#include <algorithm>

#include "backend/cpu/libraries/gemm.h"
#include "backend/cpu/ops/quantized_weight_only.h"
#include "core/elements.h"
#include "core/multiversion.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

namespace {

constexpr int64_t kBlock = 64;  // rows of weights, as the packed ones lie

void check_product(const Tensor& x, const Tensor& weight, int64_t depth) {
  TAEDA_CHECK(x.dim() == 2 && is_floating(x.dtype()) && x.dtype() != DType::Float64,
              "self must be a float32, float16 or bfloat16 matrix; got ", x.dtype(), " of shape ", x.sizes());
  TAEDA_CHECK(weight.dim() == 2 && x.size(1) == depth, "self (shape ", x.sizes(), ") must have ", depth, " columns");
}

// x (m, k) by the weight's `rows` rows, which fill(first, count, floats) makes in blocks: (m, rows), in x's dtype.
template <class Fill, class Finish>
Tensor by_blocks(const Tensor& x, int64_t rows, const Fill& fill, const Finish& finish) {
  Tensor floats = ops::contiguous(ops::_to_copy(x, DType::Float32));
  int64_t m = x.size(0), k = x.size(1);
  Tensor result = new_tensor(IntList({m, rows}), DType::Float32);
  if (result.numel() == 0) return ops::_to_copy(result, x.dtype());
  parallel_for(0, (rows + kBlock - 1) / kBlock, 1, [&](int64_t begin, int64_t end) {
    Tensor weights = new_tensor(IntList({kBlock, std::max<int64_t>(k, 1)}), DType::Float32);
    for (int64_t b = begin; b < end; ++b) {
      int64_t first = b * kBlock, count = std::min(kBlock, rows - first);
      fill(first, count, weights.data<float>());
      float* to = result.data<float>() + first;
      gemm({DType::Float32, 1, m, count, k, floats.data(), m * k, k, 1, weights.data(), count * k, 1, k, to, m * rows,
            rows});
      finish(to, first, count);
    }
  });
  return x.dtype() == DType::Float32 ? result : ops::_to_copy(result, x.dtype());
}

TAEDA_VERSIONED void to_floats_any(const int8_t* from, float* to, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
}
TAEDA_MULTIVERSION(void to_floats(const int8_t* from, float* to, int64_t count), to_floats_any(from, to, count))

// Where the 4-bit element of a row lies: two rows share a byte, in full blocks those 32 apart, in the last one
// neighbours.
struct Nibble {
  int64_t byte;
  int shift;
};
Nibble nibble(int64_t row, int64_t column, int64_t rows, int64_t depth) {
  int64_t first = row / kBlock * kBlock, in_block = std::min(kBlock, rows - first), r = row - first;
  bool full = in_block == kBlock;
  int64_t place = full ? r % (kBlock / 2) : r / 2;
  return {first * depth / 2 + column * (in_block / 2) + place, (full ? r >= kBlock / 2 : r % 2) ? 4 : 0};
}

}  // namespace

Tensor _weight_int8pack_mm(const Tensor& self, const Tensor& mat2, const Tensor& scales) {
  TAEDA_CHECK(mat2.dtype() == DType::Int8 && mat2.is_contiguous(), "mat2 must be contiguous int8; got ", mat2.dtype());
  check_product(self, mat2, mat2.size(1));
  int64_t rows = mat2.size(0), k = mat2.size(1), m = self.size(0);
  TAEDA_CHECK(scales.numel() == rows && scales.dtype() == self.dtype(), "scales must be ", rows, " of ", self.dtype(),
              "; got ", scales.numel(), " of ", scales.dtype());
  Tensor by = ops::_to_copy(ops::contiguous(scales), DType::Float32);
  const float* factors = elements<float>(by);
  auto w = static_cast<const int8_t*>(mat2.data());
  auto fill = [&](int64_t first, int64_t count, float* to) { to_floats(w + first * k, to, count * k); };
  return by_blocks(self, rows, fill, [&](float* to, int64_t first, int64_t count) {
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < count; ++j) to[i * rows + j] *= factors[first + j];
  });
}

Tensor _convert_weight_to_int4pack_for_cpu(const Tensor& self, int64_t) {
  TAEDA_CHECK(self.dtype() == DType::Int32 && self.dim() == 2 && self.size(0) % 16 == 0 && self.size(1) % 2 == 0,
              "takes an int32 matrix of 4-bit numbers whose rows are a multiple of 16 and columns of 2; got ",
              self.dtype(), " of shape ", self.sizes());
  Tensor from = ops::contiguous(self);
  int64_t rows = self.size(0), depth = self.size(1);
  Tensor result = new_tensor(IntList({rows, depth / 2}), DType::UInt8);
  auto to = result.data<uint8_t>();
  std::fill_n(to, result.numel(), 0);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < depth; ++c) {
      Nibble n = nibble(r, c, rows, depth);
      to[n.byte] |= static_cast<uint8_t>((elements<int32_t>(from)[r * depth + c] & 15) << n.shift);
    }
  return result;
}

Tensor _weight_int4pack_mm_for_cpu(const Tensor& self, const Tensor& mat2, int64_t qGroupSize,
                                   const Tensor& qScaleAndZeros) {
  TAEDA_CHECK(mat2.dtype() == DType::UInt8 && mat2.dim() == 2 && mat2.is_contiguous(),
              "mat2 must be what _convert_weight_to_int4pack_for_cpu gives; got ", mat2.dtype(), " of shape ",
              mat2.sizes());
  int64_t rows = mat2.size(0), depth = mat2.size(1) * 2;
  check_product(self, mat2, depth);
  TAEDA_CHECK(qGroupSize > 0 && depth % qGroupSize == 0, "qGroupSize must divide the ", depth, " columns; got ",
              qGroupSize);
  int64_t groups = depth / qGroupSize;
  TAEDA_CHECK(qScaleAndZeros.dim() == 3 && qScaleAndZeros.numel() == groups * rows * 2 && qScaleAndZeros.size(2) == 2,
              "qScaleAndZeros must be (", groups, ", ", rows, ", 2); got ", qScaleAndZeros.sizes());
  Tensor by = ops::_to_copy(ops::contiguous(qScaleAndZeros), DType::Float32);
  const float* numbers = elements<float>(by);
  auto w = static_cast<const uint8_t*>(mat2.data());
  auto fill = [&](int64_t first, int64_t count, float* to) {
    for (int64_t r = 0; r < count; ++r) {
      Nibble n = nibble(first + r, 0, rows, depth);
      int64_t step = std::min(kBlock, rows - first) / 2;
      for (int64_t g = 0; g < groups; ++g) {
        const float* pair = numbers + (g * rows + first + r) * 2;
        for (int64_t c = g * qGroupSize; c < (g + 1) * qGroupSize; ++c)
          to[r * depth + c] = static_cast<float>((w[n.byte + c * step] >> n.shift & 15) - 8) * pair[0] + pair[1];
      }
    }
  };
  return by_blocks(self, rows, fill, [](float*, int64_t, int64_t) {});
}

}  // namespace taeda::cpu
