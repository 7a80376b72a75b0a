// The one thread pool (libgomp's). Work is cut by size, never by the number of threads, so that results do not change
// with it: a kernel that keeps partial results keeps one per piece, not one per thread.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "taeda/core/error.h"

namespace taeda {

TAEDA_API int num_threads();
TAEDA_API void set_num_threads(int count);  // RuntimeError below 1
// Whether this thread runs a piece of parallel_for that may have others beside it.
TAEDA_API bool in_parallel_piece();
// Whether arithmetic of this thread and of the pool takes denormal numbers as 0. False where the processor cannot.
TAEDA_API bool set_flush_denormal(bool value);

namespace detail {
using Piece = void (*)(const void* body, int64_t begin, int64_t end);
TAEDA_API void run_pieces(int64_t begin, int64_t end, int64_t grain, Piece piece, const void* body);
}  // namespace detail

// Calls fn(from, to) over [begin, end) in pieces of `grain` (the last one may be shorter), in any order and on any
// thread. The first error of a piece is thrown here once all are done. One piece or one thread: no pool is touched.
// `fn` is compiled once, whichever way it is called.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, const F& fn) {
  detail::run_pieces(
      begin, end, grain, [](const void* body, int64_t from, int64_t to) { (*static_cast<const F*>(body))(from, to); },
      &fn);
}

// Elements of simple arithmetic below which a second thread does not pay.
constexpr int64_t kGrain = 32768;

}  // namespace taeda
