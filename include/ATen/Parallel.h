// Loops over the library's one pool of threads.
#pragma once
#include <functional>
#include <vector>

#include <c10/util/Exception.h>
#include <taeda/core/parallel.h>
#include <taeda/core/thread_state.h>

namespace at {

namespace internal {
constexpr int64_t GRAIN_SIZE = 32768;
}  // namespace internal

inline int64_t divup(int64_t x, int64_t y) { return (x + y - 1) / y; }
inline void init_num_threads() {}
inline void lazy_init_num_threads() {}
inline void set_num_threads(int count) { ::taeda::set_num_threads(count); }
inline int get_num_threads() { return ::taeda::num_threads(); }
C10_API int get_thread_num();
C10_API bool in_parallel_region();
C10_API std::string get_parallel_info();

// Runs f some time on another thread, one that may wait, with this thread's state. At most so many at a time.
C10_API void launch(std::function<void()> f);
C10_API void set_num_interop_threads(int count);  // once, before the first launch
C10_API size_t get_num_interop_threads();

namespace detail {
// A piece for each thread, none smaller than the grain.
inline int64_t piece(int64_t begin, int64_t end, int64_t grain) {
  int64_t threads = in_parallel_region() ? 1 : get_num_threads();
  return std::max(divup(end - begin, std::max<int64_t>(threads, 1)), std::max<int64_t>(grain, 1));
}
}  // namespace detail

// Calls f(from, to) over [begin, end) in pieces of at least `grain`, with the thread's state as where it was called.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, const F& f) {
  TORCH_CHECK(grain >= 0, "the grain of parallel_for is 0 or more; got ", grain);
  if (begin >= end) return;
  const ::taeda::ThreadState state = ::taeda::t_state;
  ::taeda::parallel_for(begin, end, detail::piece(begin, end, grain), [&](int64_t from, int64_t to) {
    ::taeda::Scoped<::taeda::ThreadState> as_outside(::taeda::t_state, state);
    f(from, to);
  });
}

// Joins f(from, to, identity) of all pieces by `join`, in their order.
template <class T, class F, class Join>
T parallel_reduce(int64_t begin, int64_t end, int64_t grain, const T identity, const F& f, const Join& join) {
  TORCH_CHECK(grain >= 0, "the grain of parallel_reduce is 0 or more; got ", grain);
  if (begin >= end) return identity;
  const int64_t piece = detail::piece(begin, end, grain);
  std::vector<T> parts(static_cast<size_t>(divup(end - begin, piece)), identity);
  ::taeda::parallel_for(begin, end, piece, [&](int64_t from, int64_t to) {
    parts[static_cast<size_t>((from - begin) / piece)] = f(from, to, identity);
  });
  T result = identity;
  for (const T& part : parts) result = join(result, part);
  return result;
}

inline void intraop_launch(const std::function<void()>& f) { f(); }
inline int intraop_default_num_threads() { return get_num_threads(); }

}  // namespace at
