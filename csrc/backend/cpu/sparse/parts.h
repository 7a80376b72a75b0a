// What kernels over the parts of sparse tensors share: reading indices that anybody may have written.
#pragma once
#include "taeda/core/parallel.h"
#include "taeda/core/tensor.h"

namespace taeda::cpu::sparse {

// Contiguous int64 elements of a vector, alive as long as this is.
class Indices {
 public:
  Indices(const Tensor& t, const char* name);  // RuntimeError unless it is a vector
  const int64_t* data() const { return data_; }
  int64_t size() const { return tensor_.numel(); }
  int64_t operator[](int64_t i) const { return data_[i]; }

 private:
  Tensor tensor_;
  const int64_t* data_;
};

// Where the rows of a matrix begin: rising from 0 to the number of its elements, or RuntimeError.
class Rows : public Indices {
 public:
  Rows(const Tensor& pointers, int64_t elements) : Indices(pointers, "pointers") {
    TAEDA_CHECK(size() > 0 && data()[0] == 0 && data()[size() - 1] == elements,
                "row pointers must begin with 0 and end with the number of elements, ", elements);
    bool falls = false;
    for (int64_t i = 1; i < size(); ++i) falls |= data()[i] < data()[i - 1];
    TAEDA_CHECK(!falls, "row pointers must not fall");
  }
  int64_t count() const { return size() - 1; }
};

// The largest, where negative ones count as larger than all others.
[[gnu::always_inline]] inline uint64_t largest_of(const int64_t* indices, int64_t count) {
  uint64_t largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, static_cast<uint64_t>(indices[i]));
  return largest;
}
// Whether all are in [0, n). Indices below 2^32 are compared by their halves, for which there are vectors'
// instructions.
[[gnu::always_inline]] inline bool all_below(const int64_t* indices, int64_t count, int64_t n) {
  using Word [[gnu::may_alias]] = uint32_t;
  constexpr int64_t kAtOnce = 8;
  if (n > int64_t{UINT32_MAX}) return count == 0 || largest_of(indices, count) < static_cast<uint64_t>(n);
  auto halves = reinterpret_cast<const Word*>(indices);
  uint32_t most[2 * kAtOnce] = {}, low = 0, high = 0;
  int64_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce)
    for (int64_t j = 0; j < 2 * kAtOnce; ++j) most[j] = std::max<uint32_t>(most[j], halves[2 * i + j]);
  for (int64_t j = 0; j < 2 * kAtOnce; j += 2) {
    low = std::max(low, most[j]);
    high |= most[j + 1];
  }
  for (; i < count; ++i) {
    low = std::max<uint32_t>(low, halves[2 * i]);
    high |= halves[2 * i + 1];
  }
  return count == 0 || (high == 0 && low < n);
}
// RuntimeError unless all are in [0, n).
inline void check_below(const Indices& indices, int64_t n, const char* name) {
  TAEDA_CHECK(n >= 0, "there cannot be ", n, " ", name);
  TAEDA_CHECK(all_below(indices.data(), indices.size(), n), name, " must be from 0 to ", n - 1, "; got ",
              static_cast<int64_t>(largest_of(indices.data(), indices.size())));
}

// Rows for one of several equal pieces, each of which is worth waking a thread, some 40 us of it; by size alone.
inline int64_t rows_per_piece(int64_t rows, int64_t operations) {
  const int64_t pieces = std::max<int64_t>(1, operations / (12 * kGrain));
  return std::max<int64_t>(1, (rows + pieces - 1) / pieces);
}

// The dtypes that products are computed in; others are converted by the caller.
template <class F>
decltype(auto) visit_products(DType dtype, F&& body) {
  switch (dtype) {
    case DType::Float32:
      return body.template operator()<float>();
    case DType::Float64:
      return body.template operator()<double>();
    case DType::Float16:
      return body.template operator()<Half>();
    case DType::BFloat16:
      return body.template operator()<BFloat16>();
    case DType::Int64:
      return body.template operator()<int64_t>();
    case DType::Complex64:
      return body.template operator()<complex64>();
    case DType::Complex128:
      return body.template operator()<complex128>();
    default:
      TAEDA_FAIL(NotImplemented, "products of sparse matrices are not for ", dtype, " tensors");
  }
}

// What elements are added up in.
template <class T>
struct AccumulatorOf {
  using type = T;
};
template <>
struct AccumulatorOf<Half> {
  using type = float;
};
template <>
struct AccumulatorOf<BFloat16> {
  using type = float;
};
template <class T>
using Accumulator = typename AccumulatorOf<T>::type;

// a * b without the special treatment of infinities that std::complex has.
template <class A>
A times(A a, A b) {
  if constexpr (std::is_same_v<A, complex64> || std::is_same_v<A, complex128>)
    return A(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  else if constexpr (std::is_same_v<A, int64_t>)
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}
template <class A>
A plus(A a, A b) {
  if constexpr (std::is_same_v<A, int64_t>)
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

}  // namespace taeda::cpu::sparse
