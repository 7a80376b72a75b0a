// The loops around the formulas of a reduction, for one instruction set. Rows are cut into lanes and a few independent
// accumulators, columns into tiles of registers; both orders depend on the sizes alone.
#pragma once
#include "backend/cpu/engine/reduce_table.h"
#include "backend/cpu/engine/vec.h"

namespace taeda::cpu::TAEDA_ISA {

enum class Identity { Zero, One, Lowest, Highest };

template <class T>
constexpr T lowest_of() {
  if constexpr (static_cast<T>(0.5f) != static_cast<T>(0))
    return -static_cast<T>(__builtin_inf());
  else if constexpr (static_cast<T>(-1) > static_cast<T>(0))
    return 0;
  else
    return static_cast<T>(uint64_t{1} << (8 * sizeof(T) - 1));
}
template <class T>
constexpr T highest_of() {
  if constexpr (static_cast<T>(0.5f) != static_cast<T>(0))
    return static_cast<T>(__builtin_inf());
  else if constexpr (static_cast<T>(-1) > static_cast<T>(0))
    return static_cast<T>(-1);
  else
    return static_cast<T>(~(uint64_t{1} << (8 * sizeof(T) - 1)));
}
template <class T>
TAEDA_INLINE V<T> identity_of(Identity which) {
  if constexpr (!is_cx<T>) {
    if (which == Identity::Lowest) return splat(lowest_of<T>());
    if (which == Identity::Highest) return splat(highest_of<T>());
  }
  return splat(which == Identity::One ? T(1) : T(0));
}

template <class T>
TAEDA_INLINE M<T> iota() {
  M<T> r;
  for (int i = 0; i < N<T>; ++i) r[i] = static_cast<typename Lane<T>::Int>(i);
  return r;
}
// True in lanes [0, n).
template <class T>
TAEDA_INLINE M<T> first_lanes(int64_t n) {
  if constexpr (is_cx<T>)
    return n > 0;
  else
    return iota<T>() < (M<T>{} + static_cast<typename Lane<T>::Int>(n));
}
// Lane i takes the value of lane i + by; the last ones wrap around.
template <class T, class Vector>
TAEDA_INLINE Vector rotate(Vector v, int by) {
  M<T> from = (iota<T>() + static_cast<typename Lane<T>::Int>(by)) & static_cast<typename Lane<T>::Int>(N<T> - 1);
  return __builtin_shuffle(v, from);
}

template <class T, int kScalars>
struct Scalars {
  V<T> values[kScalars + 1];
  explicit Scalars(const void* from) {
    for (int i = 0; i < kScalars; ++i) values[i] = splat(static_cast<const T*>(from)[i]);
  }
};

// --- states of a few values of the element type
// A formula F gives kStates, kResults, kScalars, kIdentity[kStates] and
//   load<T>(x, s, out), combine<T>(a, b, out), finish<T>(a, n, s, out)   over arrays of V<T>
template <class F>
struct ValueReduction {
  static constexpr int kS = F::kStates;
  static constexpr int64_t kFoldedTogether = 32;  // vectors of a row up to which folding matters
  static constexpr int64_t kLong = 8192;          // elements of a row that pay for joining more accumulators

  template <class T>
  TAEDA_INLINE void join(V<T>* into, const V<T>* more) {
    V<T> both[kS];
    F::template combine<T>(into, more, both);
    for (int k = 0; k < kS; ++k) into[k] = both[k];
  }

  template <class T>
  static void rows(const char* data, int64_t step, int64_t count, int64_t n, int64_t, char* states,
                   const void* scalars) {
    Scalars<T, F::kScalars> s(scalars);
    V<T> state[kS];
    int64_t r = 0;
    if constexpr (kS == 1 && !is_cx<T> && N<T> > 1 && N<T> <= 16)
      if (n <= kFoldedTogether * N<T>)
        for (V<T> together[N<T>]; r + N<T> <= count; r += N<T>) {
          for (int j = 0; j < N<T>; ++j) lanes<T, 4>(data + (r + j) * step, n, s, together + j);
          fold_rows<T, N<T> / 2>(together);
          std::memcpy(states + r * sizeof(T), together, sizeof(V<T>));
        }
    for (; r < count; ++r) {
      if constexpr (kS > 1 || is_cx<T>)
        lanes<T, 1>(data + r * step, n, s, state);
      else
        n < kLong ? lanes<T, 4>(data + r * step, n, s, state) : lanes<T, 8>(data + r * step, n, s, state);
      fold<T>(state);
      for (int k = 0; k < kS; ++k) std::memcpy(states + (k * count + r) * sizeof(T), &state[k], sizeof(T));
    }
  }

