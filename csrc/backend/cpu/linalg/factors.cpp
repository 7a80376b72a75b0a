// Factors in packed form by LAPACK.
#include "backend/cpu/ops/factors.h"
#include "backend/cpu/libraries/lapack.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/view.h"

namespace taeda::cpu {

void geqrf(const Tensor& self, const Tensor& a, const Tensor& tau) {
  ops::copy_(a, self);
  visit_field(self.dtype(), [&]<class T>() {
    using Geqrf = void(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, int* info);
    static const auto routine_of_field = routine<T, Geqrf>("geqrf");
    Matrices<T> matrices(a);
    int lda = matrices.leading();
    int64_t k = tau.size(-1);
    if (k == 0) return;
    each_matrix(batch_count(a), matrices.rows, matrices.cols, [&](int64_t i) {
      int status = 0;
      with_work<T>([&](T* work, int length) {
        routine_of_field(&matrices.rows, &matrices.cols, matrices[i], &lda, tau.data<T>() + i * k, work, &length,
                         &status);
      });
    });
  });
}

void linalg_ldl_factor_ex(const Tensor& self, bool hermitian, bool check_errors, const Tensor& LD, const Tensor& pivots,
                          const Tensor& info) {
  ops::copy_(LD, ops::tril(self));
  ops::zero_(info);
  visit_field(self.dtype(), [&]<class T>() {
    using Sytrf = void(const char* uplo, const int* n, T* a, const int* lda, int* pivots, T* work, const int* lwork,
                       int* info, Length);
    static const auto symmetric = routine<T, Sytrf>("sytrf"), conjugate = routine<T, Sytrf>("sytrf", "hetrf");
    Matrices<T> a(LD);
    int n = a.rows;
    if (n == 0) return;
    each_matrix(batch_count(LD), n, n, [&](int64_t i) {
      with_work<T>([&](T* work, int length) {
        (hermitian ? conjugate : symmetric)("L", &n, a[i], &n, pivots.data<int>() + i * n, work, &length,
                                            info.data<int>() + i, kOne);
      });
    });
  });
  if (check_errors) check_info(info, "a block of D is singular");
}

namespace {
// LAPACK reads rows by these numbers, and where one is negative its neighbour's with it.
void check_ldl_pivots(const int* pivots, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    bool is_pair = pivots[i] < 0;
    for (int64_t k = i; k <= i + is_pair; ++k)
      TAEDA_CHECK(k < count && pivots[k] != 0 && (pivots[k] < 0) == is_pair && std::abs(int64_t{pivots[k]}) <= count,
                  "pivots must be those that ldl_factor gave: from 1 to ", count, ", negative ones in pairs; got ",
                  pivots[i], " in place ", i);
    i += is_pair;
  }
}
}  // namespace

void linalg_ldl_solve(const Tensor& LD, const Tensor& given_pivots, const Tensor& B, bool hermitian,
                      const Tensor& out) {
  ops::copy_(out, B);
  if (out.numel() == 0) return;
  shape::Dims batch(out.sizes().first(out.dim() - 2)), matrices(batch), vectors(batch);
  matrices.push_back(LD.size(-2)), matrices.push_back(LD.size(-1)), vectors.push_back(LD.size(-1));
  Tensor factors = copy_by_columns(ops::expand(LD, matrices));
  Tensor pivots = ops::contiguous(ops::expand(given_pivots, vectors));
  visit_field(LD.dtype(), [&]<class T>() {
    using Sytrs = void(const char* uplo, const int* n, const int* nrhs, const T* a, const int* lda, const int* pivots,
                       T* b, const int* ldb, int* info, Length);
    static const auto symmetric = routine<T, Sytrs>("sytrs"), conjugate = routine<T, Sytrs>("sytrs", "hetrs");
    Matrices<T> a(factors), b(out);
    for (int64_t i = 0; i < batch_count(out); ++i) check_ldl_pivots(pivots.data<int>() + i * a.rows, a.rows);
    each_matrix(batch_count(out), a.rows, a.rows, [&](int64_t i) {
      int status = 0;
      (hermitian ? conjugate : symmetric)("L", &a.rows, &b.cols, a[i], &a.rows, pivots.data<int>() + i * a.rows, b[i],
                                          &a.rows, &status, kOne);
    });
  });
}

}  // namespace taeda::cpu
