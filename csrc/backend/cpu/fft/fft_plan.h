// Plans: how lines of a length are transformed, with the tables for it. Plans are cached; the cache is bounded.
#pragma once
#include <memory>
#include <vector>

#include "backend/cpu/fft/fft.h"

namespace taeda::cpu::fft {

template <class T>
struct Table {
  std::vector<T> re, im;
  void resize(int64_t n) { re.resize(n), im.resize(n); }
  Split<const T> view() const { return {re.data(), im.data()}; }
};

// A long line as a matrix of rows x columns numbers: its columns are transformed, turned and stored; then its rows
// (Bailey, "FFTs in external or hierarchical memory", 1990).
template <class T>
struct Matrix {
  Direct<T> columns, rows;  // of lengths `height` and `width`
  int64_t height, width;
  Table<T> turns;              // exp(-2 pi i k l / n) for each k < height and each lane l
  Table<double> coarse, fine;  // of multiples of 2^shift, and of those below
  int shift;
};

template <class T>
struct Plan;

// A transform as a convolution with exp(pi i k^2 / n), done by transforms of a longer and better length (Bluestein, "A
// linear filtering approach to the computation of discrete Fourier transform", 1970).
template <class T>
struct Chirp {
  std::shared_ptr<const Plan<T>> inner;
  Table<T> factors, spectrum;
};

// One of the three; `rows` is how many numbers a buffer must hold.
template <class T>
struct Plan {
  int64_t n, rows;
  std::unique_ptr<const Direct<T>> direct;
  std::unique_ptr<const Matrix<T>> matrix;
  std::unique_ptr<const Chirp<T>> chirp;
  // Whether it works on one line alone, over all threads.
  bool single() const { return matrix || (chirp && chirp->inner->single()); }
  size_t bytes = 0;
};

// Of n complex numbers, or of n real ones. Real lines of an even length are packed into n / 2 complex numbers.
template <class T>
struct RealPlan {
  int64_t n;
  std::shared_ptr<const Plan<T>> plan;
  Table<T> turns;  // empty for an odd length
  size_t bytes = 0;
};

template <class T>
std::shared_ptr<const Plan<T>> plan_of(int64_t n);
template <class T>
std::shared_ptr<const RealPlan<T>> real_plan_of(int64_t n);

// exp(-2 pi i k / n), each part to half a unit in the last place.
struct Root {
  double re, im;
};
Root root(int64_t k, int64_t n);

}  // namespace taeda::cpu::fft
