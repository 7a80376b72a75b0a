#include "backend/cpu/fft/fft_run.h"

#include <algorithm>
#include <array>

#include "taeda/core/parallel.h"

namespace taeda::cpu {

#define TAEDA_DECLARE_FFT(isa)             \
  namespace isa {                          \
  extern const fft::Loops<float> kFftF32;  \
  extern const fft::Loops<double> kFftF64; \
  }
TAEDA_DECLARE_FFT(baseline)
#if defined(__x86_64__)
TAEDA_DECLARE_FFT(avx2)
TAEDA_DECLARE_FFT(avx512)
#endif

namespace fft {

template <>
const Loops<float>& loops<float>() {
#if defined(__x86_64__)
  if (kIsa == Isa::Avx512) return avx512::kFftF32;
  if (kIsa == Isa::Avx2) return avx2::kFftF32;
#endif
  return baseline::kFftF32;
}
template <>
const Loops<double>& loops<double>() {
#if defined(__x86_64__)
  if (kIsa == Isa::Avx512) return avx512::kFftF64;
  if (kIsa == Isa::Avx2) return avx2::kFftF64;
#endif
  return baseline::kFftF64;
}

namespace {

template <class T>
Split<const T> constant(Split<T> x) {
  return {x.re, x.im};
}

// exp(-2 pi i row * column / n) for every row.
template <class T>
void steps_to(const Matrix<T>& m, int64_t column, Split<T> steps) {
  const int64_t mask = (int64_t{1} << m.shift) - 1;
  for (int64_t row = 0; row < m.height; ++row) {
    const int64_t k = row * column, high = k >> m.shift, low = k & mask;
    const double ar = m.coarse.re[high], ai = m.coarse.im[high], br = m.fine.re[low], bi = m.fine.im[low];
    steps.re[row] = static_cast<T>(ar * br - ai * bi), steps.im[row] = static_cast<T>(ar * bi + ai * br);
  }
}

// Lines `apart` from `begin` on, as many as there are up to the number of lanes.
struct Block {
  std::array<int64_t, kMaxLanes> offsets;
  int64_t lines;
  Block(int64_t offset, int64_t apart, int64_t index, int64_t lanes, int64_t count)
      : lines(std::min(lanes, count - index)) {
    for (int64_t l = 0; l < lines; ++l) offsets[l] = offset + (index + l) * apart;
  }
};

template <class T>
Split<T> run_chirp(const Chirp<T>& chirp, int64_t n, int64_t lanes, Split<T> a, Split<T> b) {
  const Loops<T>& l = loops<T>();
  const int64_t rows = chirp.inner->n;
  const T* const first = a.re;
  l.multiply(a, n, lanes, chirp.factors.view());
  std::fill(a.re + n * lanes, a.re + rows * lanes, T(0));
  std::fill(a.im + n * lanes, a.im + rows * lanes, T(0));
  Split<T> spectrum = run(*chirp.inner, lanes, a, b);
  l.multiply(spectrum, rows, lanes, chirp.spectrum.view());
  Split<T> other = spectrum.re == first ? b : a;
  Split<T> result = run(*chirp.inner, lanes, spectrum.swapped(), other.swapped()).swapped();
  l.multiply(result, n, lanes, chirp.factors.view());
  return result;
}

constexpr int64_t kPiece = 1 << 15;  // numbers of a matrix that one thread takes at a time

}  // namespace

template <class T>
void run_matrix(const Matrix<T>& m, bool backward, const Strided<const T>& from, T scale, const Strided<T>& to) {
  const Loops<T>& l = loops<T>();
  const int64_t lanes = l.lanes, height = m.height, width = m.width;
  auto side = [&](Split<T> x) { return backward ? x.swapped() : x; };
  auto grain = [&](int64_t length) { return std::max<int64_t>(1, kPiece / (length * lanes)); };
  Buffer<T> turned(height * width);
  T* middle = turned.data();
  parallel_for(0, (width + lanes - 1) / lanes, grain(height), [&](int64_t begin, int64_t end) {
    Buffer<T> a(height * lanes), b(height * lanes), steps(height);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t column = i * lanes;
      Block in(from.offsets[0], from.step, column, lanes, width), out(0, 2, column, lanes, width);
      l.gather({from.re, from.im, in.offsets.data(), in.lines, from.step * width}, height, lanes, side(a.split()));
      Split<T> x = l.transform(m.columns, lanes, a.split(), b.split());
      steps_to(m, column, steps.split());
      l.turn(x, height, m.turns.view(), constant(steps.split()));
      l.scatter(constant(x), height, lanes, 1, {middle, middle + 1, out.offsets.data(), out.lines, 2 * width});
    }
  });
  parallel_for(0, (height + lanes - 1) / lanes, grain(width), [&](int64_t begin, int64_t end) {
    Buffer<T> a(width * lanes), b(width * lanes);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i * lanes;
      Block in(0, 2 * width, row, lanes, height), out(to.offsets[0], to.step, row, lanes, height);
      l.gather({middle, middle + 1, in.offsets.data(), in.lines, 2}, width, lanes, a.split());
      Split<T> x = side(l.transform(m.rows, lanes, a.split(), b.split()));
      l.scatter(constant(x), width, lanes, scale, {to.re, to.im, out.offsets.data(), out.lines, to.step * height});
    }
  });
}

template <class T>
Split<T> run(const Plan<T>& plan, int64_t lanes, Split<T> a, Split<T> b) {
  if (plan.direct) return loops<T>().transform(*plan.direct, lanes, a, b);
  if (plan.chirp) return run_chirp(*plan.chirp, plan.n, lanes, a, b);
  const int64_t start = 0;
  run_matrix<T>(*plan.matrix, false, {a.re, a.im, &start, 1, 1}, 1, {b.re, b.im, &start, 1, 1});
  return b;
}

template Split<float> run(const Plan<float>&, int64_t, Split<float>, Split<float>);
template Split<double> run(const Plan<double>&, int64_t, Split<double>, Split<double>);
template void run_matrix(const Matrix<float>&, bool, const Strided<const float>&, float, const Strided<float>&);
template void run_matrix(const Matrix<double>&, bool, const Strided<const double>&, double, const Strided<double>&);

}  // namespace fft

}  // namespace taeda::cpu