  // What each lane has met of a row.
  template <class T, int kParallel>
  TAEDA_INLINE void lanes(const char* data, int64_t n, const Scalars<T, F::kScalars>& s, V<T>* state) {
    V<T> acc[kParallel][kS], x[kS];
    for (auto& a : acc)
      for (int k = 0; k < kS; ++k) a[k] = identity_of<T>(F::kIdentity[k]);
    int64_t i = 0;
    for (; i + kParallel * N<T> <= n; i += kParallel * N<T>)
      for (int j = 0; j < kParallel; ++j) {
        F::template load<T>(TAEDA_ISA::load<T>(data + (i + j * N<T>)*sizeof(T)), s.values, x);
        join<T>(acc[j], x);
      }
    for (; i + N<T> <= n; i += N<T>) {
      F::template load<T>(TAEDA_ISA::load<T>(data + i * sizeof(T)), s.values, x);
      join<T>(acc[0], x);
    }
    if (i < n) {
      F::template load<T>(TAEDA_ISA::load<T>(data + i * sizeof(T), n - i), s.values, x);
      for (int k = 0; k < kS; ++k) x[k] = first_lanes<T>(n - i) ? x[k] : identity_of<T>(F::kIdentity[k]);
      join<T>(acc[0], x);
    }
    for (int width = kParallel / 2; width > 0; width /= 2)
      for (int j = 0; j < width; ++j) join<T>(acc[j], acc[j + width]);
    for (int k = 0; k < kS; ++k) state[k] = acc[0][k];
  }

  // Joins the lanes: the first of each vector has the state then.
  template <class T>
  TAEDA_INLINE void fold(V<T>* state) {
    V<T> x[kS];
    if constexpr (!is_cx<T>)
      for (int width = N<T> / 2; width > 0; width /= 2) {
        for (int k = 0; k < kS; ++k) x[k] = rotate<T>(state[k], width);
        join<T>(state, x);
      }
  }

  // The same for N<T> rows at once, in the same order: two vectors of groups of 2 * kHalf lanes become one of groups of
  // kHalf, until the first vector has a lane for each row.
  template <class T, int kHalf>
  TAEDA_INLINE void fold_rows(V<T>* rows) {
    M<T> low;
    for (int i = 0; i < N<T>; ++i) low[i] = i / kHalf * 2 * kHalf + i % kHalf;
    for (int j = 0; j < kHalf; ++j) {
      V<T> a = __builtin_shuffle(rows[2 * j], rows[2 * j + 1], low);
      V<T> b = __builtin_shuffle(rows[2 * j], rows[2 * j + 1], low + static_cast<typename Lane<T>::Int>(kHalf));
      F::template combine<T>(&a, &b, rows + j);
    }
    if constexpr (kHalf > 1) fold_rows<T, kHalf / 2>(rows);
  }

  template <class T, int kTile>
  TAEDA_INLINE void tile(const char* data, int64_t step, int64_t rows, int64_t lanes, char* states, int64_t columns,
                         const V<T>* s) {
    V<T> acc[kTile][kS], x[kS];
    for (auto& a : acc)
      for (int k = 0; k < kS; ++k) a[k] = identity_of<T>(F::kIdentity[k]);
    for (int64_t r = 0; r < rows; ++r)
      for (int j = 0; j < kTile; ++j) {
        const char* p = data + r * step + j * N<T> * sizeof(T);
        F::template load<T>(partial_load<T>(p, lanes), s, x);
        join<T>(acc[j], x);
      }
    for (int j = 0; j < kTile; ++j)
      for (int k = 0; k < kS; ++k) {
        char* p = states + (k * columns + j * N<T>)*sizeof(T);
        partial_store<T>(p, acc[j][k], lanes);
      }
  }

