// Single elements of a row by their place in its order.
#include "backend/cpu/ops/sort.h"
#include "backend/cpu/sort/sort_rows.h"

namespace taeda::cpu {

namespace {

// Which element in rising order is wanted of a row, by its length and number of NaNs; negative: the first NaN.
using Choose = int64_t (*)(int64_t length, int64_t nans, int64_t k);

void select_one(const Tensor& self, int64_t dim, bool keepdim, const Tensor& values, const Tensor& indices,
                Choose choose, int64_t k = 0) {
  dim = wrap_dim(dim, self.dim());
  if (values.numel() == 0) return;
  bool has_nans = is_floating(self.dtype());
  visit_entries(self.dtype(), row_length(self, dim), [&]<class E>(LoadEntries<E> load) {
    each_row(self, dim, keepdim || self.dim() == 0, values, indices, [&] {
      return [&, load, entries = std::vector<E>()](const Row& row) mutable {
        using Key = decltype(E::key);
        load(row, false, entries);
        int64_t first_nan = -1, nans = 0;
        if (has_nans)
          for (int64_t i = 0; i < row.n; ++i)
            if (entries[i].key == std::numeric_limits<Key>::max() && nans++ == 0) first_nan = i;
        int64_t wanted = choose(row.n, nans, k);
        if (wanted < 0) return row.give<Key>(0, std::max<int64_t>(first_nan, 0));
        std::nth_element(entries.begin(), entries.begin() + wanted, entries.end());
        row.give<Key>(0, entries[wanted].index);
      };
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
  select_one(self, dim, keepdim, values, indices, [](int64_t, int64_t, int64_t k) { return k - 1; }, k);
}

void median(const Tensor& self, int64_t dim, bool keepdim, const Tensor& values, const Tensor& indices) {
  check_not_bool(self);
  select_one(self, dim, keepdim, values, indices,
             [](int64_t n, int64_t nans, int64_t) { return nans ? -1 : (n - 1) / 2; });
}

void nanmedian(const Tensor& self, int64_t dim, bool keepdim, const Tensor& values, const Tensor& indices) {
  check_not_bool(self);
  select_one(self, dim, keepdim, values, indices,
             [](int64_t n, int64_t nans, int64_t) { return nans == n ? -1 : (n - nans - 1) / 2; });
}

void mode(const Tensor& self, int64_t dim, bool keepdim, const Tensor& values, const Tensor& indices) {
  dim = wrap_dim(dim, self.dim());
  if (values.numel() == 0) return;
  visit_entries(self.dtype(), row_length(self, dim), [&]<class E>(LoadEntries<E> load) {
    each_row(self, dim, keepdim || self.dim() == 0, values, indices, [&] {
      return [&, load, entries = std::vector<E>(), scratch = std::vector<E>()](const Row& row) mutable {
        load(row, false, entries);
        sort_by_key(entries, scratch);
        int64_t best = 0, length = 0;
        for (int64_t begin = 0, end; begin < row.n; begin = end) {
          for (end = begin + 1; end < row.n && entries[end].key == entries[begin].key;) ++end;
          if (end - begin > length) best = end - 1, length = end - begin;
        }
        row.give<decltype(E::key)>(0, entries[best].index);
      };
    });
  });
}

}  // namespace taeda::cpu
