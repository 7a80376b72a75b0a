// Sorting along a dimension, whole or as far as the first k.
#include "backend/cpu/ops/sort.h"
#include "backend/cpu/sort/sort_rows.h"

namespace taeda::cpu {

void sort(const Tensor& self, std::optional<bool> stable, int64_t dim, bool descending, const Tensor& values,
          const Tensor& indices) {
  dim = wrap_dim(dim, self.dim());
  if (self.numel() == 0) return;
  visit_entries(self.dtype(), row_length(self, dim), [&]<class E>(LoadEntries<E> load) {
    each_row(self, dim, true, values, indices, [&] {
      return [&, load, entries = std::vector<E>(), scratch = std::vector<E>()](const Row& row) mutable {
        load(row, descending, entries);
        stable.value_or(false) ? sort_entries(entries, scratch) : sort_by_key(entries, scratch);
        for (int64_t i = 0; i < row.n; ++i) row.give<decltype(E::key)>(i, entries[i].index);
      };
    });
  });
}

namespace {

// Whether none of the kPassed elements from `block` comes before `edge`. Vectors, for which a NaN is a maybe.
template <class T>
bool none_before(const char* block, const char* edge, bool largest) {
  T last, values[kPassed];
  std::memcpy(&last, edge, sizeof(T));
  std::memcpy(values, block, sizeof(values));
  auto bound = static_cast<Compared<T>>(last);
  bool found = false;
  if (largest)
    for (T value : values) found |= !(static_cast<Compared<T>>(value) <= bound);
  else
    for (T value : values) found |= !(static_cast<Compared<T>>(value) >= bound);
  return !found;
}

}  // namespace

void topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted, const Tensor& values,
          const Tensor& indices) {
  dim = wrap_dim(dim, self.dim());
  if (self.numel() == 0 || k == 0) return;
  visit_ordered(self.dtype(), [&]<class T>() {
    each_row(self, dim, true, values, indices, [&] {
      using Short = Entry<KeyOf<T>, int32_t>;
      using Long = Entry<KeyOf<T>, int64_t>;
      return [&, entries = std::vector<Short>(), kept = std::vector<Long>()](const Row& row) mutable {
        auto give = [&](const auto& from) {
          for (int64_t j = 0; j < k; ++j) row.give<KeyOf<T>>(j, from[j].index);
        };
        if (row.n < kShort) {
          load_entries<Short, T>(row, largest, entries);
          first_by_key(entries, k, sorted);
          return give(entries);
        }
        auto key = [flip = static_cast<KeyOf<T>>(largest ? -1 : 0)](const char* at) {
          T value;
          std::memcpy(&value, at, sizeof(T));
          return static_cast<KeyOf<T>>(key_of(value) ^ flip);
        };
        auto wanted = static_cast<size_t>(k);
        auto key_at = [key, &row](int64_t i) { return key(row.from + i * row.from_step); };
        smallest(kept, wanted, row.n, key_at, [&row, largest](int64_t start, int64_t edge) {
          auto at = [&row](int64_t i) { return row.from + i * static_cast<int64_t>(sizeof(T)); };
          return row.from_step == sizeof(T) && none_before<T>(at(start), at(edge), largest);
        });
        give(kept);
      };
    });
  });
}

}  // namespace taeda::cpu
