// Matrix products over raw memory, cut into tiles by size so that the bits do not depend on the number of threads.
#pragma once
#include "taeda/core/tensor.h"

namespace taeda::cpu {

// `batch` products c = alpha * a @ b + beta * c of (m, k) by (k, n). Strides are in elements; the rows of c are
// contiguous. With beta 0, c is only written. Integers wrap; half types accumulate in float.
struct Gemm {
  DType dtype;
  int64_t batch, m, n, k;
  const void* a;
  int64_t a_batch, a_row, a_col;
  const void* b;
  int64_t b_batch, b_row, b_col;
  void* c;
  int64_t c_batch, c_row;
  Scalar alpha{1}, beta{0};
};
void gemm(const Gemm& g);

// Whether BLAS can read a matrix of these strides as it lies, or transposed.
bool is_blas_matrix(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride);
// The last two dimensions of `t` as BLAS takes them: itself, or a contiguous copy.
Tensor blas_operand(const Tensor& t);

}  // namespace taeda::cpu
