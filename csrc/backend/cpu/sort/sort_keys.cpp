#include "backend/cpu/sort/sort_keys.h"

#include <functional>
#include <utility>

namespace taeda::cpu {

namespace {

// Long rows by bytes of the key, the lowest first; bytes that are the same everywhere are skipped. Rows of more than
// 2^32 elements, whose indices are wide, are never short.
template <class E, class Less>
void sort_row(std::vector<E>& entries, std::vector<E>& other, Less less) {
  using Index = decltype(E::index);
  constexpr int kBytes = sizeof(E::key);
  size_t n = entries.size();
  if constexpr (sizeof(Index) < sizeof(int64_t))
    if (static_cast<int64_t>(n) < kShort) return std::sort(entries.begin(), entries.end(), less);
  std::vector<Index> counts(kBytes * 256, 0);
  for (const auto& entry : entries)
    for (int b = 0; b < kBytes; ++b) ++counts[b * 256 + (entry.key >> (8 * b) & 255)];
  other.resize(n);
  for (int b = 0; b < kBytes; ++b) {
    Index* count = &counts[b * 256];
    if (static_cast<size_t>(count[entries[0].key >> (8 * b) & 255]) == n) continue;
    Index start = 0;
    for (int v = 0; v < 256; ++v) start += std::exchange(count[v], start);
    for (const auto& entry : entries) other[count[entry.key >> (8 * b) & 255]++] = entry;
    entries.swap(other);
  }
}

}  // namespace

template <class E>
void sort_entries(std::vector<E>& entries, std::vector<E>& other) {
  sort_row(entries, other, std::less<E>());
}

template <class E>
void sort_by_key(std::vector<E>& entries, std::vector<E>& other) {
  sort_row(entries, other, by_key<E>);
}

#define TAEDA_SORT(Key)                                                                               \
  template void sort_entries(std::vector<Entry<Key, uint32_t>>&, std::vector<Entry<Key, uint32_t>>&); \
  template void sort_entries(std::vector<Entry<Key, uint64_t>>&, std::vector<Entry<Key, uint64_t>>&); \
  template void sort_by_key(std::vector<Entry<Key, uint32_t>>&, std::vector<Entry<Key, uint32_t>>&);  \
  template void sort_by_key(std::vector<Entry<Key, uint64_t>>&, std::vector<Entry<Key, uint64_t>>&);
TAEDA_SORT(uint8_t)
TAEDA_SORT(uint16_t)
TAEDA_SORT(uint32_t)
TAEDA_SORT(uint64_t)
#undef TAEDA_SORT

}  // namespace taeda::cpu
