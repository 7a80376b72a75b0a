// A stable sort for a handful of items, such as dimensions: little code, and no memory of its own.
#pragma once
#include <utility>

namespace taeda {

template <class Iterator, class Less>
void insertion_sort(Iterator begin, Iterator end, const Less& less) {
  for (Iterator next = begin; next != end; ++next)
    for (Iterator at = next; at != begin && less(*at, *(at - 1)); --at) std::swap(*at, *(at - 1));
}

}  // namespace taeda
