// The rows along a dimension whose order is asked for, as sortable entries of key and index.
#pragma once
#include <utility>
#include <vector>

#include "backend/cpu/engine/tensor_iterator.h"
#include "backend/cpu/sort/order.h"
#include "backend/cpu/sort/sort_keys.h"
#include "core/load.h"

namespace taeda::cpu {

// A row of the input along the dimension, and of the two results.
struct Row {
  const char* from;
  int64_t from_step, n;
  char* values;
  int64_t values_step;
  char* indices;
  int64_t indices_step;
  bool is_bool;

  template <class T>
  T at(int64_t i) const {
    return load<T>(from + i * from_step);
  }
  // Bits is as wide as the elements; any byte but 0 is True.
  template <class Bits>
  void give(int64_t place, int64_t i) const {
    Bits value = at<Bits>(i);
    if (is_bool) value = value != 0;
    std::memcpy(values + place * values_step, &value, sizeof(Bits));
    std::memcpy(indices + place * indices_step, &i, sizeof(i));
  }
};

// make()(row) for every row of `self` along `dim`; results that lack the dimension are given their one element.
template <class F>
void each_row(const Tensor& self, int64_t dim, bool keeps, const Tensor& values, const Tensor& indices, const F& make) {
  int64_t n = self.dim() ? self.sizes()[dim] : 1;
  TensorIterator<3> iterator;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d == dim) continue;
    int64_t r = keeps || d < dim ? d : d - 1;
    iterator.add(self.sizes()[d], {stride_of(self, d), stride_of(values, r), stride_of(indices, r)});
  }
  iterator.prepare();
  if (iterator.count() == 0) return;
  auto steps = iterator.steps();
  int64_t values_step = keeps ? stride_of(values, dim) : 0, indices_step = keeps ? stride_of(indices, dim) : 0;
  int64_t from_step = stride_of(self, dim);
  bool is_bool = self.dtype() == DType::Bool;
  iterator.run({self.data<char>(), values.data<char>(), indices.data<char>()},
               std::max<int64_t>(1, kGrain / 8 / std::max<int64_t>(n, 1)), [&](const auto& at, int64_t rows) {
                 auto body = make();  // with scratch of its own
                 for (int64_t i = 0; i < rows; ++i)
                   body(Row{at[0] + i * steps[0], from_step, n, at[1] + i * steps[1], values_step, at[2] + i * steps[2],
                            indices_step, is_bool});
               });
}

template <class E, class T>
void load_entries(const Row& row, bool descending, std::vector<E>& entries) {
  entries.resize(row.n);
  const auto flip = static_cast<KeyOf<T>>(descending ? -1 : 0);
  E* to = entries.data();
  const int64_t n = row.n;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    to[i].key = static_cast<KeyOf<T>>(key_of(row.at<T>(i)) ^ flip);
    to[i].index = static_cast<decltype(to[i].index)>(i);
  }
}
template <class E>
using LoadEntries = void (*)(const Row& row, bool descending, std::vector<E>& entries);

inline int64_t row_length(const Tensor& self, int64_t dim) { return self.dim() ? self.sizes()[dim] : 1; }

// body.operator()<E>(load): of many dtypes there are few kinds of entries, by key width and by whether a 32-bit index
// reaches, and only `load` knows the dtype.
template <class F>
void visit_entries(DType dtype, int64_t n, const F& body) {
  bool is_long = n > int64_t{UINT32_MAX};
  visit_ordered(dtype, [&]<class T>() {
    auto call = [&]<class E>() { body.template operator()<E>(static_cast<LoadEntries<E>>(&load_entries<E, T>)); };
    if (is_long)
      call.template operator()<Entry<KeyOf<T>, uint64_t>>();
    else
      call.template operator()<Entry<KeyOf<T>, uint32_t>>();
  });
}

}  // namespace taeda::cpu
