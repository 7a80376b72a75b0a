// Sorting and selecting keyed elements of one row.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace taeda::cpu {

template <class Key, class Index>
struct Entry {
  Key key;
  Index index;
  bool operator<(const Entry& other) const { return key != other.key ? key < other.key : index < other.index; }
};

constexpr int64_t kRadixFrom = 384;  // shorter rows are sorted by comparing

// By rising key; equal ones keep their order (their indices must rise). Radix sort by bytes, the lowest first; bytes
// that are the same everywhere are skipped. `other` is scratch of the same length.
template <class Key, class Index>
void sort_entries(std::vector<Entry<Key, Index>>& entries, std::vector<Entry<Key, Index>>& other) {
  size_t n = entries.size();
  if (static_cast<int64_t>(n) < kRadixFrom) {
    std::sort(entries.begin(), entries.end());
    return;
  }
  constexpr int kBytes = sizeof(Key);
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

// The k smallest entries of those that next() gives, in rising order. next(entry) answers false at the end.
template <class Key, class Index, class Next>
void smallest(std::vector<Entry<Key, Index>>& kept, size_t k, Next&& next) {
  kept.clear();
  size_t room = std::max<size_t>(2 * k, k + 64);
  kept.reserve(room);
  Entry<Key, Index> entry;
  bool full = false;
  while (next(entry)) {
    if (full && !(entry < kept[k - 1])) continue;
    kept.push_back(entry);
    if (kept.size() < room) continue;
    std::nth_element(kept.begin(), kept.begin() + static_cast<int64_t>(k) - 1, kept.end());
    kept.resize(k);
    full = true;
  }
  std::sort(kept.begin(), kept.end());
  if (kept.size() > k) kept.resize(k);
}

}  // namespace taeda::cpu
