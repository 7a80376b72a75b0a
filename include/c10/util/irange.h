// for (auto i : c10::irange(n)): the whole numbers from 0, or from a begin, up to an end that is not among them.
#pragma once
#include <iterator>
#include <type_traits>

namespace c10 {

template <class I>
struct integer_iterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = I;
  using difference_type = std::ptrdiff_t;
  using pointer = I*;
  using reference = I&;
  I value;
  I operator*() const { return value; }
  const I* operator->() const { return &value; }
  integer_iterator& operator++() {
    ++value;
    return *this;
  }
  integer_iterator operator++(int) { return {value++}; }
  bool operator==(const integer_iterator&) const = default;
};

template <class I>
struct integer_range {
  integer_iterator<I> first, last;
  integer_iterator<I> begin() const { return first; }
  integer_iterator<I> end() const { return last; }
};

template <class Begin, class End>
  requires std::is_integral_v<Begin> && std::is_integral_v<End>
integer_range<End> irange(Begin begin, End end) {
  End from = static_cast<End>(begin);
  return {{from}, {from < end ? end : from}};
}
template <class End>
  requires std::is_integral_v<End>
integer_range<End> irange(End end) {
  return irange(End{0}, end);
}

}  // namespace c10
