// The Fourier transform's passes for one instruction set; included by fft.<instruction set>.cpp.
#pragma once
#include <algorithm>
#include <utility>

#include "backend/cpu/fft/fft_buffers.h"
#include "backend/cpu/fft/fft_butterflies.h"

namespace taeda::cpu::TAEDA_ISA {
namespace {

using fft::Direct;
using fft::Pass;

// --- a pass whose stride is more than half a vector: one p after another

template <class T, int R, bool kWhole>
TAEDA_INLINE void wide_step(const T* w, int64_t apart, Split<const T> x, int64_t stride, Split<T> y) {
  auto read = [&](const T* p) { return kWhole ? load<T>(p) : partial_load<T>(p, stride); };
  auto write = [&](T* p, V<T> v) { kWhole ? store<T>(p, v) : partial_store<T>(p, v, stride); };
  V<T> re[R], im[R];
  for (int j = 0; j < R; ++j) re[j] = read(x.re + j * apart), im[j] = read(x.im + j * apart);
  butterfly<T, R>(re, im);
  write(y.re, re[0]), write(y.im, im[0]);
  for (int k = 1; k < R; ++k) {
    if (w) rotate<T>(re[k], im[k], splat(w[2 * k - 2]), splat(w[2 * k - 1]));
    write(y.re + k * stride, re[k]), write(y.im + k * stride, im[k]);
  }
}

template <class T, int R>
void wide_pass(const Pass& pass, const T* table, int64_t stride, Split<const T> x, Split<T> y) {
  const int64_t apart = stride * pass.count;
  for (int64_t p = 0; p < pass.count; ++p) {
    const T* w = p ? table + pass.twiddles + p * 2 * (R - 1) : nullptr;
    const Split<const T> from{x.re + p * stride, x.im + p * stride};
    const Split<T> to{y.re + p * R * stride, y.im + p * R * stride};
    auto step = [&](int64_t q) {
      wide_step<T, R, true>(w, apart, {from.re + q, from.im + q}, stride, {to.re + q, to.im + q});
    };
    if (stride < N<T>) {
      wide_step<T, R, false>(w, apart, from, stride, to);
      continue;
    }
    int64_t q = 0;
    for (; q + N<T> <= stride; q += N<T>) step(q);
    if (q < stride) step(stride - N<T>);  // once more over some: nothing is written that is read
  }
}

// --- a pass of one line whose stride is at most half a vector: several p at a time, a twiddle for each lane

// Vector k holds results k of as many p and q as it has lanes. Whole vectors of a stride that divides them:
template <class T, int R, int kStride>
TAEDA_INLINE void spread_blocks(V<T>* v, T* to) {
  if constexpr ((R & (R - 1)) == 0) {
    riffle<T, R, kStride>(v);
    for (int k = 0; k < R; ++k) store<T>(to + k * N<T>, v[k]);
  } else {
    T values[R][N<T>];
    for (int k = 0; k < R; ++k) store<T>(values[k], v[k]);
    for (int block = 0; block < N<T> / kStride; ++block)
      for (int k = 0; k < R; ++k)
        std::memcpy(to + (block * R + k) * kStride, values[k] + block * kStride, kStride * sizeof(T));
  }
}
template <class T, int R>
TAEDA_INLINE void spread(V<T>* v, int64_t begin, int64_t count, int64_t stride, T* y) {
  if (count == N<T> && begin % stride == 0) {
    T* to = y + begin * R;
    if (stride == 1) return spread_blocks<T, R, 1>(v, to);
    if constexpr (N<T> > 2)
      if (stride == 2) return spread_blocks<T, R, 2>(v, to);
    if constexpr (N<T> > 4)
      if (stride == 4) return spread_blocks<T, R, 4>(v, to);
    if constexpr (N<T> > 8)
      if (stride == 8) return spread_blocks<T, R, 8>(v, to);
  }
  T values[R][N<T>];
  for (int k = 0; k < R; ++k) store<T>(values[k], v[k]);
  int64_t p = begin / stride, q = begin % stride;
  for (int64_t i = 0; i < count;) {
    const int64_t run = std::min(stride - q, count - i);
    for (int k = 0; k < R; ++k) {
      T* to = y + (p * R + k) * stride + q;
      for (int64_t lane = 0; lane < run; ++lane) to[lane] = values[k][i + lane];
    }
    i += run, ++p, q = 0;
  }
}

template <class T, int R, bool kWhole>
TAEDA_INLINE void narrow_step(const T* w, int64_t row, int64_t total, int64_t i, int64_t stride, Split<const T> x,
                              Split<T> y) {
  const int64_t count = kWhole ? int64_t{N<T>} : total;
  auto read = [&](const T* p) { return kWhole ? load<T>(p) : partial_load<T>(p, count); };
  V<T> re[R], im[R];
  for (int j = 0; j < R; ++j) re[j] = read(x.re + i + j * total), im[j] = read(x.im + i + j * total);
  butterfly<T, R>(re, im);
  for (int k = 1; k < R; ++k) {
    const T* at = w + (k - 1) * 2 * row + i;
    rotate<T>(re[k], im[k], load<T>(at), load<T>(at + row));
  }
  spread<T, R>(re, i, count, stride, y.re);
  spread<T, R>(im, i, count, stride, y.im);
}

template <class T, int R>
void narrow_pass(const Pass& pass, const T* table, Split<const T> x, Split<T> y) {
  const int64_t total = pass.count * pass.stride, row = std::max<int64_t>(total, N<T>);
  const T* w = table + pass.wide;
  if (total < N<T>) return narrow_step<T, R, false>(w, row, total, 0, pass.stride, x, y);
  int64_t i = 0;
  for (; i + N<T> <= total; i += N<T>) narrow_step<T, R, true>(w, row, total, i, pass.stride, x, y);
  if (i < total) narrow_step<T, R, true>(w, row, total, total - N<T>, pass.stride, x, y);
}

// --- any odd radix: the butterfly is a loop

template <class T>
void odd_pass(const Pass& pass, const T* table, int64_t stride, Split<const T> x, Split<T> y) {
  const int R = pass.radix;
  const int64_t apart = stride * pass.count;
  V<T> re[fft::kMaxRadix], im[fft::kMaxRadix];
  for (int64_t p = 0; p < pass.count; ++p) {
    const T* w = table + pass.twiddles + p * 2 * (R - 1);
    for (int64_t q = 0; q < stride; q += N<T>) {
      const int64_t n = std::min<int64_t>(N<T>, stride - q), from = q + p * stride, to = q + p * R * stride;
      for (int j = 0; j < R; ++j) {
        re[j] = partial_load<T>(x.re + from + j * apart, n);
        im[j] = partial_load<T>(x.im + from + j * apart, n);
      }
      odd_butterfly<T>(R, table + pass.roots, re, im);
      for (int k = 0; k < R; ++k) {
        if (k && p) rotate<T>(re[k], im[k], splat(w[2 * k - 2]), splat(w[2 * k - 1]));
        partial_store<T>(y.re + to + k * stride, re[k], n);
        partial_store<T>(y.im + to + k * stride, im[k], n);
      }
    }
  }
}

template <class T, int R>
void run_pass(const Pass& pass, const T* table, int64_t lanes, Split<const T> x, Split<T> y) {
  const int64_t stride = pass.stride * lanes;
  2 * stride <= N<T> ? narrow_pass<T, R>(pass, table, x, y) : wide_pass<T, R>(pass, table, stride, x, y);
}

template <class T>
Split<T> transform(const Direct<T>& plan, int64_t lanes, Split<T> a, Split<T> b) {
  const T* table = plan.table.data();
  for (const Pass& pass : plan.passes) {
    const Split<const T> x{a.re, a.im};
    switch (pass.radix) {
      case 2:
        run_pass<T, 2>(pass, table, lanes, x, b);
        break;
      case 3:
        run_pass<T, 3>(pass, table, lanes, x, b);
        break;
      case 4:
        run_pass<T, 4>(pass, table, lanes, x, b);
        break;
      case 5:
        run_pass<T, 5>(pass, table, lanes, x, b);
        break;
      case 7:
        run_pass<T, 7>(pass, table, lanes, x, b);
        break;
      case 8:
        run_pass<T, 8>(pass, table, lanes, x, b);
        break;
      default:
        odd_pass<T>(pass, table, pass.stride * lanes, x, b);
    }
    std::swap(a, b);
  }
  return a;
}

template <class T>
constexpr fft::Loops<T> kLoops = {N<T>, transform<T>, gather<T>, scatter<T>, multiply<T>, turn<T>, unpack<T>, pack<T>};

}  // namespace

extern const fft::Loops<float> kFftF32;
extern const fft::Loops<double> kFftF64;
const fft::Loops<float> kFftF32 = kLoops<float>;
const fft::Loops<double> kFftF64 = kLoops<double>;

}  // namespace taeda::cpu::TAEDA_ISA
