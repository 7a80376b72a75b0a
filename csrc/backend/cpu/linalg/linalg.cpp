// Products of matrices and batches of them.
#include "backend/cpu/ops/linalg.h"
#include "backend/cpu/libraries/gemm.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

namespace {

// out = alpha * a @ b + beta * out over the last two dimensions; up to one dimension of batches before them.
void multiply(const Tensor& a_given, const Tensor& b_given, const Tensor& out, const Scalar& alpha,
              const Scalar& beta) {
  if (out.numel() == 0) return;
  bool small = out.dim() == 2 && a_given.numel() <= 64 && b_given.numel() <= 64;
  Tensor a = small ? a_given : blas_operand(a_given), b = small ? b_given : blas_operand(b_given);
  int64_t d = out.dim();
  auto batch_stride = [d](const Tensor& t) { return d == 3 ? t.strides()[0] : 0; };
  gemm({out.dtype(), d == 3 ? out.sizes()[0] : 1, out.sizes()[d - 2], out.sizes()[d - 1], a.sizes()[d - 1], a.data(),
        batch_stride(a), a.strides()[d - 2], a.strides()[d - 1], b.data(), batch_stride(b), b.strides()[d - 2],
        b.strides()[d - 1], out.data(), batch_stride(out), out.strides()[d - 2], alpha, beta});
}

void add_product(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha,
                 const Tensor& out) {
  if (out.numel() == 0) return;
  if (!beta.equals(0) && !self.is(out)) ops::copy_(out, self);
  multiply(a, b, out, alpha, beta);
}

}  // namespace

void mm(const Tensor& self, const Tensor& mat2, const Tensor& out) { multiply(self, mat2, out, 1, 0); }
void bmm(const Tensor& self, const Tensor& mat2, const Tensor& out) { multiply(self, mat2, out, 1, 0); }

void addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha,
           const Tensor& out) {
  add_product(self, mat1, mat2, beta, alpha, out);
}
void baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha,
             const Tensor& out) {
  add_product(self, batch1, batch2, beta, alpha, out);
}

// --- vectors
namespace {

int64_t only_stride(const Tensor& vector) { return vector.numel() == 1 ? 1 : vector.strides()[0]; }

// out = alpha * mat @ vec + beta * out
void matrix_times_vector(const Tensor& mat_given, const Tensor& vec, const Tensor& out, const Scalar& alpha,
                         const Scalar& beta) {
  if (out.numel() == 0) return;
  Tensor mat = blas_operand(mat_given);
  gemm({out.dtype(), 1, mat.sizes()[0], 1, mat.sizes()[1], mat.data(), 0, mat.strides()[0], mat.strides()[1],
        vec.data(), 0, only_stride(vec), 1, out.data(), 0, 1, alpha, beta});
}

}  // namespace

void dot(const Tensor& self, const Tensor& tensor, const Tensor& out) {
  gemm({out.dtype(), 1, 1, 1, self.numel(), self.data(), 0, 1, only_stride(self), tensor.data(), 0, only_stride(tensor),
        1, out.data(), 0, 1});
}

void mv(const Tensor& self, const Tensor& vec, const Tensor& out) { matrix_times_vector(self, vec, out, 1, 0); }

void addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha,
           const Tensor& out) {
  if (!beta.equals(0) && !self.is(out)) ops::copy_(out, self);
  matrix_times_vector(mat, vec, out, alpha, beta);
}

// --- linear: input (..., in) @ weight (out, in)^T + bias
namespace {

template <class T>
void repeat_row(const Tensor& row, const Tensor& out) {
  const T* from = row.data<T>();
  int64_t n = row.numel(), stride = row.strides().empty() ? 1 : row.strides()[0];
  T* to = out.data<T>();
  parallel_for(0, out.numel() / n, std::max<int64_t>(kGrain / n, 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < n; ++j) to[i * n + j] = from[j * stride];
  });
}

void start_with(const Tensor& bias, const Tensor& out) {
  bool plain_row = bias.dim() == 1 && bias.sizes()[0] == out.sizes().back() && out.dtype() == bias.dtype();
  if (plain_row && out.dtype() == DType::Float32) return repeat_row<float>(bias, out);
  ops::copy_(out, bias);
}

}  // namespace

void linear(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& out) {
  if (out.numel() == 0) return;
  bool is_matrix = weight.dim() == 2;
  int64_t n = is_matrix ? weight.sizes()[0] : 1, k = weight.sizes().back(), m = out.numel() / n;
  if (bias.defined()) start_with(bias, out);
  // Leading dimensions count as one where their strides allow it.
  Tensor x = input.dim() == 2 ? blas_operand(input) : ops::contiguous(input);
  Tensor w = is_matrix ? blas_operand(weight) : ops::contiguous(weight);
  int64_t x_row = input.dim() == 2 ? x.strides()[0] : k, x_col = input.dim() == 2 ? x.strides()[1] : 1;
  gemm({out.dtype(), 1, m, n, k, x.data(), 0, x_row, x_col, w.data(), 0, w.strides().back(),
        is_matrix ? w.strides()[0] : k, out.data(), 0, n, Scalar(1), Scalar(bias.defined() ? 1 : 0)});
}

}  // namespace taeda::cpu