  template <class T>
  static void columns(const char* data, int64_t step, int64_t rows, int64_t columns, int64_t, char* states,
                      const void* scalars) {
    constexpr int kTile = kS == 1 ? 4 : 2;
    Scalars<T, F::kScalars> s(scalars);
    int64_t c = 0;
    for (; c + kTile * N<T> <= columns; c += kTile * N<T>)
      tile<T, kTile>(data + c * sizeof(T), step, rows, N<T>, states + c * sizeof(T), columns, s.values);
    for (; c < columns; c += N<T>)
      tile<T, 1>(data + c * sizeof(T), step, rows, columns - c < N<T> ? columns - c : N<T>, states + c * sizeof(T),
                 columns, s.values);
  }

  template <class T>
  static void combine(char* into, const char* from, int64_t columns, int64_t, int64_t) {
    for (int64_t c = 0; c < columns; c += N<T>) {
      int64_t n = columns - c < N<T> ? columns - c : N<T>;
      V<T> a[kS], b[kS];
      for (int k = 0; k < kS; ++k) {
        a[k] = partial_load<T>(into + (k * columns + c) * sizeof(T), n);
        b[k] = partial_load<T>(from + (k * columns + c) * sizeof(T), n);
      }
      join<T>(a, b);
      for (int k = 0; k < kS; ++k) partial_store<T>(into + (k * columns + c) * sizeof(T), a[k], n);
    }
  }

  template <class T>
  static void finish(char* const* outs, const char* states, int64_t columns, int64_t count, const void* scalars) {
    Scalars<T, F::kScalars> s(scalars);
    for (int64_t c = 0; c < columns; c += N<T>) {
      int64_t n = columns - c < N<T> ? columns - c : N<T>;
      V<T> a[kS], r[F::kResults];
      for (int k = 0; k < kS; ++k)
        a[k] = count ? partial_load<T>(states + (k * columns + c) * sizeof(T), n) : identity_of<T>(F::kIdentity[k]);
      F::template finish<T>(a, splat(static_cast<T>(count)), s.values, r);
      for (int k = 0; k < F::kResults; ++k) {
        if constexpr (is_cx<T> && F::kRealResults)
          std::memcpy(outs[k] + c * sizeof(T) / 2, &r[k].re, sizeof(T) / 2);
        else
          partial_store<T>(outs[k] + c * sizeof(T), r[k], n);
      }
    }
  }

  template <class T>
  static constexpr ReduceLoops loops{rows<T>, columns<T>, combine<T>, finish<T>};
};

// --- the best element and where it is; the lower index wins a tie
// A formula F gives better<T>(a, b): lanes in which a beats b. Results: value, index.
template <class F>
struct IndexReduction {
  template <class T>
  TAEDA_INLINE void join(V<T>& best, M<T>& index, V<T> x, M<T> i) {
    M<T> take = F::template better<T>(x, best) | (~F::template better<T>(best, x) & (i < index));
    best = take ? x : best;
    index = take ? i : index;
  }

  template <class T>
  static void rows(const char* data, int64_t step, int64_t count, int64_t n, int64_t first, char* states, const void*) {
    for (int64_t r = 0; r < count; ++r)
      row<T>(data + r * step, n, first, states + r * sizeof(T), states + count * sizeof(T) + r * sizeof(int64_t));
  }

  template <class T>
  TAEDA_INLINE void row(const char* data, int64_t n, int64_t first, char* value_at, char* index_at) {
    T head;
    std::memcpy(&head, data, sizeof head);
    V<T> best = splat(head);
    M<T> index{}, at = iota<T>();
    int64_t i = 0;
    for (; i + N<T> <= n; i += N<T>, at += static_cast<typename Lane<T>::Int>(N<T>)) {
      V<T> x = load<T>(data + i * sizeof(T));
      M<T> take = F::template better<T>(x, best);
      best = take ? x : best;
      index = take ? at : index;
    }
    if (i < n) {
      V<T> x = load<T>(data + i * sizeof(T), n - i);
      M<T> take = F::template better<T>(x, best) & first_lanes<T>(n - i);
      best = take ? x : best;
      index = take ? at : index;
    }
    for (int width = N<T> / 2; width > 0; width /= 2)
      join<T>(best, index, rotate<T>(best, width), rotate<T>(index, width));
    T value = best[0];
    int64_t where = first + index[0];
    std::memcpy(value_at, &value, sizeof value);
    std::memcpy(index_at, &where, sizeof where);
  }

