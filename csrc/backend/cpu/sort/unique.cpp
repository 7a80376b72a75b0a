// Distinct elements and slices.
#include <numeric>

#include "backend/cpu/engine/strided_copy.h"
#include "backend/cpu/engine/tensor_iterator.h"
#include "backend/cpu/ops/search.h"
#include "backend/cpu/sort/order.h"
#include "backend/cpu/sort/sort_rows.h"
#include "core/load.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/index.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"

namespace taeda::cpu {

namespace {

using Results = std::tuple<Tensor, Tensor, Tensor>;

Tensor empty_indices() {
  const int64_t none[] = {0};
  return new_tensor(none, DType::Int64);
}

// Runs of equal items, walked in order: gathers where each begins, how long it is and what belongs to it.
struct Runs {
  int64_t items, count = 0;
  std::vector<int64_t> firsts, begins;  // of each run: its first item, and the place of that in the order
  Tensor inverse;

  Runs(int64_t all, IntList inverse_sizes, bool with_inverse)
      : items(all),
        firsts(static_cast<size_t>(all) + 1),
        begins(firsts.size()),
        inverse(with_inverse ? new_tensor(inverse_sizes, DType::Int64) : empty_indices()) {}

  // item(i) is at place i of the order; starts(i) tells whether it differs from the one before.
  template <class Item, class Starts>
  void visit(const Item& item, const Starts& starts) {
    int64_t run = 0, *first = firsts.data(), *begin = begins.data();
    int64_t* to = inverse.numel() ? inverse.data<int64_t>() : nullptr;
    for (int64_t i = 0; i < items; ++i) {
      const int64_t at = item(i), begun = i == 0 || starts(i);
      first[run] = at;  // and written over by the next one that starts a run: a branch would often be guessed wrong
      begin[run] = i;
      run += begun;
      if (to) to[at] = run - 1;
    }
    count = run;
    begins[run] = items;
  }
  Tensor counts_tensor(bool wanted) const {
    if (!wanted) return empty_indices();
    Tensor result = new_tensor(IntList(&count, 1), DType::Int64);
    int64_t* lengths = result.data<int64_t>();
    for (int64_t i = 0; i < count; ++i) lengths[i] = begins[i + 1] - begins[i];
    return result;
  }
  // The slices along the first dimension that begin a run.
  Tensor chosen(const Tensor& items) const {
    Tensor index = new_tensor(IntList(&count, 1), DType::Int64);
    std::copy_n(firsts.begin(), count, index.data<int64_t>());
    return ops::index_select(items, 0, index);
  }
};

void check_ordered(const Tensor& self) {
  if (is_complex(self.dtype())) TAEDA_FAIL(NotImplemented, "complex numbers have no order; got ", self.dtype());
}

}  // namespace

namespace {

// All elements of a contiguous tensor.
Row row_of(const Tensor& items) { return {items.data<char>(), items.itemsize(), items.numel(), {}, {}, {}, {}, {}}; }

// Whether two rows are equal as elements are: NaN differs from all.
template <class E>
struct Same {
  bool has_nans;
  bool operator()(const E* a, const E* b, int64_t width) const {
    constexpr auto nan = std::numeric_limits<decltype(E::key)>::max();
    for (int64_t i = 0; i < width; ++i)
      if (a[i].key != b[i].key || (has_nans && a[i].key == nan)) return false;
    return true;
  }
};

}  // namespace

Results _unique2(const Tensor& self, bool, bool return_inverse, bool return_counts) {
  check_ordered(self);
  const int64_t flat[] = {-1};
  Tensor items = ops::reshape(ops::contiguous(self), flat);
  Runs runs(items.numel(), self.sizes(), return_inverse);
  visit_entries(self.dtype(), items.numel(), [&]<class E>(LoadEntries<E> load) {
    std::vector<E> entries, scratch;
    load(row_of(items), false, entries);
    sort_entries(entries, scratch);
    Same<E> same{is_floating(self.dtype())};
    runs.visit([&](int64_t i) { return static_cast<int64_t>(entries[i].index); },
               [&](int64_t i) { return !same(&entries[i], &entries[i - 1], 1); });
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
  return ops::movedim(ops::view(rows, sizes), 0, dim);
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
  Runs runs(n, inverse_sizes, true);
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  visit_entries(self.dtype(), rows.numel(), [&]<class E>(LoadEntries<E> load) {
    std::vector<E> entries;
    load(row_of(rows), false, entries);
    auto row_at = [&](int64_t i) { return entries.data() + i * width; };
    if (sorts)
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        auto [x, y] = std::mismatch(row_at(a), row_at(a) + width, row_at(b), [](E p, E q) { return p.key == q.key; });
        return x != row_at(a) + width && x->key < y->key;
      });
    Same<E> same{is_floating(self.dtype())};
    runs.visit([&](int64_t i) { return order[i]; },
               [&](int64_t i) { return !same(row_at(order[i]), row_at(order[i - 1]), width); });
  });
  return {n ? back_along(runs.chosen(rows), self, dim) : ops::clone(self), runs.inverse, runs.counts_tensor(true)};
}

}  // namespace

Results unique_dim(const Tensor& self, int64_t dim, bool, bool, bool) { return unique_rows(self, dim, true); }

Results unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts, std::optional<int64_t> dim) {
  TAEDA_CHECK_INDEX(!dim || self.dim() > 0, "a number has no dimension ", *dim);
  if (dim && self.dim() > 1) return unique_rows(self, *dim, false);
  if (dim && self.dim() == 1) wrap_dim(*dim, 1), return_inverse = return_counts = true;  // as unique_rows gives
  check_ordered(self);
  const int64_t flat[] = {-1};
  Tensor items = ops::reshape(ops::contiguous(self), flat);
  Runs runs(items.numel(), self.sizes(), return_inverse);
  visit_ordered(self.dtype(), [&]<class T>() {
    const char* data = items.data<char>();
    auto at = [&](int64_t i) { return static_cast<Compared<T>>(load<T>(data + i * static_cast<int64_t>(sizeof(T)))); };
    runs.visit([](int64_t i) { return i; }, [&](int64_t i) { return at(i) != at(i - 1); });
  });
  return {runs.chosen(items), runs.inverse, runs.counts_tensor(return_counts)};
}

}  // namespace taeda::cpu
