// Discrete Fourier transforms of lines of numbers: what is planned for a length, and the loops of each instruction set.
//
// A length whose prime factors are small is transformed by Stockham's self-sorting form of the Cooley-Tukey algorithm
// (Cooley and Tukey, "An algorithm for the machine calculation of complex Fourier series", 1965; Cochran et al., "What
// is the fast Fourier transform?", 1967): a pass per factor, each from one buffer to another. Real and imaginary parts
// lie apart. Several lines may lie interleaved, which the passes see as a larger stride.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/cpu/engine/isa.h"

namespace taeda::cpu::fft {

constexpr int kMaxRadix = 31;
constexpr int kMaxLanes = 16;

template <class T>
struct Split {
  T *re, *im;
  Split swapped() const { return {im, re}; }  // the backward transform is the forward one between swapped parts
};

// Line l has its element j at [offsets[l] + j * step]. An absent imaginary part reads as zero and is not written.
template <class T>
struct Strided {
  T *re, *im;
  const int64_t* offsets;
  int64_t lines, step;
};

// With n = radix * count * stride for the numbers not yet combined: reads at q + stride * (p + count * j), writes at
// q + stride * (radix * p + k), for q < stride, p < count, j and k < radix.
struct Pass {
  int radix;
  int64_t count, stride;
  size_t twiddles;  // offset in the table: (radix - 1) pairs for each p
  size_t wide;      // the same for narrow strides: for each k a row over all p and q, real parts and imaginary parts
  size_t roots;     // cosines and sines of the radix, where it is odd
};

template <class T>
struct Direct {
  int64_t n;
  std::vector<Pass> passes;
  std::vector<T> table;
};

template <class T>
struct Loops {
  int64_t lanes;
  // In turn from a to b and back. Returns where the result is.
  Split<T> (*transform)(const Direct<T>& plan, int64_t lanes, Split<T> a, Split<T> b);
  void (*gather)(const Strided<const T>& from, int64_t n, int64_t lanes, Split<T> to);
  void (*scatter)(Split<const T> from, int64_t n, int64_t lanes, T scale, const Strided<T>& to);
  // Row k of x times factors[k].
  void (*multiply)(Split<T> x, int64_t n, int64_t lanes, Split<const T> factors);
  // Row k of x times steps[k] times the k-th row of `turns`, all of as many numbers as there are lanes.
  void (*turn)(Split<T> x, int64_t n, Split<const T> turns, Split<const T> steps);
  // The transform of 2h real numbers, up to h, from that of the h complex ones made of pairs of them; and back, times
  // two. `turns` holds cos and sin of pi k / h, k < h.
  void (*unpack)(Split<const T> x, int64_t h, int64_t lanes, Split<const T> turns, Split<T> y);
  void (*pack)(Split<const T> x, int64_t h, int64_t lanes, Split<const T> turns, Split<T> y);
};

template <class T>
const Loops<T>& loops();

}  // namespace taeda::cpu::fft
