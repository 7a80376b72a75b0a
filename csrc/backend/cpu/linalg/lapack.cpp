// Decompositions by LAPACK.
#include "backend/cpu/libraries/lapack.h"
#include "backend/cpu/ops/decompositions.h"
#include "shape/linalg_rules.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/view.h"

namespace taeda::cpu {

Tensor copy_by_columns(const Tensor& source) {
  Tensor copy = fresh_by_columns(source);
  ops::copy_(copy, source);
  return copy;
}

namespace {

template <class T>
using Getrf = void(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);

template <class T>
void factor(Matrices<T> a, int64_t i, int* pivots, int* info) {
  static const auto getrf = routine<T, Getrf<T>>("getrf");
  int lda = a.leading();
  *info = 0;
  if (a.size) getrf(&a.rows, &a.cols, a[i], &lda, pivots, info);
}

}  // namespace

void linalg_lu_factor_ex(const Tensor& A, bool, bool check_errors, const Tensor& LU, const Tensor& pivots,
                         const Tensor& info) {
  ops::copy_(LU, A);
  visit_field(A.dtype(), [&]<class T>() {
    Matrices<T> a(LU);
    int64_t k = std::min(a.rows, a.cols);
    each_matrix(batch_count(LU), a.rows, a.cols,
                [&](int64_t i) { factor(a, i, pivots.data<int>() + i * k, info.data<int>() + i); });
  });
  if (check_errors) check_info(info, "a pivot is zero");
}

void pivots_to_permutation(const Tensor& given, int64_t rows, const Tensor& out) {
  Tensor pivots = ops::contiguous(given);
  int64_t count = pivots.sizes().back(), batch = numel_of(pivots.sizes().first(pivots.dim() - 1));
  for (int64_t b = 0; b < batch; ++b) {
    int64_t* order = out.data<int64_t>() + b * rows;
    for (int64_t i = 0; i < rows; ++i) order[i] = i;
    for (int64_t i = 0; i < count; ++i) {
      int64_t other = int64_t{pivots.data<int>()[b * count + i]} - 1;
      TAEDA_CHECK(other >= 0 && other < rows, "a pivot must be from 1 to ", rows, "; got ", other + 1);
      std::swap(order[i], order[other]);
    }
  }
}

void linalg_solve_ex(const Tensor& A, const Tensor& B, bool left, bool check_errors, const Tensor& result,
                     const Tensor& info) {
  bool vectors = shape::is_vector_side(A, B);
  Tensor x = vectors ? ops::contiguous(ops::unsqueeze(result, -1)) : result;  // one column each
  ops::copy_(x, vectors ? ops::unsqueeze(B, -1) : B);
  Tensor factors = copy_by_columns(A);
  Tensor pivots = new_tensor(A.sizes().first(A.dim() - 1), DType::Int32);
  // Which factored matrix belongs to each right-hand side: the batches broadcast.
  shape::Dims batch(x.sizes().first(x.dim() - 2));
  Tensor numbers = ops::arange(Scalar(batch_count(A)), DType::Int64);
  Tensor index = ops::contiguous(ops::expand(ops::view(numbers, A.sizes().first(A.dim() - 2)), batch));
  visit_field(A.dtype(), [&]<class T>() {
    using Getrs = void(const char* trans, const int* n, const int* nrhs, const T* a, const int* lda, const int* pivots,
                       T* b, const int* ldb, int* info, Length);
    static const auto getrs = routine<T, Getrs>("getrs");
    Matrices<T> a(factors), b(x);
    int n = a.rows, lda = a.leading(), rhs = left ? b.cols : b.rows;
    each_matrix(batch_count(A), n, n,
                [&](int64_t i) { factor(a, i, pivots.data<int>() + i * n, info.data<int>() + i); });
    if (n == 0 || rhs == 0) return;
    each_matrix(index.numel(), n, n, [&](int64_t i) {
      int64_t at = index.data<int64_t>()[i];
      int status = 0;
      getrs(left ? "N" : "T", &n, &rhs, a[at], &lda, pivots.data<int>() + at * n, b[i], &lda, &status, kOne);
    });
  });
  if (x.data() != result.data()) ops::copy_(ops::unsqueeze(result, -1), x);
  if (check_errors) check_info(info, "A is singular: a pivot is zero");
}

void linalg_inv_ex(const Tensor& A, bool check_errors, const Tensor& inverse, const Tensor& info) {
  Tensor identity = ops::eye(A.sizes().back(), A.dtype());
  linalg_solve_ex(A, ops::expand(identity, A.sizes()), true, false, inverse, info);
  if (check_errors) check_info(info, "the matrix is singular: a pivot is zero");
}

void linalg_solve_triangular(const Tensor& self, const Tensor& B, bool upper, bool left, bool unitriangular,
                             const Tensor& out) {
  ops::copy_(out, B);
  if (out.numel() == 0) return;
  shape::Dims sizes(out.sizes().first(out.dim() - 2));
  sizes.push_back(self.size(-2));
  sizes.push_back(self.size(-1));
  Tensor coefficients = copy_by_columns(ops::expand(self, sizes));
  visit_field(self.dtype(), [&]<class T>() {
    using Trsm =
        void(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,
             const T* alpha, const T* a, const int* lda, T* b, const int* ldb, Length, Length, Length, Length);
    static const auto trsm = routine<T, Trsm>("trsm");
    Matrices<T> a(coefficients), b(out);
    int lda = a.leading(), ldb = b.leading();
    T one(1);
    each_matrix(batch_count(out), b.rows, b.cols, [&](int64_t i) {
      trsm(left ? "L" : "R", upper ? "U" : "L", "N", unitriangular ? "U" : "N", &b.rows, &b.cols, &one, a[i], &lda,
           b[i], &ldb, kOne, kOne, kOne, kOne);
    });
  });
}

void linalg_cholesky_ex(const Tensor& self, bool upper, bool check_errors, const Tensor& L, const Tensor& info) {
  ops::copy_(L, self);
  visit_field(self.dtype(), [&]<class T>() {
    using Potrf = void(const char* uplo, const int* n, T* a, const int* lda, int* info, Length);
    static const auto potrf = routine<T, Potrf>("potrf");
    Matrices<T> a(L);
    int n = a.rows, lda = a.leading();
    each_matrix(batch_count(L), n, n, [&](int64_t i) {
      int* status = info.data<int>() + i;
      *status = 0;
      if (n) potrf(upper ? "U" : "L", &n, a[i], &lda, status, kOne);
      for (int64_t c = 0; c < n; ++c) {
        T* column = a[i] + c * n;
        upper ? std::fill(column + c + 1, column + n, T(0)) : std::fill(column, column + c, T(0));
      }
    });
  });
  if (check_errors) check_info(info, "the matrix is not positive definite: a leading minor is not positive");
}

void linalg_qr(const Tensor& A, std::string_view mode, const Tensor& Q, const Tensor& R) {
  Tensor packed = copy_by_columns(A);
  visit_field(A.dtype(), [&]<class T>() {
    using Geqrf = void(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, int* info);
    using Orgqr = void(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,
                       const int* lwork, int* info);
    static const auto geqrf = routine<T, Geqrf>("geqrf");
    static const auto orgqr = routine<T, Orgqr>("orgqr", "ungqr");
    Matrices<T> a(packed), r(R);
    bool wants_q = mode != "r";
    int k = std::min(a.rows, a.cols), lda = a.leading(), columns = wants_q ? static_cast<int>(Q.size(-1)) : 0;
    each_matrix(batch_count(A), a.rows, a.cols, [&](int64_t i) {
      std::vector<T> tau(std::max(k, 1));
      int status = 0;
      if (k)
        with_work<T>(
            [&](T* work, int length) { geqrf(&a.rows, &a.cols, a[i], &lda, tau.data(), work, &length, &status); });
      for (int64_t c = 0; c < r.cols; ++c)
        for (int64_t j = 0; j < r.rows; ++j) r[i][c * r.rows + j] = j <= c ? a[i][c * a.rows + j] : T(0);
      if (columns == 0 || a.rows == 0) return;
      T* q = Q.data<T>() + i * a.rows * columns;
      std::copy_n(a[i], int64_t{a.rows} * std::min(columns, a.cols), q);
      with_work<T>(
          [&](T* work, int length) { orgqr(&a.rows, &columns, &k, q, &lda, tau.data(), work, &length, &status); });
    });
  });
}

namespace {

// gesdd with the real work space that only complex types take.
template <class T>
std::vector<Real<T>> real_work(int64_t length) {
  return std::vector<Real<T>>(kComplex<T> ? std::max<int64_t>(length, 1) : 0);
}

template <class T>
int call_gesdd(const char* job, int m, int n, T* a, Real<T>* s, T* u, int ldu, T* vt, int ldvt) {
  using Plain = void(const char*, const int*, const int*, T*, const int*, Real<T>*, T*, const int*, T*, const int*, T*,
                     const int*, int*, int*, Length);
  using WithReal = void(const char*, const int*, const int*, T*, const int*, Real<T>*, T*, const int*, T*, const int*,
                        T*, const int*, Real<T>*, int*, int*, Length);
  static void* const gesdd = reinterpret_cast<void*>(routine<T, Plain>("gesdd"));
  int64_t small = std::min(m, n), large = std::max(m, n);
  std::vector<int> integers(8 * small);
  auto reals = real_work<T>(std::max(5 * small * small + 7 * small, 2 * large * small + 2 * small * small + small));
  int status = 0;
  with_work<T>([&](T* work, int length) {
    if constexpr (kComplex<T>)
      reinterpret_cast<WithReal*>(gesdd)(job, &m, &n, a, &m, s, u, &ldu, vt, &ldvt, work, &length, reals.data(),
                                         integers.data(), &status, kOne);
    else
      reinterpret_cast<Plain*>(gesdd)(job, &m, &n, a, &m, s, u, &ldu, vt, &ldvt, work, &length, integers.data(),
                                      &status, kOne);
  });
  return status;
}

void set_identity(const Tensor& t) {
  if (t.numel()) ops::copy_(t, ops::eye(t.size(-2), t.size(-1), t.dtype()));
}

}  // namespace

void _linalg_svd(const Tensor& A, bool full_matrices, bool compute_uv, std::optional<std::string_view>, const Tensor& U,
                 const Tensor& S, const Tensor& Vh) {
  if (A.numel() == 0) {
    if (compute_uv) set_identity(U), set_identity(Vh);
    return;
  }
  Tensor destroyed = copy_by_columns(A);
  std::vector<int> status(batch_count(A));
  visit_field(A.dtype(), [&]<class T>() {
    Matrices<T> a(destroyed);
    int64_t k = std::min(a.rows, a.cols);
    each_matrix(batch_count(A), a.rows, a.cols, [&](int64_t i) {
      Real<T>* s = S.data<Real<T>>() + i * k;
      if (!compute_uv) {
        T unused{};
        status[i] = call_gesdd<T>("N", a.rows, a.cols, a[i], s, &unused, 1, &unused, 1);
        return;
      }
      Matrices<T> u(U), v(Vh);
      status[i] = call_gesdd<T>(full_matrices ? "A" : "S", a.rows, a.cols, a[i], s, u[i], u.rows, v[i], v.rows);
    });
  });
  for (size_t i = 0; i < status.size(); ++i)
    TAEDA_CHECK_KIND(LinAlg, status[i] == 0, "the singular values of matrix ", i,
                     " did not converge; does it hold NaN or infinity?");
}

void _linalg_eigh(const Tensor& A, std::string_view UPLO, bool compute_v, const Tensor& eigenvalues,
                  const Tensor& eigenvectors) {
  if (A.numel() == 0) return;
  Tensor work_matrix = compute_v ? eigenvectors : fresh_by_columns(A);
  ops::copy_(work_matrix, A);
  std::vector<int> status(batch_count(A));
  visit_field(A.dtype(), [&]<class T>() {
    using R = Real<T>;
    using Plain = void(const char*, const char*, const int*, T*, const int*, R*, T*, const int*, int*, const int*, int*,
                       Length, Length);
    using WithReal = void(const char*, const char*, const int*, T*, const int*, R*, T*, const int*, R*, const int*,
                          int*, const int*, int*, Length, Length);
    static void* const syevd = reinterpret_cast<void*>(routine<T, Plain>("syevd", "heevd"));
    Matrices<T> a(work_matrix);
    int n = a.rows;
    const char *job = compute_v ? "V" : "N", *half = UPLO == "L" || UPLO == "l" ? "L" : "U";
    int integer_length = 3 + 5 * n, real_length = 1 + 5 * n + 2 * n * n;
    each_matrix(batch_count(A), n, n, [&](int64_t i) {
      std::vector<int> integers(integer_length);
      auto reals = real_work<T>(real_length);
      R* w = eigenvalues.data<R>() + i * n;
      with_work<T>([&](T* work, int length) {
        if constexpr (kComplex<T>)
          reinterpret_cast<WithReal*>(syevd)(job, half, &n, a[i], &n, w, work, &length, reals.data(), &real_length,
                                             integers.data(), &integer_length, &status[i], kOne, kOne);
        else
          reinterpret_cast<Plain*>(syevd)(job, half, &n, a[i], &n, w, work, &length, integers.data(), &integer_length,
                                          &status[i], kOne, kOne);
      });
    });
  });
  for (size_t i = 0; i < status.size(); ++i)
    TAEDA_CHECK_KIND(LinAlg, status[i] == 0, "the eigenvalues of matrix ", i,
                     " did not converge; does it hold NaN or infinity?");
}

namespace {

// Real matrices have real eigenvalues and conjugate pairs; the vectors of a pair come as real and imaginary part.
template <class R>
int eig_real(int n, R* a, std::complex<R>* values, std::complex<R>* vectors) {
  using Geev = void(const char*, const char*, const int*, R*, const int*, R*, R*, R*, const int*, R*, const int*, R*,
                    const int*, int*, Length, Length);
  static const auto geev = routine<R, Geev>("geev");
  std::vector<R> re(n), im(n), parts(int64_t{n} * n);
  R unused{};
  int one = 1, status = 0;
  with_work<R>([&](R* work, int length) {
    geev("N", "V", &n, a, &n, re.data(), im.data(), &unused, &one, parts.data(), &n, work, &length, &status, kOne,
         kOne);
  });
  for (int64_t c = 0; c < n; ++c) {
    values[c] = {re[c], im[c]};
    int64_t first = im[c] < 0 ? c - 1 : c;
    R sign = im[c] < 0 ? R(-1) : R(1);
    for (int64_t i = 0; i < n; ++i)
      vectors[c * n + i] = {parts[first * n + i], im[c] != 0 ? sign * parts[(first + 1) * n + i] : R(0)};
  }
  return status;
}

template <class T>
int eig_complex(int n, T* a, T* values, T* vectors) {
  using Geev = void(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, T*, const int*, T*,
                    const int*, Real<T>*, int*, Length, Length);
  static const auto geev = routine<T, Geev>("geev");
  std::vector<Real<T>> reals(2 * n);
  T unused{};
  int one = 1, status = 0;
  with_work<T>([&](T* work, int length) {
    geev("N", "V", &n, a, &n, values, &unused, &one, vectors, &n, work, &length, reals.data(), &status, kOne, kOne);
  });
  return status;
}

}  // namespace

void linalg_eig(const Tensor& self, const Tensor& eigenvalues, const Tensor& eigenvectors) {
  if (self.numel() == 0) return;
  TAEDA_CHECK(*ops::all(ops::isfinite(self)).data<bool>(), "the matrices must hold no NaN and no infinity");
  Tensor destroyed = copy_by_columns(self);
  std::vector<int> status(batch_count(self));
  visit_field(self.dtype(), [&]<class T>() {
    using C = std::complex<Real<T>>;
    Matrices<T> a(destroyed);
    Matrices<C> v(eigenvectors);
    each_matrix(batch_count(self), a.rows, a.rows, [&](int64_t i) {
      C* values = eigenvalues.data<C>() + i * a.rows;
      if constexpr (kComplex<T>)
        status[i] = eig_complex(a.rows, a[i], values, v[i]);
      else
        status[i] = eig_real(a.rows, a[i], values, v[i]);
    });
  });
  for (size_t i = 0; i < status.size(); ++i)
    TAEDA_CHECK_KIND(LinAlg, status[i] == 0, "the eigenvalues of matrix ", i,
                     " did not converge; does it hold NaN or infinity?");
}

}  // namespace taeda::cpu
