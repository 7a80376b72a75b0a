// Distinct elements and slices.
#include <numeric>

#include "api/copy.h"
#include "api/index.h"
#include "api/reshape.h"
#include "api/view.h"
#include "backend/cpu/moves.h"
#include "backend/cpu/order.h"
#include "backend/cpu/sort_keys.h"
#include "backend/cpu/walk.h"
#include "core/load.h"
#include "shape/ops/search.h"

namespace taeda::cpu {

namespace {

using Results = std::tuple<Tensor, Tensor, Tensor>;

Tensor empty_indices() {
  const int64_t none[] = {0};
  return new_tensor(none, DType::Int64);
}

// Runs of equal items, walked in order: gathers where each begins, how long it is and what belongs to it.
struct Runs {
  std::vector<int64_t> firsts, counts;
  Tensor inverse;

  Runs(IntList inverse_sizes, bool with_inverse) {
    inverse = with_inverse ? new_tensor(inverse_sizes, DType::Int64) : empty_indices();
  }

  // `item` is at place `place` of the order; `starts` tells whether it differs from the one before.
  void take(int64_t item, bool starts) {
    if (starts) {
      firsts.push_back(item);
      counts.push_back(0);
    }
    ++counts.back();
    if (inverse.numel()) inverse.data<int64_t>()[item] = static_cast<int64_t>(firsts.size()) - 1;
  }
  Tensor counts_tensor(bool wanted) const {
    if (!wanted) return empty_indices();
    const int64_t size[] = {static_cast<int64_t>(counts.size())};
    Tensor result = new_tensor(size, DType::Int64);
    std::copy(counts.begin(), counts.end(), result.data<int64_t>());
    return result;
  }
  // The slices along the first dimension that begin a run.
  Tensor chosen(const Tensor& items) const {
    const int64_t size[] = {static_cast<int64_t>(firsts.size())};
    Tensor index = new_tensor(size, DType::Int64);
    std::copy(firsts.begin(), firsts.end(), index.data<int64_t>());
    return ops::index_select(items, 0, index);
  }
};

void check_ordered(const Tensor& self) {
  if (is_complex(self.dtype())) TAEDA_FAIL(NotImplemented, "complex numbers have no order; got ", self.dtype());
}

}  // namespace

Results _unique2(const Tensor& self, bool, bool return_inverse, bool return_counts) {
  check_ordered(self);
  const int64_t flat[] = {-1};
  Tensor items = ops::reshape(ops::contiguous(self), flat);
  Runs runs(self.sizes(), return_inverse);
  visit_ordered(self.dtype(), [&]<class T>() {
    using E = Entry<KeyOf<T>, int64_t>;
    const T* data = items.data<T>();
    std::vector<E> entries(static_cast<size_t>(items.numel())), scratch;
    for (int64_t i = 0; i < items.numel(); ++i) entries[i] = {key_of(load<T>(data + i)), i};
    sort_entries(entries, scratch);
    for (size_t i = 0; i < entries.size(); ++i) {
      bool starts = i == 0 || entries[i].key != entries[i - 1].key || is_nan(data[entries[i].index]);
      runs.take(entries[i].index, starts);
    }
  });
  return {runs.chosen(items), runs.inverse, runs.counts_tensor(return_counts)};
}

namespace {

// Slices along `dim` as rows of a matrix.
Tensor rows_along(const Tensor& self, int64_t dim) {
  Tensor first = ops::contiguous(ops::movedim(self, dim, 0));
  int64_t n = first.sizes()[0];
  const int64_t sizes[] = {n, n ? first.numel() / n : 0};
  return ops::view(first, sizes);
}

Tensor back_along(const Tensor& rows, const Tensor& self, int64_t dim) {
  std::vector<int64_t> sizes(self.sizes().begin(), self.sizes().end());
  sizes.erase(sizes.begin() + dim);
  sizes.insert(sizes.begin(), rows.sizes()[0]);
  return ops::contiguous(ops::movedim(ops::view(rows, sizes), 0, dim));
}

// Equal as elements are: NaN differs from all.
template <class T>
bool same_row(const T* a, const T* b, int64_t width) {
  for (int64_t i = 0; i < width; ++i)
    if (key_of(load<T>(a + i)) != key_of(load<T>(b + i)) || is_nan(a[i])) return false;
  return true;
}

void check_rows(const Tensor& self, int64_t dim) {
  check_ordered(self);
  for (int64_t d = 0; d < self.dim(); ++d)
    TAEDA_CHECK(self.sizes()[d] > 0 || self.sizes()[dim] == 0, "slices of a tensor of shape ", self.sizes(),
                " along dimension ", dim, " are empty");
}

// Gives all three results, as PyTorch's ops along a dimension do whatever is asked for.
Results unique_rows(const Tensor& self, int64_t dim, bool sorts) {
  dim = wrap_dim(dim, self.dim());
  TAEDA_CHECK(self.dim() > 0, "a number has no slices");
  check_rows(self, dim);
  Tensor rows = rows_along(self, dim);
  int64_t n = rows.sizes()[0], width = rows.sizes()[1];
  const int64_t inverse_sizes[] = {n};
  Runs runs(inverse_sizes, true);
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  visit_ordered(self.dtype(), [&]<class T>() {
    const T* data = rows.data<T>();
    if (sorts)
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        for (int64_t i = 0; i < width; ++i) {
          auto x = key_of(load<T>(data + a * width + i)), y = key_of(load<T>(data + b * width + i));
          if (x != y) return x < y;
        }
        return false;
      });
    for (int64_t i = 0; i < n; ++i)
      runs.take(order[i], i == 0 || !same_row(data + order[i] * width, data + order[i - 1] * width, width));
  });
  return {n ? back_along(runs.chosen(rows), self, dim) : ops::clone(self), runs.inverse, runs.counts_tensor(true)};
}

}  // namespace

Results unique_dim(const Tensor& self, int64_t dim, bool, bool, bool) { return unique_rows(self, dim, true); }

Results unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts, std::optional<int64_t> dim) {
  if (dim && !(self.dim() == 0)) return unique_rows(self, *dim, false);
  check_ordered(self);
  const int64_t flat[] = {-1};
  Tensor items = ops::reshape(ops::contiguous(self), flat);
  Runs runs(self.sizes(), return_inverse);
  visit_ordered(self.dtype(), [&]<class T>() {
    const T* data = items.data<T>();
    for (int64_t i = 0; i < items.numel(); ++i) runs.take(i, i == 0 || !same_row(data + i, data + i - 1, 1));
  });
  return {runs.chosen(items), runs.inverse, runs.counts_tensor(return_counts)};
}

}  // namespace taeda::cpu
