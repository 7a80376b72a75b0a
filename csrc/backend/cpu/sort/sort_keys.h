// Sorting and selecting keyed elements of one row.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace taeda::cpu {

template <class Key, class Index>
struct Entry {
  Key key;
  Index index;
  bool operator<(const Entry& other) const { return key != other.key ? key < other.key : index < other.index; }
};

// By rising key; equal ones keep their order (their indices must rise). `other` is scratch.
template <class E>
void sort_entries(std::vector<E>& entries, std::vector<E>& other);
// The same with equal ones in no order that is promised.
template <class E>
void sort_by_key(std::vector<E>& entries, std::vector<E>& other);

// Short rows with equal keys: programs see in which order they come, so the standard library's algorithms decide it
// here as they do in PyTorch.
constexpr int64_t kShort = 384;

template <class E>
bool by_key(const E& a, const E& b) {
  return a.key < b.key;
}

// The k smallest entries first, of a short row; in rising order if `sorted` or if k is small beside the row.
template <class E>
void first_by_key(std::vector<E>& entries, int64_t k, bool sorted) {
  auto begin = entries.begin();
  if (k * 64 <= static_cast<int64_t>(entries.size()))
    return std::partial_sort(begin, begin + k, entries.end(), by_key<E>);
  std::nth_element(begin, begin + k - 1, entries.end(), by_key<E>);
  if (sorted) std::sort(begin, begin + k - 1, by_key<E>);
}

constexpr int64_t kPassed = 16;  // elements that are passed by at once

// The k smallest of the n entries whose keys key_at gives, in rising order. Of a long row most blocks hold none of
// them: pass_by(start, i) tells whether none of the kPassed elements from `start` comes before element i.
template <class Key, class Index, class KeyAt, class PassBy>
void smallest(std::vector<Entry<Key, Index>>& kept, size_t k, int64_t n, const KeyAt& key_at, const PassBy& pass_by) {
  kept.clear();
  size_t room = k + std::max<size_t>(k, kPassed);
  kept.reserve(room);
  bool full = false;
  for (int64_t start = 0; start < n; start += kPassed) {
    int64_t end = std::min(start + kPassed, n);
    if (full && end - start == kPassed && pass_by(start, static_cast<int64_t>(kept[k - 1].index))) continue;
    for (int64_t i = start; i < end; ++i) {
      Key key = key_at(i);
      if (full && key >= kept[k - 1].key) continue;
      kept.push_back({key, static_cast<Index>(i)});
      if (kept.size() < room) continue;
      std::nth_element(kept.begin(), kept.begin() + static_cast<int64_t>(k) - 1, kept.end());
      kept.resize(k);
      full = true;
    }
  }
  std::sort(kept.begin(), kept.end());
  if (kept.size() > k) kept.resize(k);
}

}  // namespace taeda::cpu
