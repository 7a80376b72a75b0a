// Several operands walked together, row by row, whatever their strides.
#pragma once
#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/parallel.h"
#include "core/tensor.h"

namespace taeda::cpu {

// In bytes; a number is a row of one.
inline int64_t stride_of(const Tensor& t, int64_t dim) { return (t.dim() ? t.strides()[dim] : 1) * t.itemsize(); }

template <int N>
class Walk {
 public:
  using Steps = std::array<int64_t, N>;
  using Pointers = std::array<char*, N>;

  // One more dimension; strides in bytes. Its place among the others does not matter.
  void add(int64_t size, const Steps& strides) {
    count_ *= size;
    if (size != 1) dims_[rank_++] = {size, strides};
  }

  // Puts the dimension with the smallest strides of the first operand innermost and joins what steps as one.
  void prepare() {
    std::stable_sort(dims_.begin(), dims_.begin() + rank_, [](const Dim& a, const Dim& b) {
      for (int i = 0; i < N; ++i)
        if (a.steps[i] != b.steps[i]) return std::abs(a.steps[i]) < std::abs(b.steps[i]);
      return false;
    });
    int joined = 0;
    for (int d = 0; d < rank_; ++d) {
      if (joined && continues(dims_[joined - 1], dims_[d]))
        dims_[joined - 1].size *= dims_[d].size;
      else
        dims_[joined++] = dims_[d];
    }
    rank_ = joined;
    if (rank_ == 0) dims_[rank_++] = {1, {}};
  }

  int64_t count() const { return count_; }
  int64_t row_size() const { return dims_[0].size; }
  const Steps& steps() const { return dims_[0].steps; }

  // row(pointers, n) for every stretch of the innermost dimension, in pieces of `grain` elements.
  template <class F>
  void run(const Pointers& data, int64_t grain, const F& row) const {
    run_rows(
        data, grain, [](const void* body, const Pointers& at, int64_t n) { (*static_cast<const F*>(body))(at, n); },
        &row);
  }

 private:
  struct Dim {
    int64_t size;
    Steps steps;
  };

  static bool continues(const Dim& inner, const Dim& outer) {
    for (int i = 0; i < N; ++i)
      if (outer.steps[i] != inner.steps[i] * inner.size) return false;
    return true;
  }

  // Not a template of the body, so that it is compiled once for all of them.
  using Row = void (*)(const void* body, const Pointers& at, int64_t n);
  void run_rows(const Pointers& data, int64_t grain, Row row, const void* body) const {
    parallel_for(0, count_, grain, [&](int64_t begin, int64_t end) { run_range(data, begin, end, row, body); });
  }

  void run_range(Pointers at, int64_t begin, int64_t end, Row row, const void* body) const {
    std::array<int64_t, kMaxDim> index;
    int64_t outer = begin / dims_[0].size, skip = begin % dims_[0].size;
    for (int d = 1; d < rank_; ++d) {
      index[d] = outer % dims_[d].size;
      outer /= dims_[d].size;
      for (int i = 0; i < N; ++i) at[i] += index[d] * dims_[d].steps[i];
    }
    for (int64_t left = end - begin; left > 0; skip = 0) {
      int64_t n = std::min(left, dims_[0].size - skip);
      Pointers start = at;
      for (int i = 0; i < N; ++i) start[i] += skip * dims_[0].steps[i];
      row(body, start, n);
      left -= n;
      advance(index, at);
    }
  }

  void advance(std::array<int64_t, kMaxDim>& index, Pointers& at) const {
    for (int d = 1; d < rank_; ++d) {
      const Dim& dim = dims_[d];
      for (int i = 0; i < N; ++i) at[i] += dim.steps[i];
      if (++index[d] < dim.size) return;
      for (int i = 0; i < N; ++i) at[i] -= dim.steps[i] * dim.size;
      index[d] = 0;
    }
  }

  int rank_ = 0;
  int64_t count_ = 1;
  std::array<Dim, kMaxDim + 1> dims_;
};

inline bool share_storage(const Tensor& a, const Tensor& b) {
  return a->storage() && a->storage().get() == b->storage().get();
}

// Calls body.operator()<T>() with an unsigned integer type (or a pair of them) of the given size in bytes.
template <class F>
decltype(auto) by_size(int64_t bytes, F&& body) {
  struct Wide {
    uint64_t low, high;
  };
  switch (bytes) {
    case 1:
      return body.template operator()<uint8_t>();
    case 2:
      return body.template operator()<uint16_t>();
    case 4:
      return body.template operator()<uint32_t>();
    case 8:
      return body.template operator()<uint64_t>();
    default:
      return body.template operator()<Wide>();
  }
}

}  // namespace taeda::cpu
