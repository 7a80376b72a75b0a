// Functions of vectors over arrays: mapped, and reduced to one number.
#pragma once
#include <ATen/cpu/vec/vec.h>

namespace at::vec {
inline namespace CPU_CAPABILITY {

namespace detail {
// Calls step(i, n) for each vector's first element and how many there are of it.
template <class T, class F>
void each_vector(int64_t count, const F& step) {
  constexpr int64_t kStep = Vectorized<T>::size();
  for (int64_t i = 0; i < count; i += kStep) step(i, std::min(kStep, count - i));
}
// What `reduce` makes of the vectors value(i, n).
template <class T, class R, class V>
T reduce_vectors(const R& reduce, int64_t count, const V& value) {
  constexpr int64_t kStep = Vectorized<T>::size();
  if (count < kStep) return vec_reduce_all<T>(reduce, value(0, count), count);
  Vectorized<T> made = value(0, kStep);
  each_vector<T>(count - kStep, [&](int64_t i, int64_t n) {
    made = Vectorized<T>::set(made, on(reduce, made, value(kStep + i, n)), n);
  });
  return vec_reduce_all<T>(reduce, made);
}
}  // namespace detail

template <class T, class F>
void map3(const F& f, T* out, const T* a, const T* b, const T* c, int64_t count) {
  using Vec = Vectorized<T>;
  detail::each_vector<T>(count, [&](int64_t i, int64_t n) {
    detail::on(f, Vec::loadu(a + i, n), Vec::loadu(b + i, n), Vec::loadu(c + i, n)).store(out + i, n);
  });
}
template <class T, class F>
void map4(const F& f, T* out, const T* a, const T* b, const T* c, const T* d, int64_t count) {
  using Vec = Vectorized<T>;
  detail::each_vector<T>(count, [&](int64_t i, int64_t n) {
    detail::on(f, Vec::loadu(a + i, n), Vec::loadu(b + i, n), Vec::loadu(c + i, n), Vec::loadu(d + i, n))
        .store(out + i, n);
  });
}
// The reduction of what `map` makes of one array, of two, of three.
template <class T, class M, class R>
T map_reduce_all(const M& map, const R& reduce, const T* a, int64_t count) {
  using Vec = Vectorized<T>;
  return detail::reduce_vectors<T>(reduce, count,
                                   [&](int64_t i, int64_t n) { return detail::on(map, Vec::loadu(a + i, n)); });
}
template <class T, class M, class R>
T map2_reduce_all(const M& map, const R& reduce, const T* a, const T* b, int64_t count) {
  using Vec = Vectorized<T>;
  return detail::reduce_vectors<T>(
      reduce, count, [&](int64_t i, int64_t n) { return detail::on(map, Vec::loadu(a + i, n), Vec::loadu(b + i, n)); });
}
template <class T, class M, class R>
T map3_reduce_all(const M& map, const R& reduce, const T* a, const T* b, const T* c, int64_t count) {
  using Vec = Vectorized<T>;
  return detail::reduce_vectors<T>(reduce, count, [&](int64_t i, int64_t n) {
    return detail::on(map, Vec::loadu(a + i, n), Vec::loadu(b + i, n), Vec::loadu(c + i, n));
  });
}
// Two reductions.
template <class T, class A, class B>
std::pair<T, T> reduce2_all(const A& first, const B& second, const T* in, int64_t count) {
  return {reduce_all(first, in, count), reduce_all(second, in, count)};
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
