// Sorting along a dimension, and what needs only part of the order.
#include <utility>

#include "api/ops.h"
#include "backend/cpu/order.h"
#include "backend/cpu/sort_keys.h"
#include "backend/cpu/walk.h"
#include "shape/ops/sort.h"

namespace taeda::cpu {

namespace {

// A row of the input along the dimension, and of the two results.
struct Row {
  const char* from;
  int64_t from_step, n;
  char* values;
  int64_t values_step;
  char* indices;
  int64_t indices_step;

  template <class T>
  T at(int64_t i) const {
    T value;
    std::memcpy(&value, from + i * from_step, sizeof(T));
    return value;
  }
  template <class T>
  void give(int64_t place, int64_t i) const {
    std::memcpy(values + place * values_step, from + i * from_step, sizeof(T));
    std::memcpy(indices + place * indices_step, &i, sizeof(i));
  }
};

int64_t stride_of(const Tensor& t, int64_t dim) { return (t.dim() ? t.strides()[dim] : 1) * t.itemsize(); }

// make()(row) for every row of `self` along `dim`; results that lack the dimension are given their one element.
template <class F>
void each_row(const Tensor& self, int64_t dim, bool keeps, const Tensor& values, const Tensor& indices, const F& make) {
  int64_t n = self.dim() ? self.sizes()[dim] : 1;
  Walk<3> walk;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d == dim) continue;
    int64_t r = keeps || d < dim ? d : d - 1;
    walk.add(self.sizes()[d], {stride_of(self, d), stride_of(values, r), stride_of(indices, r)});
  }
  walk.prepare();
  if (walk.count() == 0) return;
  auto steps = walk.steps();
  int64_t values_step = keeps ? stride_of(values, dim) : 0, indices_step = keeps ? stride_of(indices, dim) : 0;
  int64_t from_step = stride_of(self, dim);
  walk.run({self.data<char>(), values.data<char>(), indices.data<char>()},
           std::max<int64_t>(1, kGrain / 8 / std::max<int64_t>(n, 1)), [&](const auto& at, int64_t rows) {
             auto body = make();  // with scratch of its own
             for (int64_t i = 0; i < rows; ++i)
               body(Row{at[0] + i * steps[0], from_step, n, at[1] + i * steps[1], values_step, at[2] + i * steps[2],
                        indices_step});
           });
}

// Rows are few kinds of entries: by key width, and by whether a 32-bit index reaches.
template <class T, class F>
void with_entry(int64_t n, const F& body) {
  if (n <= int64_t{UINT32_MAX})
    body.template operator()<Entry<KeyOf<T>, uint32_t>>();
  else
    body.template operator()<Entry<KeyOf<T>, uint64_t>>();
}

template <class E, class T>
void load_entries(const Row& row, bool descending, std::vector<E>& entries) {
  entries.resize(row.n);
  for (int64_t i = 0; i < row.n; ++i) {
    auto key = key_of(row.at<T>(i));
    entries[i].key = static_cast<decltype(key)>(descending ? ~key : key);
    entries[i].index = static_cast<decltype(entries[i].index)>(i);
  }
}

int64_t row_length(const Tensor& self, int64_t dim) { return self.dim() ? self.sizes()[dim] : 1; }

}  // namespace

void sort(const Tensor& self, std::optional<bool>, int64_t dim, bool descending, const Tensor& values,
          const Tensor& indices) {
  dim = wrap_dim(dim, self.dim());
  if (self.numel() == 0) return;
  visit_ordered(self.dtype(), [&]<class T>() {
    with_entry<T>(row_length(self, dim), [&]<class E>() {
      each_row(self, dim, true, values, indices, [&] {
        return [&, entries = std::vector<E>(), scratch = std::vector<E>()](const Row& row) mutable {
          load_entries<E, T>(row, descending, entries);
          sort_entries(entries, scratch);
          for (int64_t i = 0; i < row.n; ++i) row.give<T>(i, entries[i].index);
        };
      });
    });
  });
}

void topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool, const Tensor& values, const Tensor& indices) {
  dim = wrap_dim(dim, self.dim());
  if (self.numel() == 0 || k == 0) return;
  visit_ordered(self.dtype(), [&]<class T>() {
    with_entry<T>(row_length(self, dim), [&]<class E>() {
      each_row(self, dim, true, values, indices, [&] {
        return [&, kept = std::vector<E>()](const Row& row) mutable {
          int64_t i = 0;
          smallest(kept, static_cast<size_t>(k), [&](E& entry) {
            if (i == row.n) return false;
            auto key = key_of(row.at<T>(i));
            entry = {static_cast<decltype(key)>(largest ? ~key : key), static_cast<decltype(entry.index)>(i++)};
            return true;
          });
          for (int64_t j = 0; j < k; ++j) row.give<T>(j, kept[j].index);
        };
      });
    });
  });
}

namespace {

// choose(length, number of NaNs) tells which element in rising order is wanted; negative: the first NaN.
template <class Choose>
void select_one(const Tensor& self, int64_t dim, bool keepdim, const Tensor& values, const Tensor& indices,
                const Choose& choose) {
  dim = wrap_dim(dim, self.dim());
  if (values.numel() == 0) return;
  visit_ordered(self.dtype(), [&]<class T>() {
    with_entry<T>(row_length(self, dim), [&]<class E>() {
      each_row(self, dim, keepdim || self.dim() == 0, values, indices, [&] {
        return [&, entries = std::vector<E>()](const Row& row) mutable {
          load_entries<E, T>(row, false, entries);
          int64_t first_nan = -1, nans = 0;
          if constexpr (std::is_floating_point_v<T> || is_half<T>)
            for (int64_t i = 0; i < row.n; ++i)
              if (is_nan(row.at<T>(i)) && nans++ == 0) first_nan = i;
          int64_t wanted = choose(row.n, nans);
          if (wanted < 0) return row.give<T>(0, std::max<int64_t>(first_nan, 0));
          std::nth_element(entries.begin(), entries.begin() + wanted, entries.end());
          row.give<T>(0, entries[wanted].index);
        };
      });
    });
  });
}

void check_not_bool(const Tensor& self) {
  if (self.dtype() == DType::Bool || is_complex(self.dtype()))
    TAEDA_FAIL(NotImplemented, "is for real numbers; got ", self.dtype());
}

}  // namespace

void kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim, const Tensor& values, const Tensor& indices) {
  check_not_bool(self);
  select_one(self, dim, keepdim, values, indices, [&](int64_t, int64_t) { return k - 1; });
}

void median(const Tensor& self, int64_t dim, bool keepdim, const Tensor& values, const Tensor& indices) {
  check_not_bool(self);
  select_one(self, dim, keepdim, values, indices, [](int64_t n, int64_t nans) { return nans ? -1 : (n - 1) / 2; });
}

void nanmedian(const Tensor& self, int64_t dim, bool keepdim, const Tensor& values, const Tensor& indices) {
  check_not_bool(self);
  select_one(self, dim, keepdim, values, indices,
             [](int64_t n, int64_t nans) { return nans == n ? -1 : (n - nans - 1) / 2; });
}

void mode(const Tensor& self, int64_t dim, bool keepdim, const Tensor& values, const Tensor& indices) {
  dim = wrap_dim(dim, self.dim());
  if (values.numel() == 0) return;
  visit_ordered(self.dtype(), [&]<class T>() {
    with_entry<T>(row_length(self, dim), [&]<class E>() {
      each_row(self, dim, keepdim || self.dim() == 0, values, indices, [&] {
        return [&, entries = std::vector<E>(), scratch = std::vector<E>()](const Row& row) mutable {
          load_entries<E, T>(row, false, entries);
          sort_entries(entries, scratch);
          int64_t best = 0, length = 0;
          for (int64_t begin = 0, end; begin < row.n; begin = end) {
            for (end = begin + 1; end < row.n && entries[end].key == entries[begin].key;) ++end;
            if (end - begin > length) best = end - 1, length = end - begin;
          }
          row.give<T>(0, entries[best].index);
        };
      });
    });
  });
}

}  // namespace taeda::cpu
