// Lines in and out of the transform's buffers, and what is done to whole buffers, for one instruction set.
#pragma once
#include <cstring>
#include <utility>

#include "backend/cpu/fft/fft_butterflies.h"

namespace taeda::cpu::TAEDA_ISA {
namespace {

using fft::Split;
using fft::Strided;

// --- lanes that change places

// Blocks of kGrain lanes of a and b in turn; the lower halves, or the upper ones.
template <class T, int kGrain, bool kUpper, size_t... kLane>
TAEDA_INLINE V<T> riffled(V<T> a, V<T> b, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(
      a, b,
      static_cast<int>(kLane / kGrain % 2 * N<T> + (kLane / kGrain / 2 + (kUpper ? N<T> / (2 * kGrain) : 0)) * kGrain +
                       kLane % kGrain)...);
}
// kCount vectors, a power of two, as one row: the same blocks taken from each in turn. This turns a square of blocks.
template <class T, int kCount, int kGrain>
TAEDA_INLINE void riffle(V<T>* v) {
  constexpr auto lanes = std::make_index_sequence<N<T>>();
  for (int round = 1; round < kCount; round *= 2) {
    V<T> out[kCount];
    for (int i = 0; i < kCount / 2; ++i) {
      out[2 * i] = riffled<T, kGrain, false>(v[i], v[i + kCount / 2], lanes);
      out[2 * i + 1] = riffled<T, kGrain, true>(v[i], v[i + kCount / 2], lanes);
    }
    for (int i = 0; i < kCount; ++i) v[i] = out[i];
  }
}

template <class T, size_t... kLane>
TAEDA_INLINE void separated(V<T>& a, V<T>& b, std::index_sequence<kLane...>) {
  const V<T> even = __builtin_shufflevector(a, b, static_cast<int>(2 * kLane)...);
  b = __builtin_shufflevector(a, b, static_cast<int>(2 * kLane + 1)...);
  a = even;
}
// (re, im) pairs in two vectors to a vector of each.
template <class T>
TAEDA_INLINE void separate(V<T>& a, V<T>& b) {
  separated<T>(a, b, std::make_index_sequence<N<T>>());
}
template <class T>
TAEDA_INLINE void join(V<T>& re, V<T>& im) {
  V<T> v[2] = {re, im};
  riffle<T, 2, 1>(v);
  re = v[0], im = v[1];
}

template <class T, size_t... kLane>
TAEDA_INLINE V<T> reversed(V<T> v, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(v, v, static_cast<int>(N<T> - 1 - kLane)...);
}
template <class T>
TAEDA_INLINE V<T> load_reversed(const T* p) {
  return reversed<T>(load<T>(p), std::make_index_sequence<N<T>>());
}

// --- single elements, wherever they lie
template <class T>
TAEDA_INLINE T read(const T* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
template <class T>
TAEDA_INLINE void write(T* p, T value) {
  std::memcpy(p, &value, sizeof value);
}

// --- gathering and scattering

// The distance of neighbouring lines; 0 where it varies or there are none.
template <class T>
int64_t apart(const Strided<T>& lines) {
  if (lines.lines < 2) return 0;
  const int64_t first = lines.offsets[1] - lines.offsets[0];
  for (int64_t l = 2; l < lines.lines; ++l)
    if (lines.offsets[l] - lines.offsets[l - 1] != first) return 0;
  return first;
}
template <class T>
bool in_pairs(const Strided<T>& lines) {
  return lines.im == lines.re + 1;
}

template <class T>
void gather_line(const Strided<const T>& from, int64_t n, Split<T> to) {
  const T *re = from.re + from.offsets[0], *im = from.im ? from.im + from.offsets[0] : nullptr;
  int64_t j = 0;
  if (in_pairs(from) && from.step == 2) {
    for (; j + N<T> <= n; j += N<T>) {
      V<T> a = load<T>(re + 2 * j), b = load<T>(re + 2 * j + N<T>);
      separate<T>(a, b);
      store<T>(to.re + j, a), store<T>(to.im + j, b);
    }
  }
  for (; j < n; ++j) {
    to.re[j] = read(re + j * from.step);
    to.im[j] = im ? read(im + j * from.step) : T(0);
  }
}

// Lines side by side: element j of all of them is a row.
template <class T>
void gather_rows(const Strided<const T>& from, int64_t n, Split<T> to) {
  const int64_t count = from.lines;
  const bool pairs = in_pairs(from) && apart(from) == 2;
  for (int64_t j = 0; j < n; ++j) {
    const int64_t at = from.offsets[0] + j * from.step;
    V<T> a, b = V<T>{};
    if (pairs) {
      const int64_t first = std::min<int64_t>(2 * count, N<T>);
      a = partial_load<T>(from.re + at, first);
      b = partial_load<T>(from.re + at + first, 2 * count - first);
      separate<T>(a, b);
    } else {
      a = partial_load<T>(from.re + at, count);
      if (from.im) b = partial_load<T>(from.im + at, count);
    }
    store<T>(to.re + j * N<T>, a), store<T>(to.im + j * N<T>, b);
  }
}

// Contiguous lines of pairs, as many as lanes: squares of kPairs x kPairs pairs are turned. Gives the elements done.
template <class T>
int64_t gather_turned(const Strided<const T>& from, int64_t n, Split<T> to) {
  constexpr int kPairs = N<T> / 2;
  int64_t j = 0;
  for (; j + kPairs <= n; j += kPairs) {
    V<T> a[kPairs], b[kPairs];
    for (int l = 0; l < kPairs; ++l) {
      a[l] = load<T>(from.re + from.offsets[l] + 2 * j);
      b[l] = load<T>(from.re + from.offsets[l + kPairs] + 2 * j);
    }
    if constexpr (kPairs > 1) riffle<T, kPairs, 2>(a), riffle<T, kPairs, 2>(b);
    for (int k = 0; k < kPairs; ++k) {
      separate<T>(a[k], b[k]);
      store<T>(to.re + (j + k) * N<T>, a[k]), store<T>(to.im + (j + k) * N<T>, b[k]);
    }
  }
  return j;
}

template <class T>
void gather(const Strided<const T>& from, int64_t n, int64_t lanes, Split<T> to) {
  if (lanes == 1) return gather_line(from, n, to);
  const int64_t distance = apart(from);
  if (distance == 1 || (distance == 2 && in_pairs(from))) return gather_rows(from, n, to);
  int64_t j = 0;
  if (from.lines == lanes && in_pairs(from) && from.step == 2) j = gather_turned(from, n, to);
  for (; j < n; ++j) {
    T *re = to.re + j * N<T>, *im = to.im + j * N<T>;
    for (int l = 0; l < N<T>; ++l) {
      const int64_t at = from.offsets[std::min<int64_t>(l, from.lines - 1)] + j * from.step;
      re[l] = read(from.re + at);
      im[l] = from.im ? read(from.im + at) : T(0);
    }
  }
}

template <class T>
void scatter_line(Split<const T> from, int64_t n, T scale, const Strided<T>& to) {
  T *re = to.re + to.offsets[0], *im = to.im ? to.im + to.offsets[0] : nullptr;
  const V<T> factor = splat(scale);
  int64_t j = 0;
  if (in_pairs(to) && to.step == 2) {
    for (; j + N<T> <= n; j += N<T>) {
      V<T> a = load<T>(from.re + j) * factor, b = load<T>(from.im + j) * factor;
      join<T>(a, b);
      store<T>(re + 2 * j, a), store<T>(re + 2 * j + N<T>, b);
    }
  }
  for (; j < n; ++j) {
    write(re + j * to.step, from.re[j] * scale);
    if (im) write(im + j * to.step, from.im[j] * scale);
  }
}

template <class T>
void scatter_rows(Split<const T> from, int64_t n, T scale, const Strided<T>& to) {
  const int64_t count = to.lines;
  const bool pairs = in_pairs(to) && apart(to) == 2;
  const V<T> factor = splat(scale);
  for (int64_t j = 0; j < n; ++j) {
    const int64_t at = to.offsets[0] + j * to.step;
    V<T> a = load<T>(from.re + j * N<T>) * factor, b = load<T>(from.im + j * N<T>) * factor;
    if (pairs) {
      const int64_t first = std::min<int64_t>(2 * count, N<T>);
      join<T>(a, b);
      partial_store<T>(to.re + at, a, first);
      partial_store<T>(to.re + at + first, b, 2 * count - first);
    } else {
      partial_store<T>(to.re + at, a, count);
      if (to.im) partial_store<T>(to.im + at, b, count);
    }
  }
}

template <class T>
int64_t scatter_turned(Split<const T> from, int64_t n, T scale, const Strided<T>& to) {
  constexpr int kPairs = N<T> / 2;
  const V<T> factor = splat(scale);
  int64_t j = 0;
  for (; j + kPairs <= n; j += kPairs) {
    V<T> a[kPairs], b[kPairs];
    for (int k = 0; k < kPairs; ++k) {
      a[k] = load<T>(from.re + (j + k) * N<T>) * factor, b[k] = load<T>(from.im + (j + k) * N<T>) * factor;
      join<T>(a[k], b[k]);
    }
    if constexpr (kPairs > 1) riffle<T, kPairs, 2>(a), riffle<T, kPairs, 2>(b);
    for (int l = 0; l < kPairs; ++l) {
      store<T>(to.re + to.offsets[l] + 2 * j, a[l]);
      store<T>(to.re + to.offsets[l + kPairs] + 2 * j, b[l]);
    }
  }
  return j;
}

template <class T>
void scatter(Split<const T> from, int64_t n, int64_t lanes, T scale, const Strided<T>& to) {
  if (lanes == 1) return scatter_line(from, n, scale, to);
  const int64_t distance = apart(to);
  if (distance == 1 || (distance == 2 && in_pairs(to))) return scatter_rows(from, n, scale, to);
  int64_t j = 0;
  if (to.lines == lanes && in_pairs(to) && to.step == 2) j = scatter_turned(from, n, scale, to);
  for (; j < n; ++j) {
    const T *re = from.re + j * N<T>, *im = from.im + j * N<T>;
    for (int64_t l = 0; l < to.lines; ++l) {
      const int64_t at = to.offsets[l] + j * to.step;
      write(to.re + at, re[l] * scale);
      if (to.im) write(to.im + at, im[l] * scale);
    }
  }
}

// --- whole buffers

template <class T>
void multiply(Split<T> x, int64_t n, int64_t lanes, Split<const T> factors) {
  auto at = [&](int64_t i, int64_t count, V<T> c, V<T> s) {
    V<T> re = partial_load<T>(x.re + i, count), im = partial_load<T>(x.im + i, count);
    rotate<T>(re, im, c, s);
    partial_store<T>(x.re + i, re, count), partial_store<T>(x.im + i, im, count);
  };
  if (lanes > 1) {
    for (int64_t k = 0; k < n; ++k) at(k * N<T>, N<T>, splat(factors.re[k]), splat(factors.im[k]));
    return;
  }
  for (int64_t i = 0; i < n; i += N<T>) {
    const int64_t count = std::min<int64_t>(N<T>, n - i);
    at(i, count, partial_load<T>(factors.re + i, count), partial_load<T>(factors.im + i, count));
  }
}

template <class T>
void turn(Split<T> x, int64_t n, Split<const T> turns, Split<const T> steps) {
  for (int64_t k = 0; k < n; ++k) {
    V<T> re = load<T>(x.re + k * N<T>), im = load<T>(x.im + k * N<T>);
    V<T> c = load<T>(turns.re + k * N<T>), s = load<T>(turns.im + k * N<T>);
    rotate<T>(c, s, splat(steps.re[k]), splat(steps.im[k]));
    rotate<T>(re, im, c, s);
    store<T>(x.re + k * N<T>, re), store<T>(x.im + k * N<T>, im);
  }
}

// --- real numbers

// From number k and the conjugate of number h - k. Unpacked: half their sum, less i times half their difference turned
// by -angle. Packed: their sum, plus i times their difference turned by the angle.
template <bool kUnpack, class X>
TAEDA_INLINE void join_two(X ar, X ai, X br, X bi, X c, X s, X half, X& re, X& im) {
  X sum_r = ar + br, sum_i = ai - bi, less_r = ar - br, less_i = ai + bi;
  if constexpr (kUnpack) {
    sum_r *= half, sum_i *= half, less_r *= half, less_i *= half;
    re = sum_r + (c * less_i - s * less_r);
    im = sum_i - (s * less_i + c * less_r);
  } else {
    re = sum_r - (s * less_r + c * less_i);
    im = sum_i + (c * less_r - s * less_i);
  }
}

template <class T, bool kUnpack>
void join_ends(Split<const T> x, int64_t h, int64_t lanes, Split<const T> turns, Split<T> y) {
  auto whole = [](V<T> ar, V<T> ai, V<T> br, V<T> bi, V<T> c, V<T> s, T* re, T* im) {
    V<T> r, i;
    join_two<kUnpack>(ar, ai, br, bi, c, s, splat(T(0.5)), r, i);
    store<T>(re, r), store<T>(im, i);
  };
  if (lanes > 1) {
    for (int64_t k = 1; k < h; ++k) {
      const int64_t a = k * N<T>, b = (h - k) * N<T>;
      whole(load<T>(x.re + a), load<T>(x.im + a), load<T>(x.re + b), load<T>(x.im + b), splat(turns.re[k]),
            splat(turns.im[k]), y.re + a, y.im + a);
    }
    return;
  }
  int64_t k = 1;
  for (; k + N<T> <= h; k += N<T>) {
    const int64_t b = h - k - N<T> + 1;
    whole(load<T>(x.re + k), load<T>(x.im + k), load_reversed<T>(x.re + b), load_reversed<T>(x.im + b),
          load<T>(turns.re + k), load<T>(turns.im + k), y.re + k, y.im + k);
  }
  for (; k < h; ++k) {
    join_two<kUnpack>(x.re[k], x.im[k], x.re[h - k], x.im[h - k], turns.re[k], turns.im[k], T(0.5), y.re[k], y.im[k]);
  }
}

template <class T>
void unpack(Split<const T> x, int64_t h, int64_t lanes, Split<const T> turns, Split<T> y) {
  join_ends<T, true>(x, h, lanes, turns, y);
  for (int64_t l = 0; l < lanes; ++l) {
    const T sum = x.re[l] + x.im[l], less = x.re[l] - x.im[l];
    y.re[l] = sum, y.im[l] = 0;
    y.re[h * lanes + l] = less, y.im[h * lanes + l] = 0;
  }
}

// The imaginary parts of the first and the last number do not count.
template <class T>
void pack(Split<const T> x, int64_t h, int64_t lanes, Split<const T> turns, Split<T> y) {
  join_ends<T, false>(x, h, lanes, turns, y);
  for (int64_t l = 0; l < lanes; ++l) {
    const T first = x.re[l], last = x.re[h * lanes + l];
    y.re[l] = first + last, y.im[l] = first - last;
  }
}

}  // namespace
}  // namespace taeda::cpu::TAEDA_ISA
