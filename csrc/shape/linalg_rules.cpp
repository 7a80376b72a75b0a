#include "shape/linalg_rules.h"

#include "shape/elementwise.h"

namespace taeda::shape {

namespace {

void check_dtypes(const Tensor& a, const Tensor& b, std::string_view first, std::string_view second) {
  TAEDA_CHECK(a.dtype() == b.dtype(), first, " and ", second, " must have one dtype; got ", a.dtype(), " and ",
              b.dtype());
}

void check_matrices(const Tensor& a, const Tensor& b, std::string_view first, std::string_view second, int64_t rank) {
  TAEDA_CHECK(a.dim() == rank && b.dim() == rank, first, " and ", second, " must have ", rank,
              " dimensions; got shapes ", a.sizes(), " and ", b.sizes());
  TAEDA_CHECK(a.sizes()[rank - 1] == b.sizes()[rank - 2], "the last size of ", first, " (", a.sizes()[rank - 1],
              ") must equal the second-to-last of ", second, " (", b.sizes()[rank - 2], "); got shapes ", a.sizes(),
              " and ", b.sizes());
  TAEDA_CHECK(rank == 2 || a.sizes()[0] == b.sizes()[0], first, " and ", second,
              " must hold as many matrices; got shapes ", a.sizes(), " and ", b.sizes());
  check_dtypes(a, b, first, second);
}

// What is added must expand to the product.
Spec sum_of(const Tensor& self, Spec product) {
  TAEDA_CHECK(self.dtype() == product.dtype, "self and the matrices must have one dtype; got ", self.dtype(), " and ",
              product.dtype);
  int64_t extra = static_cast<int64_t>(product.sizes.size()) - self.dim();
  bool fits = extra >= 0;
  for (int64_t i = 0; fits && i < self.dim(); ++i)
    fits = self.sizes()[i] == 1 || self.sizes()[i] == product.sizes[i + extra];
  TAEDA_CHECK(fits, "self of shape ", self.sizes(), " does not expand to the product's shape ", IntList(product.sizes));
  return product;
}

}  // namespace

Spec mm(const Tensor& self, const Tensor& mat2) {
  check_matrices(self, mat2, "self", "mat2", 2);
  return {{self.sizes()[0], mat2.sizes()[1]}, self.dtype()};
}

Spec int_mm(const Tensor& self, const Tensor& mat2) {
  TAEDA_CHECK(self.dim() == 2 && mat2.dim() == 2 && self.sizes()[1] == mat2.sizes()[0],
              "self and mat2 must be matrices (n, k) and (k, m); got shapes ", self.sizes(), " and ", mat2.sizes());
  TAEDA_CHECK((self.dtype() == DType::Int8 || self.dtype() == DType::UInt8) && mat2.dtype() == DType::Int8,
              "self must be an int8 or uint8 matrix and mat2 an int8 one; got ", self.dtype(), " and ", mat2.dtype());
  return {{self.sizes()[0], mat2.sizes()[1]}, DType::Int32};
}

Spec bmm(const Tensor& self, const Tensor& mat2) {
  check_matrices(self, mat2, "self", "mat2", 3);
  return {{self.sizes()[0], self.sizes()[1], mat2.sizes()[2]}, self.dtype()};
}

Spec addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  check_matrices(mat1, mat2, "mat1", "mat2", 2);
  bool integral = category(mat1.dtype()) <= Category::Integral;
  TAEDA_CHECK(!integral || (beta.category() <= Category::Integral && alpha.category() <= Category::Integral),
              "alpha and beta must be integers for ", mat1.dtype(), " matrices; got alpha=", alpha, " and beta=", beta);
  return sum_of(self, {{mat1.sizes()[0], mat2.sizes()[1]}, mat1.dtype()});
}

// Fractions of integer matrices: here and in addmv, alpha and beta lose their digits after the point.
Spec baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar&, const Scalar&) {
  check_matrices(batch1, batch2, "batch1", "batch2", 3);
  return sum_of(self, {{batch1.sizes()[0], batch1.sizes()[1], batch2.sizes()[2]}, batch1.dtype()});
}

Spec dot(const Tensor& self, const Tensor& tensor) {
  TAEDA_CHECK(self.dim() == 1 && tensor.dim() == 1 && self.numel() == tensor.numel(),
              "self and tensor must be vectors of one length; got shapes ", self.sizes(), " and ", tensor.sizes());
  check_dtypes(self, tensor, "self", "tensor");
  return {{}, self.dtype()};
}

Spec mv(const Tensor& self, const Tensor& vec) {
  TAEDA_CHECK(self.dim() == 2 && vec.dim() == 1 && self.sizes()[1] == vec.numel(),
              "needs a matrix (n, k) and a vector (k,); got shapes ", self.sizes(), " and ", vec.sizes());
  check_dtypes(self, vec, "the matrix", "the vector");
  return {{self.sizes()[0]}, self.dtype()};
}

Spec addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar&, const Scalar&) {
  return sum_of(self, mv(mat, vec));
}

Spec linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  TAEDA_CHECK(weight.dim() == 1 || weight.dim() == 2, "weight must have shape (out, in) or (in,); got ",
              weight.sizes());
  TAEDA_CHECK(input.dim() >= 1 && input.sizes().back() == weight.sizes().back(),
              "the last size of input must be the weight's ", weight.sizes().back(),
              " input features; got input of shape ", input.sizes(), " and weight of shape ", weight.sizes());
  check_dtypes(input, weight, "input", "weight");
  Spec result{input.sizes().first(input.dim() - 1), input.dtype()};
  if (weight.dim() == 2) result.sizes.push_back(weight.sizes()[0]);
  return bias.defined() ? sum_of(bias, std::move(result)) : result;
}

}  // namespace taeda::shape
