// Sorting along a dimension, whole or as far as the first k.
#include "shape/ops/sort.h"
#include "backend/cpu/sort_rows.h"

namespace taeda::cpu {

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
          auto key = [flip = static_cast<KeyOf<T>>(largest ? -1 : 0)](const char* at) {
            T value;
            std::memcpy(&value, at, sizeof(T));
            return static_cast<KeyOf<T>>(key_of(value) ^ flip);
          };
          auto wanted = static_cast<size_t>(k);
          if (row.from_step == sizeof(T))
            smallest(kept, wanted, row.n, [key, at = row.from](int64_t i) { return key(at + i * sizeof(T)); });
          else
            smallest(kept, wanted, row.n, [key, &row](int64_t i) { return key(row.from + i * row.from_step); });
          for (int64_t j = 0; j < k; ++j) row.give<T>(j, kept[j].index);
        };
      });
    });
  });
}

}  // namespace taeda::cpu
