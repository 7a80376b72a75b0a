// Calling LAPACK over a batch. Results lie by columns, so that it works in them directly, one matrix after another, in
// pieces that do not depend on the number of threads.
#pragma once
#include "backend/cpu/libraries/bundled_libraries.h"
#include "shape/spec.h"
#include "taeda/core/parallel.h"

namespace taeda::cpu {

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
constexpr bool kComplex = !std::is_same_v<T, Real<T>>;

// Strings pass their lengths behind the last argument.
using Length = size_t;
constexpr Length kOne = 1;

// routine<T, F>("getrf") is the routine for T as a function of type F. Complex types have names of their own where the
// real one says orthogonal or symmetric.
template <class T, class F>
F* routine(const char* name, const char* complex_name = nullptr) {
  char letter = std::is_same_v<T, float>       ? 's'
                : std::is_same_v<T, double>    ? 'd'
                : std::is_same_v<T, complex64> ? 'c'
                                               : 'z';
  std::string full = str(std::string_view(&letter, 1), kComplex<T> && complex_name ? complex_name : name);
  return reinterpret_cast<F*>(lapack_routine(full.c_str()));
}

template <class F>
void visit_field(DType dtype, F&& body) {
  switch (dtype) {
    case DType::Float32:
      return body.template operator()<float>();
    case DType::Float64:
      return body.template operator()<double>();
    case DType::Complex64:
      return body.template operator()<complex64>();
    default:
      return body.template operator()<complex128>();
  }
}

// The matrices of a batch that lies by columns (or by rows, which is the transpose by columns).
template <class T>
struct Matrices {
  T* data;
  int64_t size;
  int rows, cols;
  explicit Matrices(const Tensor& t)
      : data(t.data<T>()),
        size(t.size(-1) * t.size(-2)),
        rows(static_cast<int>(t.size(-2))),
        cols(static_cast<int>(t.size(-1))) {
    TAEDA_CHECK(std::max(t.size(-1), t.size(-2)) <= INT32_MAX, "matrices of shape ", t.sizes(),
                " are too large for LAPACK");
  }
  T* operator[](int64_t i) const { return data + i * size; }
  int leading() const { return std::max(rows, 1); }
};

inline Tensor fresh_by_columns(const Tensor& like) {
  shape::Dims swapped(like.sizes());
  size_t d = swapped.size();
  std::swap(swapped[d - 1], swapped[d - 2]);
  shape::Dims strides(contiguous_strides(swapped));
  std::swap(strides[d - 1], strides[d - 2]);
  return new_tensor_strided(like.sizes(), strides, like.dtype());
}

Tensor copy_by_columns(const Tensor& source);

inline int64_t batch_count(const Tensor& t) { return numel_of(t.sizes().first(t.dim() - 2)); }

template <class F>
void each_matrix(int64_t count, int64_t rows, int64_t cols, const F& fn) {
  int64_t work = std::max<int64_t>(rows * cols * std::min(rows, cols), 1);
  parallel_for(0, count, std::max<int64_t>(kGrain / work, 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) fn(i);
  });
}

// Runs call(work, length) with as much work space as it asks for when the length is -1.
template <class T, class F>
void with_work(const F& call) {
  T wanted{};
  call(&wanted, -1);
  int length = std::max(1, static_cast<int>(std::real(wanted)));
  std::vector<T> work(length);
  call(work.data(), length);
}

inline void check_info(const Tensor& info, std::string_view what) {
  for (int64_t i = 0; i < info.numel(); ++i)
    if (int value = info.data<int32_t>()[i])
      TAEDA_FAIL(LinAlg, what, " (matrix ", i, " of the batch, position ", static_cast<int64_t>(value), ")");
}

}  // namespace taeda::cpu
