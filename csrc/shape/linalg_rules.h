// Rules of matrix products and decompositions.
#pragma once
#include "shape/spec.h"

namespace taeda::shape {

Spec mm(const Tensor& self, const Tensor& mat2);
Spec int_mm(const Tensor& self, const Tensor& mat2);
Spec bmm(const Tensor& self, const Tensor& mat2);
Spec addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha);
Spec baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha);
Spec dot(const Tensor& self, const Tensor& tensor);
Spec mv(const Tensor& self, const Tensor& vec);
Spec addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha);
Spec linear(const Tensor& input, const Tensor& weight, const Tensor& bias);

void check_square(const Tensor& t);                              // of the last two dimensions
void check_pivots(const Tensor& factors, const Tensor& pivots);  // one for each row of the last dimension

// --- decompositions: matrices in the results lie by columns, as LAPACK writes them
std::tuple<Spec, Spec, Spec> lu_factor(const Tensor& A, bool pivot, bool check_errors);
Spec permutation(const Tensor& pivots, int64_t rows);
std::tuple<Spec, Spec> inv(const Tensor& A, bool check_errors);
std::tuple<Spec, Spec> solve(const Tensor& A, const Tensor& B, bool left, bool check_errors);
Spec solve_triangular(const Tensor& self, const Tensor& B, bool upper, bool left, bool unitriangular);
std::tuple<Spec, Spec> cholesky(const Tensor& self, bool upper, bool check_errors);
std::tuple<Spec, Spec> qr(const Tensor& A, std::string_view mode);
std::tuple<Spec, Spec, Spec> svd(const Tensor& A, bool full_matrices, bool compute_uv,
                                 std::optional<std::string_view> driver);
std::tuple<Spec, Spec> eigh(const Tensor& A, std::string_view UPLO, bool compute_v);
std::tuple<Spec, Spec> eig(const Tensor& self);
std::tuple<Spec, Spec, Spec> lstsq(const Tensor& A, const Tensor& B, double rcond, bool values);

// --- packed factors
std::tuple<Spec, Spec> geqrf(const Tensor& self);
std::tuple<Spec, Spec, Spec> ldl_factor(const Tensor& self, bool hermitian, bool check_errors);
Spec ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian);

// Whether B of a system is one vector per matrix of A rather than a matrix.
bool is_vector_side(const Tensor& A, const Tensor& B);

}  // namespace taeda::shape
