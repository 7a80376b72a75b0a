// Short transforms over vectors: result k is the sum over j of x[j] exp(-2 pi i j k / R), in place.
#pragma once
#include "backend/cpu/engine/vec.h"
#include "backend/cpu/fft/fft.h"

namespace taeda::cpu::TAEDA_ISA {
namespace {

// re + i im times c + i s.
template <class T>
TAEDA_INLINE void rotate(V<T>& re, V<T>& im, V<T> c, V<T> s) {
  const V<T> old = re;
  re = multiply_add<T>(re, c, -(im * s));
  im = multiply_add<T>(old, s, im * c);
}

template <class T>
TAEDA_INLINE void sum_and_difference(V<T>& a, V<T>& b) {
  const V<T> sum = a + b;
  b = a - b;
  a = sum;
}

template <class T>
TAEDA_INLINE void butterfly2(V<T>* re, V<T>* im, int a, int b) {
  sum_and_difference<T>(re[a], re[b]);
  sum_and_difference<T>(im[a], im[b]);
}

// Of the numbers at a, b, c, d; results in their order.
template <class T>
TAEDA_INLINE void butterfly4(V<T>* re, V<T>* im, int a, int b, int c, int d) {
  butterfly2<T>(re, im, a, c);  // a + c, a - c
  butterfly2<T>(re, im, b, d);  // b + d, b - d
  butterfly2<T>(re, im, a, b);  // results 0 and 2, the latter at b
  const V<T> r = re[c], i = im[c], turned_r = im[d], turned_i = -re[d];
  const V<T> second_r = re[b], second_i = im[b];
  re[b] = r + turned_r, im[b] = i + turned_i;
  re[d] = r - turned_r, im[d] = i - turned_i;
  re[c] = second_r, im[c] = second_i;
}

template <class T>
TAEDA_INLINE void butterfly8(V<T>* re, V<T>* im) {
  const V<T> half = splat(T(0.70710678118654752440));
  butterfly4<T>(re, im, 0, 2, 4, 6);
  butterfly4<T>(re, im, 1, 3, 5, 7);
  V<T> even_r[4] = {re[0], re[2], re[4], re[6]}, even_i[4] = {im[0], im[2], im[4], im[6]};
  V<T> odd_r[4] = {re[1], (re[3] + im[3]) * half, im[5], (im[7] - re[7]) * half};
  V<T> odd_i[4] = {im[1], (im[3] - re[3]) * half, -re[5], (re[7] + im[7]) * -half};
  for (int k = 0; k < 4; ++k) {
    re[k] = even_r[k] + odd_r[k], im[k] = even_i[k] + odd_i[k];
    re[k + 4] = even_r[k] - odd_r[k], im[k + 4] = even_i[k] - odd_i[k];
  }
}

// cos and sin of 2 pi j / R for j up to R / 2.
template <class T, int R>
struct Roots;
template <class T>
struct Roots<T, 3> {
  static constexpr T cos[] = {1, T(-0.5)}, sin[] = {0, T(0.86602540378443864676)};
};
template <class T>
struct Roots<T, 5> {
  static constexpr T cos[] = {1, T(0.30901699437494742410), T(-0.80901699437494742410)};
  static constexpr T sin[] = {0, T(0.95105651629515357212), T(0.58778525229247312917)};
};
template <class T>
struct Roots<T, 7> {
  static constexpr T cos[] = {1, T(0.62348980185873353053), T(-0.22252093395631440429), T(-0.90096886790241912624)};
  static constexpr T sin[] = {0, T(0.78183148246802980871), T(0.97492791218182360702), T(0.43388373911755812048)};
};

// An odd radix: results k and R - k come of the sums and the differences of the numbers j and R - j.
template <class T, int R>
TAEDA_INLINE void butterfly_odd(V<T>* re, V<T>* im) {
  constexpr int H = R / 2;
  for (int j = 1; j <= H; ++j) butterfly2<T>(re, im, j, R - j);
  V<T> a_r[H], a_i[H], b_r[H], b_i[H];
#pragma GCC unroll 4
  for (int k = 1; k <= H; ++k) {
    V<T> ar = re[0], ai = im[0], br = V<T>{}, bi = V<T>{};
#pragma GCC unroll 4
    for (int j = 1; j <= H; ++j) {
      const int turn = j * k % R, at = turn <= H ? turn : R - turn;
      const V<T> c = splat(Roots<T, R>::cos[at]), s = splat(turn <= H ? Roots<T, R>::sin[at] : -Roots<T, R>::sin[at]);
      ar = multiply_add<T>(c, re[j], ar), ai = multiply_add<T>(c, im[j], ai);
      br = j == 1 ? s * re[R - j] : multiply_add<T>(s, re[R - j], br);
      bi = j == 1 ? s * im[R - j] : multiply_add<T>(s, im[R - j], bi);
    }
    a_r[k - 1] = ar, a_i[k - 1] = ai, b_r[k - 1] = br, b_i[k - 1] = bi;
  }
  for (int j = 1; j <= H; ++j) re[0] += re[j], im[0] += im[j];
  for (int k = 1; k <= H; ++k) {
    re[k] = a_r[k - 1] + b_i[k - 1], im[k] = a_i[k - 1] - b_r[k - 1];
    re[R - k] = a_r[k - 1] - b_i[k - 1], im[R - k] = a_i[k - 1] + b_r[k - 1];
  }
}

template <class T, int R>
TAEDA_INLINE void butterfly(V<T>* re, V<T>* im) {
  if constexpr (R == 2)
    butterfly2<T>(re, im, 0, 1);
  else if constexpr (R == 4)
    butterfly4<T>(re, im, 0, 1, 2, 3);
  else if constexpr (R == 8)
    butterfly8<T>(re, im);
  else
    butterfly_odd<T, R>(re, im);
}

// The same for a radix of run time; roots: its cosines, then its sines.
template <class T>
void odd_butterfly(int R, const T* roots, V<T>* re, V<T>* im) {
  const int H = R / 2;
  V<T> out_r[fft::kMaxRadix], out_i[fft::kMaxRadix];
  for (int j = 1; j <= H; ++j) butterfly2<T>(re, im, j, R - j);
  for (int k = 1; k <= H; ++k) {
    V<T> ar = re[0], ai = im[0], br = V<T>{}, bi = V<T>{};
    for (int j = 1, turn = k; j <= H; ++j) {
      const V<T> c = splat(roots[turn]), s = splat(roots[R + turn]);
      ar = multiply_add<T>(c, re[j], ar), ai = multiply_add<T>(c, im[j], ai);
      br = multiply_add<T>(s, re[R - j], br), bi = multiply_add<T>(s, im[R - j], bi);
      turn += k;
      if (turn >= R) turn -= R;
    }
    out_r[k] = ar + bi, out_i[k] = ai - br;
    out_r[R - k] = ar - bi, out_i[R - k] = ai + br;
  }
  for (int j = 1; j <= H; ++j) re[0] += re[j], im[0] += im[j];
  for (int k = 1; k < R; ++k) re[k] = out_r[k], im[k] = out_i[k];
}

}  // namespace
}  // namespace taeda::cpu::TAEDA_ISA
