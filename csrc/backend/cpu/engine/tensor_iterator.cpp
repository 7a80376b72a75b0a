#include "backend/cpu/engine/tensor_iterator.h"

#include <cstdlib>

#include "core/insertion_sort.h"

namespace taeda::cpu {

template <int N>
void TensorIterator<N>::prepare() {
  insertion_sort(dims_.begin(), dims_.begin() + rank_, [](const Dim& a, const Dim& b) {
    for (int i = 0; i < N; ++i)
      if (a.steps[i] != b.steps[i]) return std::abs(a.steps[i]) < std::abs(b.steps[i]);
    return false;
  });
  auto continues = [](const Dim& inner, const Dim& outer) {
    for (int i = 0; i < N; ++i)
      if (outer.steps[i] != inner.steps[i] * inner.size) return false;
    return true;
  };
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

template <int N>
void TensorIterator<N>::run_rows(const Pointers& data, int64_t grain, Row row, const void* body) const {
  parallel_for(0, count_, grain, [&](int64_t begin, int64_t end) { run_range(data, begin, end, row, body); });
}

template <int N>
void TensorIterator<N>::run_range(Pointers at, int64_t begin, int64_t end, Row row, const void* body) const {
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

template <int N>
void TensorIterator<N>::advance(std::array<int64_t, kMaxDim>& index, Pointers& at) const {
  for (int d = 1; d < rank_; ++d) {
    const Dim& dim = dims_[d];
    for (int i = 0; i < N; ++i) at[i] += dim.steps[i];
    if (++index[d] < dim.size) return;
    for (int i = 0; i < N; ++i) at[i] -= dim.steps[i] * dim.size;
    index[d] = 0;
  }
}

template class TensorIterator<2>;
template class TensorIterator<3>;

}  // namespace taeda::cpu