  template <class T>
  static void columns(const char* data, int64_t step, int64_t rows, int64_t columns, int64_t first, char* states,
                      const void*) {
    for (int64_t c = 0; c < columns; c += N<T>) {
      int64_t n = columns - c < N<T> ? columns - c : N<T>;
      const char* p = data + c * sizeof(T);
      V<T> best = partial_load<T>(p, n);
      M<T> index{}, at{};
      for (int64_t r = 1; r < rows; ++r) {
        V<T> x = partial_load<T>(p + r * step, n);
        at += 1;
        M<T> take = F::template better<T>(x, best);
        best = take ? x : best;
        index = take ? at : index;
      }
      partial_store<T>(states + c * sizeof(T), best, n);
      char* indices = states + columns * sizeof(T);
      for (int64_t j = 0; j < n; ++j) {
        int64_t where = first + index[j];
        std::memcpy(indices + (c + j) * sizeof(int64_t), &where, sizeof where);
      }
    }
  }

  template <class T>
  static void combine(char* into, const char* from, int64_t columns, int64_t, int64_t) {
    for (int64_t c = 0; c < columns; c += N<T>) {
      int64_t n = columns - c < N<T> ? columns - c : N<T>;
      V<T> a = partial_load<T>(into + c * sizeof(T), n), b = partial_load<T>(from + c * sizeof(T), n);
      M<T> take = F::template better<T>(b, a);  // what is in `from` comes later, so ties stay
      partial_store<T>(into + c * sizeof(T), take ? b : a, n);
      for (int64_t j = 0; j < n; ++j)
        if (take[j]) {
          int64_t offset = columns * sizeof(T) + (c + j) * sizeof(int64_t);
          std::memcpy(into + offset, from + offset, sizeof(int64_t));
        }
    }
  }

  template <class T>
  static void finish(char* const* outs, const char* states, int64_t columns, int64_t, const void*) {
    if (outs[0]) std::memcpy(outs[0], states, columns * sizeof(T));
    std::memcpy(outs[1], states + columns * sizeof(T), columns * sizeof(int64_t));
  }

  template <class T>
  static constexpr ReduceLoops loops{rows<T>, columns<T>, combine<T>, finish<T>};
};

// --- mean and sum of squared deviations (T. Chan, G. Golub, R. LeVeque, 1979)
// A formula F gives kResults, kScalars and finish<T>({mean, squares}, n, s, out).
template <class F>
struct MomentsReduction {
  template <class T>
  TAEDA_INLINE T total(V<T> v) {
    for (int width = N<T> / 2; width > 0; width /= 2) v += rotate<T>(v, width);
    return v[0];
  }

  template <class T>
  static void rows(const char* data, int64_t step, int64_t count, int64_t n, int64_t, char* states, const void*) {
    for (int64_t r = 0; r < count; ++r) {
      T state[2];
      row<T>(data + r * step, n, state);
      for (int k = 0; k < 2; ++k) std::memcpy(states + (k * count + r) * sizeof(T), &state[k], sizeof(T));
    }
  }

