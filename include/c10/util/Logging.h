// Collections on streams, as programs print them: std::cout << std::vector<int>{1, 2}.
#pragma once
#include <map>
#include <ostream>
#include <set>
#include <vector>

#include <c10/util/Exception.h>

namespace c10 {
// The first hundred, with spaces between.
template <class Iter>
void PrintSequence(std::ostream& out, Iter begin, Iter end) {
  constexpr int kMost = 100;
  for (int i = 0; begin != end && i < kMost; ++i, ++begin) out << (i ? " " : "") << *begin;
  if (begin != end) out << " ...";
}
}  // namespace c10

namespace std {  // where they are found, as in PyTorch
template <class First, class Second>
ostream& operator<<(ostream& out, const pair<First, Second>& both) {
  return out << '(' << both.first << ", " << both.second << ')';
}
template <class... Types>
ostream& operator<<(ostream& out, const vector<Types...>& items) {
  return c10::PrintSequence(out, items.begin(), items.end()), out;
}
template <class... Types>
ostream& operator<<(ostream& out, const set<Types...>& items) {
  return c10::PrintSequence(out, items.begin(), items.end()), out;
}
template <class... Types>
ostream& operator<<(ostream& out, const map<Types...>& items) {
  return c10::PrintSequence(out, items.begin(), items.end()), out;
}
}  // namespace std
