// What becomes of the integer sums of a product or a convolution.
#pragma once
#include "core/elements.h"
#include "taeda/core/tensor.h"

namespace taeda::cpu {

// A column's result is (sum - corrections) * factor: the float itself, or rounded and shifted to an 8-bit integer.
//   corrections: x_zero * (sum of the column's weights) + (the column's zero point) * (the row's sum - depth * x_zero)
// A bias counts in sums where the result is an integer, and in results where it is a float. `floor`: relu.
struct Epilogue {
  int32_t x_zero = 0;
  int64_t depth = 0;
  const int32_t* sums;             // of each column's weights
  const int32_t* zeros = nullptr;  // of each column; null where all are 0
  const float* factors;
  const float* bias = nullptr;
  DType result;  // Float32, UInt8 or Int8; Int32 for the sums as they are
  int32_t zero = 0;
  bool floor = false;

  // One row of `columns` sums, the first of which is that of column `first`.
  void row(const int32_t* from, void* to, int64_t first, int64_t columns, int32_t row_sum) const;
  int64_t result_size() const { return itemsize(result); }
};

// The tensors that an op gets, checked: each with an element for every column.
Epilogue epilogue_of(int64_t columns, int64_t x_zero, const Tensor& sums, const Tensor& zeros, const Tensor& factors,
                     const Tensor& bias, std::optional<DType> dtype, int64_t zero, bool floor);
// RuntimeError unless these are so many bytes in a row.
void check_packed(const Tensor& packed, int64_t bytes);

}  // namespace taeda::cpu
