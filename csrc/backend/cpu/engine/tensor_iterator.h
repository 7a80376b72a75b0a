// Several operands walked together, row by row, whatever their strides.
#pragma once
#include <array>

#include "taeda/core/parallel.h"
#include "taeda/core/tensor.h"

namespace taeda::cpu {

// In bytes; a number is a row of one.
inline int64_t stride_of(const Tensor& t, int64_t dim) { return (t.dim() ? t.strides()[dim] : 1) * t.itemsize(); }

template <int N>
class TensorIterator {
 public:
  using Steps = std::array<int64_t, N>;
  using Pointers = std::array<char*, N>;

  // One more dimension; strides in bytes. Its place among the others does not matter.
  void add(int64_t size, const Steps& strides) {
    count_ *= size;
    if (size != 1) dims_[rank_++] = {size, strides};
  }

  // Puts the dimension with the smallest strides of the first operand innermost and joins what steps as one.
  void prepare();

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

  // Not templates of the body, so that they are compiled once for all of them.
  using Row = void (*)(const void* body, const Pointers& at, int64_t n);
  void run_rows(const Pointers& data, int64_t grain, Row row, const void* body) const;
  void run_range(Pointers at, int64_t begin, int64_t end, Row row, const void* body) const;
  void advance(std::array<int64_t, kMaxDim>& index, Pointers& at) const;

  int rank_ = 0;
  int64_t count_ = 1;
  std::array<Dim, kMaxDim + 1> dims_;
};

extern template class TensorIterator<2>;
extern template class TensorIterator<3>;

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