  // Twice over a row that is in the cache: the sum, then the deviations from its mean, whose own sum corrects it.
  template <class T>
  TAEDA_INLINE void row(const char* data, int64_t n, T* state) {
    auto at = [&](int64_t i) { return partial_load<T>(data + i * sizeof(T), n - i < N<T> ? n - i : N<T>); };
    V<T> zero = splat(T(0)), sum[2] = {zero, zero};
    int64_t whole = n / N<T> * N<T>;
    for (int64_t i = 0; i < whole; i += N<T>) sum[i / N<T> & 1] += at(i);
    if (whole < n) sum[0] += first_lanes<T>(n - whole) ? at(whole) : zero;
    T mean = total<T>(sum[0] + sum[1]) / static_cast<T>(n);
    if (!(mean - mean == T(0))) return welford<T>(data, n, state);
    V<T> centre = splat(mean), left[2] = {zero, zero}, squares[2] = {zero, zero};
    for (int64_t i = 0; i < n; i += N<T>) {
      V<T> d = at(i) - centre;
      if (n - i < N<T>) d = first_lanes<T>(n - i) ? d : zero;
      left[i / N<T> & 1] += d;
      squares[i / N<T> & 1] += d * d;
    }
    T off = total<T>(left[0] + left[1]);
    state[0] = mean + off / static_cast<T>(n);
    state[1] = total<T>(squares[0] + squares[1]) - off * (off / static_cast<T>(n));
  }

  // One by one, for rows whose sum is beyond the largest number.
  template <class T>
  static void welford(const char* data, int64_t n, T* state) {
    auto x = reinterpret_cast<const T*>(data);
    T mean = 0, squares = 0;
    for (int64_t i = 0; i < n; ++i) {
      T d = x[i] - mean;
      mean += d / static_cast<T>(i + 1);
      squares += d * (x[i] - mean);
    }
    state[0] = mean;
    state[1] = squares;
  }

  template <class T>
  static void columns(const char* data, int64_t step, int64_t rows, int64_t columns, int64_t, char* states,
                      const void*) {
    for (int64_t c = 0; c < columns; c += N<T>) {
      int64_t n = columns - c < N<T> ? columns - c : N<T>;
      V<T> mean = splat(T(0)), squares = mean;
      for (int64_t r = 0; r < rows; ++r) {
        V<T> x = partial_load<T>(data + r * step + c * sizeof(T), n), d = x - mean;
        mean += d * splat(T(1) / static_cast<T>(r + 1));
        squares += d * (x - mean);
      }
      partial_store<T>(states + c * sizeof(T), mean, n);
      partial_store<T>(states + (columns + c) * sizeof(T), squares, n);
    }
  }

  template <class T>
  static void combine(char* into, const char* from, int64_t columns, int64_t have, int64_t more) {
    V<T> share = splat(static_cast<T>(static_cast<double>(more) / static_cast<double>(have + more)));
    V<T> weight = splat(
        static_cast<T>(static_cast<double>(have) * (static_cast<double>(more) / static_cast<double>(have + more))));
    for (int64_t c = 0; c < columns; c += N<T>) {
      int64_t n = columns - c < N<T> ? columns - c : N<T>;
      char *mean = into + c * sizeof(T), *squares = into + (columns + c) * sizeof(T);
      V<T> a = partial_load<T>(mean, n), d = partial_load<T>(from + c * sizeof(T), n) - a;
      partial_store<T>(mean, a + d * share, n);
      partial_store<T>(
          squares, partial_load<T>(squares, n) + partial_load<T>(from + (columns + c) * sizeof(T), n) + d * d * weight,
          n);
    }
  }

  template <class T>
  static void finish(char* const* outs, const char* states, int64_t columns, int64_t count, const void* scalars) {
    Scalars<T, F::kScalars> s(scalars);
    for (int64_t c = 0; c < columns; c += N<T>) {
      int64_t n = columns - c < N<T> ? columns - c : N<T>;
      V<T> nothing = splat(T(__builtin_nan(""))), a[2] = {nothing, splat(T(0))}, r[F::kResults];
      if (count)
        for (int k = 0; k < 2; ++k) a[k] = partial_load<T>(states + (k * columns + c) * sizeof(T), n);
      F::template finish<T>(a, splat(static_cast<T>(count)), s.values, r);
      for (int k = 0; k < F::kResults; ++k) partial_store<T>(outs[k] + c * sizeof(T), r[k], n);
    }
  }

  template <class T>
  static constexpr ReduceLoops loops{rows<T>, columns<T>, combine<T>, finish<T>};
};

}  // namespace taeda::cpu::TAEDA_ISA
