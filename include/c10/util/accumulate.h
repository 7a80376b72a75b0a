// Sums and products of ranges, in int64.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

#include <c10/util/Exception.h>

namespace c10 {

template <class It>
int64_t sum_integers(It begin, It end) {
  return std::accumulate(begin, end, int64_t{0});
}
template <class C>
int64_t sum_integers(const C& container) {
  return sum_integers(container.begin(), container.end());
}
template <class It>
int64_t multiply_integers(It begin, It end) {
  return std::accumulate(begin, end, int64_t{1}, std::multiplies<>());
}
template <class C>
int64_t multiply_integers(const C& container) {
  return multiply_integers(container.begin(), container.end());
}
// The product of the sizes from dimension k on, and up to it.
template <class C>
int64_t numelements_from_dim(int k, const C& sizes) {
  return k >= static_cast<int>(sizes.size()) ? 1 : multiply_integers(std::next(sizes.begin(), k), sizes.end());
}
template <class C>
int64_t numelements_to_dim(int k, const C& sizes) {
  return multiply_integers(sizes.begin(), std::next(sizes.begin(), k));
}

// Of those in between, the earlier one with it.
template <class C>
int64_t numelements_between_dim(int k, int l, const C& sizes) {
  const auto first = std::next(sizes.begin(), std::min(k, l));
  return multiply_integers(first, std::next(first, std::max(k, l) - std::min(k, l)));
}

}  // namespace c10
