// What a compiled reduction looks like from outside. A state is what has been learnt of some elements; the states of
// `columns` outputs lie one component after another: component 0 of all, component 1 of all, ...
#pragma once
#include <cstdint>

namespace taeda::cpu {

struct ReduceLoops {
  // The states of `count` rows, `step` bytes apart, of n >= 1 contiguous elements; the first element of each is number
  // `first` of its reduction.
  void (*rows)(const char* data, int64_t step, int64_t count, int64_t n, int64_t first, char* states,
               const void* scalars);
  // The states of `columns` contiguous columns over `rows` >= 1 rows that lie `step` bytes apart.
  void (*columns)(const char* data, int64_t step, int64_t rows, int64_t columns, int64_t first, char* states,
                  const void* scalars);
  // into[c] = combine(into[c], from[c]); they stand for `have` and `more` elements, those of `from` the later ones.
  void (*combine)(char* into, const char* from, int64_t columns, int64_t have, int64_t more);
  // The results of `columns` states of `count` elements each (zero: the identity); outs[i] is contiguous.
  void (*finish)(char* const* outs, const char* states, int64_t columns, int64_t count, const void* scalars);
};

}  // namespace taeda::cpu
