// Least squares by LAPACK, for matrices of any rank. In column-major order the right sides turn into the solutions
// where they are.
#include "backend/cpu/libraries/lapack.h"
#include "backend/cpu/ops/decompositions.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/view.h"

namespace taeda::cpu {

namespace {

// One problem: a becomes factors, b the solutions.
template <class T>
struct Problem {
  int rows, cols, sides, b_rows;
  T *a, *b;
  Real<T> tolerance;
};

// By singular values, which go to `values`; gives the rank.
template <class T>
int by_values(Problem<T> p, Real<T>* values, int& status) {
  using R = Real<T>;
  using Plain = void(const int*, const int*, const int*, T*, const int*, T*, const int*, R*, const R*, int*, T*,
                     const int*, int*, int*);
  using WithReal = void(const int*, const int*, const int*, T*, const int*, T*, const int*, R*, const R*, int*, T*,
                        const int*, R*, int*, int*);
  static void* const gelsd = reinterpret_cast<void*>(routine<T, Plain>("gelsd"));
  int rank = 0;
  std::vector<R> reals(1);  // grow as asked
  std::vector<int> integers(1);
  with_work<T>([&](T* work, int length) {
    if constexpr (kComplex<T>)
      reinterpret_cast<WithReal*>(gelsd)(&p.rows, &p.cols, &p.sides, p.a, &p.rows, p.b, &p.b_rows, values, &p.tolerance,
                                         &rank, work, &length, reals.data(), integers.data(), &status);
    else
      reinterpret_cast<Plain*>(gelsd)(&p.rows, &p.cols, &p.sides, p.a, &p.rows, p.b, &p.b_rows, values, &p.tolerance,
                                      &rank, work, &length, integers.data(), &status);
    if (length != -1) return;
    reals.resize(std::max<int64_t>(static_cast<int64_t>(reals[0]), 1));
    integers.resize(std::max(integers[0], 1));
  });
  return rank;
}

// By an orthogonal factorization with exchanged columns; gives the rank.
template <class T>
int by_pivots(Problem<T> p, int& status) {
  using R = Real<T>;
  using Plain = void(const int*, const int*, const int*, T*, const int*, T*, const int*, int*, const R*, int*, T*,
                     const int*, int*);
  using WithReal = void(const int*, const int*, const int*, T*, const int*, T*, const int*, int*, const R*, int*, T*,
                        const int*, R*, int*);
  static void* const gelsy = reinterpret_cast<void*>(routine<T, Plain>("gelsy"));
  int rank = 0;
  std::vector<R> reals(kComplex<T> ? 2 * p.cols : 0);
  std::vector<int> places(p.cols);  // zeros: any column may go anywhere
  with_work<T>([&](T* work, int length) {
    if constexpr (kComplex<T>)
      reinterpret_cast<WithReal*>(gelsy)(&p.rows, &p.cols, &p.sides, p.a, &p.rows, p.b, &p.b_rows, places.data(),
                                         &p.tolerance, &rank, work, &length, reals.data(), &status);
    else
      reinterpret_cast<Plain*>(gelsy)(&p.rows, &p.cols, &p.sides, p.a, &p.rows, p.b, &p.b_rows, places.data(),
                                      &p.tolerance, &rank, work, &length, &status);
  });
  return rank;
}

}  // namespace

void _lstsq(const Tensor& A, const Tensor& B, double rcond, bool values, const Tensor& solution, const Tensor& rank,
            const Tensor& singular_values) {
  ops::zero_(solution);
  ops::zero_(rank);
  const int64_t rows = A.size(-2);
  shape::Dims batch(solution.sizes().first(solution.dim() - 2)), sizes_b(batch);
  sizes_b.push_back(rows), sizes_b.push_back(B.size(-1));
  ops::copy_(ops::slice(solution, -2, 0, rows), ops::expand(B, sizes_b));
  if (A.numel() == 0 || B.numel() == 0) return;
  batch.push_back(rows), batch.push_back(A.size(-1));
  const Tensor factors = copy_by_columns(ops::expand(A, batch));
  std::vector<int> status(batch_count(factors));
  visit_field(A.dtype(), [&]<class T>() {
    Matrices<T> a(factors), b(solution);
    each_matrix(batch_count(factors), a.rows, a.cols, [&](int64_t i) {
      const Problem<T> problem{a.rows, a.cols, b.cols, b.rows, a[i], b[i], static_cast<Real<T>>(rcond)};
      Real<T>* found = values ? singular_values.data<Real<T>>() + i * std::min(a.rows, a.cols) : nullptr;
      rank.data<int64_t>()[i] = values ? by_values(problem, found, status[i]) : by_pivots(problem, status[i]);
    });
  });
  for (size_t i = 0; i < status.size(); ++i)
    TAEDA_CHECK_KIND(LinAlg, status[i] == 0, "the singular values of matrix ", i,
                     " did not converge; does it hold NaN or infinity?");
}

}  // namespace taeda::cpu
