// What the kernels of normalisation share.
#pragma once
#include <cmath>
#include <vector>

#include "backend/cpu/engine/row_kernels.h"
#include "taeda/core/parallel.h"

namespace taeda::cpu {

// A small parameter as numbers of T, `fallback` where there is none.
template <class T>
std::vector<T> parameter(const Tensor& t, int64_t n, T fallback) {
  std::vector<T> values(n, fallback);
  if (t.defined())
    converter(t.dtype(), dtype_of<T>)(reinterpret_cast<char*>(values.data()), sizeof(T), t.data<char>(),
                                      t.dim() ? t.strides()[0] * t.itemsize() : 0, n);
  return values;
}

template <class T>
void write_parameter(const std::vector<T>& values, const Tensor& out) {
  converter(dtype_of<T>, out.dtype())(out.data<char>(), out.itemsize(), reinterpret_cast<const char*>(values.data()),
                                      sizeof(T), out.numel());
}

// Sums over `count` items, for each of `width` places: add(begin, end, sums) adds a piece's items. Pieces depend on the
// sizes alone and are added up in order, so that the result does not depend on the number of threads.
template <class T, class F>
std::vector<T> sum_pieces(int64_t count, int64_t width, int64_t cost, const F& add) {
  constexpr int64_t kMost = 32;
  int64_t grain = std::max((count + kMost - 1) / kMost, std::max<int64_t>(1, kGrain / std::max<int64_t>(cost, 1)));
  int64_t pieces = std::max<int64_t>(1, (count + grain - 1) / grain);
  std::vector<T> sums(pieces * width, T(0));
  parallel_for(0, count, grain,
               [&](int64_t begin, int64_t end) { add(begin, end, sums.data() + begin / grain * width); });
  for (int64_t piece = 1; piece < pieces; ++piece)
    row_kernels<T>().accumulate(sums.data() + piece * width, sums.data(), width);
  sums.resize(width);
  return sums;
}

}  // namespace taeda::cpu
