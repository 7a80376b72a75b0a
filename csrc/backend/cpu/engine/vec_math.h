// The functions of formulas, by the names of taedagen/opdef/intrinsics.py. Included by vec.h.
#pragma once

// --- libmvec: _ZGV<instruction set>N<lanes>v_<name>; elsewhere libm, lane by lane
#if defined(__x86_64__) && defined(__gnu_linux__)
#define TAEDA_VECTOR_LIBM 1
#define TAEDA_PASTE_(a, b, c, d, e, f) a##b##c##d##e##f
#define TAEDA_PASTE(a, b, c, d, e, f) TAEDA_PASTE_(a, b, c, d, e, f)
#if TAEDA_VECTOR_BYTES == 64
#define TAEDA_MVEC(args, name) TAEDA_PASTE(_ZGV, eN8, args, _, name, )
#define TAEDA_MVECF(args, name) TAEDA_PASTE(_ZGV, eN16, args, _, name, f)
#elif TAEDA_VECTOR_BYTES == 32
#define TAEDA_MVEC(args, name) TAEDA_PASTE(_ZGV, dN4, args, _, name, )
#define TAEDA_MVECF(args, name) TAEDA_PASTE(_ZGV, dN8, args, _, name, f)
#else
#define TAEDA_MVEC(args, name) TAEDA_PASTE(_ZGV, bN2, args, _, name, )
#define TAEDA_MVECF(args, name) TAEDA_PASTE(_ZGV, bN4, args, _, name, f)
#endif
#else
#define TAEDA_VECTOR_LIBM 0
#endif

namespace taeda::cpu::TAEDA_ISA {

#if TAEDA_VECTOR_LIBM
#define TAEDA_LIBM1(name)                              \
  extern "C" V<float> TAEDA_MVECF(v, name)(V<float>);  \
  extern "C" V<double> TAEDA_MVEC(v, name)(V<double>); \
  template <class T>                                   \
  TAEDA_INLINE V<T> name(V<T> x) {                     \
    if constexpr (is_cx<T>)                            \
      return math::name(x);                            \
    else if constexpr (sizeof(T) == 4)                 \
      return TAEDA_MVECF(v, name)(x);                  \
    else                                               \
      return TAEDA_MVEC(v, name)(x);                   \
  }
#define TAEDA_LIBM2(name)                                          \
  extern "C" V<float> TAEDA_MVECF(vv, name)(V<float>, V<float>);   \
  extern "C" V<double> TAEDA_MVEC(vv, name)(V<double>, V<double>); \
  template <class T>                                               \
  TAEDA_INLINE V<T> vector_##name(V<T> x, V<T> y) {                \
    if constexpr (sizeof(T) == 4)                                  \
      return TAEDA_MVECF(vv, name)(x, y);                          \
    else                                                           \
      return TAEDA_MVEC(vv, name)(x, y);                           \
  }
#else
#define TAEDA_LIBM1(name)                                      \
  template <class T>                                           \
  TAEDA_INLINE V<T> name(V<T> x) {                             \
    if constexpr (is_cx<T>)                                    \
      return math::name(x);                                    \
    else                                                       \
      return lanes<T>(x, [](T a) { return T(std::name(a)); }); \
  }
#define TAEDA_LIBM2(name)                                               \
  template <class T>                                                    \
  TAEDA_INLINE V<T> vector_##name(V<T> x, V<T> y) {                     \
    return lanes<T>(x, y, [](T a, T b) { return T(std::name(a, b)); }); \
  }
#endif
// clang-format off
TAEDA_LIBM1(exp) TAEDA_LIBM1(exp2) TAEDA_LIBM1(expm1) TAEDA_LIBM1(log) TAEDA_LIBM1(log2) TAEDA_LIBM1(log10) TAEDA_LIBM1(log1p)
TAEDA_LIBM1(sin) TAEDA_LIBM1(cos) TAEDA_LIBM1(tan) TAEDA_LIBM1(asin) TAEDA_LIBM1(acos) TAEDA_LIBM1(atan)
TAEDA_LIBM1(sinh) TAEDA_LIBM1(cosh) TAEDA_LIBM1(tanh) TAEDA_LIBM1(asinh) TAEDA_LIBM1(acosh) TAEDA_LIBM1(atanh)
TAEDA_LIBM1(erf) TAEDA_LIBM1(erfc)
TAEDA_LIBM2(pow) TAEDA_LIBM2(atan2) TAEDA_LIBM2(hypot)
// clang-format on

// --- rounding and signs
#define TAEDA_LANES1(name, expression)                       \
  template <class T>                                         \
  TAEDA_INLINE V<T> name(V<T> x) {                           \
    if constexpr (is_cx<T>)                                  \
      return math::name(x);                                  \
    else                                                     \
      return lanes<T>(x, [](T a) { return T(expression); }); \
  }
#define TAEDA_ROUND(name, function)                                       \
  template <class T>                                                      \
  TAEDA_INLINE V<T> name(V<T> x) {                                        \
    if constexpr (sizeof(T) == 4)                                         \
      return lanes<T>(x, [](T a) { return __builtin_##function##f(a); }); \
    else                                                                  \
      return lanes<T>(x, [](T a) { return __builtin_##function(a); });    \
  }
    // clang-format off
TAEDA_ROUND(floor, floor) TAEDA_ROUND(ceil, ceil) TAEDA_ROUND(trunc, trunc)
TAEDA_ROUND(round, nearbyint)  // halves to even
TAEDA_LANES1(sqrt, sizeof(T) == 4 ? __builtin_sqrtf(a) : __builtin_sqrt(a));
// clang-format on

// a * b + c, rounded once
template <class T>
TAEDA_INLINE V<T> fma(V<T> a, V<T> b, V<T> c) {
#if defined(__AVX512F__)
  constexpr int kCurrentRounding = 4;
  if constexpr (sizeof(T) == 4)
    return __builtin_ia32_vfmaddps512_mask(a, b, c, 0xffff, kCurrentRounding);
  else
    return __builtin_ia32_vfmaddpd512_mask(a, b, c, 0xff, kCurrentRounding);
#elif defined(__FMA__)
  if constexpr (sizeof(T) == 4)
    return __builtin_ia32_vfmaddps256(a, b, c);
  else
    return __builtin_ia32_vfmaddpd256(a, b, c);
#else
  V<T> r;
  for (int i = 0; i < N<T>; ++i)
    r[i] = sizeof(T) == 4 ? __builtin_fmaf(a[i], b[i], c[i]) : __builtin_fma(a[i], b[i], c[i]);
  return r;
#endif
}
// The same where the machine has an instruction for it, else rounded twice.
template <class T>
TAEDA_INLINE V<T> multiply_add(V<T> a, V<T> b, V<T> c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return fma<T>(a, b, c);
#else
  return a * b + c;
#endif
}
// c[0] + c[1] x + ... + c[n - 1] x^(n - 1)
template <class T, int n>
TAEDA_INLINE V<T> polynomial(const T (&c)[n], V<T> x) {
  V<T> sum = splat(c[n - 1]);
  for (int i = n - 2; i >= 0; --i) sum = multiply_add<T>(sum, x, splat(c[i]));
  return sum;
}
template <class T>
TAEDA_INLINE V<T> abs(V<T> x) {
  if constexpr (is_cx<T>)
    return math::abs(x);
  else if constexpr (is_fp<T>)
    return of_bits<T>(bits_of<T>(x) & ~sign_bit<T>());
  else if constexpr (T(-1) > T(0))
    return x;
  else
    return x < splat(T(0)) ? -x : x;
}
template <class T>
TAEDA_INLINE M<T> signbit(V<T> x) {
  if constexpr (T(-1) > T(0))
    return const_mask<T>(false);
  else
    return bits_of<T>(x) < 0;
}
template <class T>
TAEDA_INLINE V<T> copysign(V<T> a, V<T> b) {
  return of_bits<T>((bits_of<T>(a) & ~sign_bit<T>()) | (bits_of<T>(b) & sign_bit<T>()));
}

// --- classes of numbers; integers are all finite
template <class T>
TAEDA_INLINE M<T> isnan(V<T> x) {
  return x != x;
}
template <class T>
TAEDA_INLINE M<T> isinf(V<T> x) {
  if constexpr (is_cx<T>)
    return __builtin_isinf(x.re) || __builtin_isinf(x.im);
  else if constexpr (is_fp<T>)
    return abs<T>(x) == splat(T(__builtin_inf()));
  else
    return const_mask<T>(false);
}
template <class T>
TAEDA_INLINE M<T> isfinite(V<T> x) {
  if constexpr (is_cx<T>)
    return __builtin_isfinite(x.re) && __builtin_isfinite(x.im);
  else if constexpr (is_fp<T>)
    return abs<T>(x) < splat(T(__builtin_inf()));
  else
    return const_mask<T>(true);
}

// --- extrema: maximum and minimum pass NaN on, fmax and fmin prefer numbers
// a > b ? a : b, and so b beside a NaN: one instruction, which the compiler does not find.
template <class T>
TAEDA_INLINE V<T> greater_of(V<T> a, V<T> b) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) return __builtin_ia32_maxps512_mask(a, b, V<T>{}, -1, 4);
  if constexpr (std::is_same_v<T, double>) return __builtin_ia32_maxpd512_mask(a, b, V<T>{}, -1, 4);
#elif defined(__AVX2__)
  if constexpr (std::is_same_v<T, float>) return __builtin_ia32_maxps256(a, b);
  if constexpr (std::is_same_v<T, double>) return __builtin_ia32_maxpd256(a, b);
#endif
  return a > b ? a : b;
}
template <class T>
TAEDA_INLINE V<T> less_of(V<T> a, V<T> b) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) return __builtin_ia32_minps512_mask(a, b, V<T>{}, -1, 4);
  if constexpr (std::is_same_v<T, double>) return __builtin_ia32_minpd512_mask(a, b, V<T>{}, -1, 4);
#elif defined(__AVX2__)
  if constexpr (std::is_same_v<T, float>) return __builtin_ia32_minps256(a, b);
  if constexpr (std::is_same_v<T, double>) return __builtin_ia32_minpd256(a, b);
#endif
  return a < b ? a : b;
}
template <class T>
TAEDA_INLINE V<T> maximum(V<T> a, V<T> b) {
  V<T> larger = greater_of<T>(a, b);
  if constexpr (is_fp<T>) return a != a ? a : larger;
  return larger;
}
template <class T>
TAEDA_INLINE V<T> minimum(V<T> a, V<T> b) {
  V<T> smaller = less_of<T>(a, b);
  if constexpr (is_fp<T>) return a != a ? a : smaller;
  return smaller;
}
template <class T>
TAEDA_INLINE V<T> fmax(V<T> a, V<T> b) {
  return ((a > b) | (b != b)) ? a : b;
}
template <class T>
TAEDA_INLINE V<T> fmin(V<T> a, V<T> b) {
  return ((a < b) | (b != b)) ? a : b;
}

// --- division. Integers: truncdiv and fmod round towards zero as C does, floordiv and pymod down as Python does.
template <class T>
TAEDA_INLINE void check_divisor(V<T> b) {
  bool zero = false;
  for (int i = 0; i < N<T>; ++i) zero |= b[i] == 0;
  if (zero) [[unlikely]]
    integer_division_by_zero();
}
// INT_MIN / -1 traps; dividing by -1 is negation, which wraps.
template <class T>
TAEDA_INLINE V<T> truncdiv(V<T> a, V<T> b) {
  if constexpr (is_fp<T>) {
    return trunc<T>(a / b);
  } else {
    check_divisor<T>(b);
    return lanes<T>(a, b, [](T x, T y) -> T { return y == T(-1) && T(-1) < T(0) ? T(0 - uint64_t(x)) : T(x / y); });
  }
}
#if defined(__FMA__)
// With q the whole part of a / b, a - q b is exact. Where the division was rounded up to it, q is too large by 1 and
// the remainder has the wrong sign. Not `good` where T does not hold all digits of q, or b is infinite.
template <class T>
TAEDA_INLINE V<T> fmod_by_quotient(V<T> a, V<T> b, bool& good) {
  constexpr T kMost = sizeof(T) == 4 ? T(1 << 23) : T(int64_t{1} << 52);
  V<T> q = trunc<T>(a / b), r = fma<T>(-q, b, a), zero = splat(T(0));
  M<T> fits = (abs<T>(q) < kMost) & (r == r);
  for (int i = 0; i < N<T>; ++i) good &= fits[i] != 0;
  r = ((r != zero) & ((r < zero) ^ (a < zero))) ? r + copysign<T>(b, a) : r;
  return copysign<T>(r, a);
}
#endif
template <class T>
TAEDA_INLINE V<T> fmod(V<T> a, V<T> b) {
  if constexpr (is_fp<T>) {
#if defined(__FMA__)
    bool good = true;
    V<T> r = fmod_by_quotient<T>(a, b, good);
    if (good) [[likely]]
      return r;
#endif
    return lanes<T>(a, b, [](T x, T y) -> T { return sizeof(T) == 4 ? __builtin_fmodf(x, y) : __builtin_fmod(x, y); });
  } else {
    check_divisor<T>(b);
    return lanes<T>(a, b, [](T x, T y) -> T { return y == T(-1) && T(-1) < T(0) ? T(0) : T(x % y); });
  }
}
template <class T>
TAEDA_INLINE V<T> pymod(V<T> a, V<T> b) {
  V<T> r = fmod<T>(a, b), zero = splat(T(0));
  return ((r != zero) & ((r < zero) ^ (b < zero))) ? r + b : r;
}
template <class T>
TAEDA_INLINE V<T> floordiv(V<T> a, V<T> b) {
  V<T> zero = splat(T(0)), one = splat(T(1));
  if constexpr (is_fp<T>) {
    // The quotient is exact up to rounding once the remainder is taken off, so the nearest integer is the answer.
    V<T> r = fmod<T>(a, b), q = (a - r) / b;
    q = ((r != zero) & ((r < zero) ^ (b < zero))) ? q - one : q;
    V<T> down = floor<T>(q);
    down = (q - down > splat(T(0.5))) ? down + one : down;
    down = (q == zero) ? copysign<T>(zero, a / b) : down;
    return (b == zero) ? a / b : down;
  } else {
    V<T> q = truncdiv<T>(a, b);
    return ((q * b != a) & ((a < zero) ^ (b < zero))) ? q - one : q;
  }
}

// --- powers
template <class T>
TAEDA_INLINE T integer_power(T base, T exponent) {
  if constexpr (T(-1) < T(0)) {
    if (exponent < 0) return base == 1 ? T(1) : base == T(-1) ? (exponent & 1 ? T(-1) : T(1)) : T(0);
  }
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (auto e = static_cast<uint64_t>(exponent); e; e >>= 1, square *= square)
    if (e & 1) result *= square;
  return static_cast<T>(result);
}
template <class T>
TAEDA_INLINE V<T> pow(V<T> a, V<T> b) {
  if constexpr (is_cx<T>)
    return math::pow(a, b);
  else if constexpr (is_fp<T>)
    return vector_pow<T>(a, b);
  else
    return lanes<T>(a, b, [](T x, T y) { return integer_power(x, y); });
}
template <class T>
TAEDA_INLINE V<T> atan2(V<T> a, V<T> b) {
  return vector_atan2<T>(a, b);
}
template <class T>
TAEDA_INLINE V<T> hypot(V<T> a, V<T> b) {
  return vector_hypot<T>(a, b);
}

// --- integers: shifting by the width or more leaves nothing but the sign
template <class T>
constexpr auto kWidth = static_cast<T>(8 * sizeof(T));
template <class T>
TAEDA_INLINE V<T> shift_left(V<T> a, V<T> b) {
  M<T> good = (b >= splat(T(0))) & (b < splat(kWidth<T>));
  return good ? a << (good ? b : splat(T(0))) : splat(T(0));
}
template <class T>
TAEDA_INLINE V<T> shift_right(V<T> a, V<T> b) {
  M<T> good = (b >= splat(T(0))) & (b < splat(kWidth<T>));
  if constexpr (std::is_unsigned_v<T>) return good ? a >> (good ? b : splat(T(0))) : splat(T(0));
  return a >> (good ? b : splat(T(kWidth<T> - 1)));
}
template <class T>
TAEDA_INLINE V<T> gcd(V<T> a, V<T> b) {
  return lanes<T>(abs<T>(a), abs<T>(b), [](T x, T y) {
    while (y != 0) {
      T r = x % y;
      x = y;
      y = r;
    }
    return x;
  });
}

// --- complex parts; a real result sits in the real part
template <class T>
TAEDA_INLINE V<T> conj(V<T> x) {
  if constexpr (is_cx<T>)
    return {x.re, -x.im};
  else
    return x;
}
template <class T>
TAEDA_INLINE V<T> real(V<T> x) {
  if constexpr (is_cx<T>)
    return {x.re};
  else
    return x;
}
template <class T>
TAEDA_INLINE V<T> imag(V<T> x) {
  if constexpr (is_cx<T>)
    return {x.im};
  else
    return splat(T(0));
}
template <class T>
TAEDA_INLINE V<T> complex(V<T> re, V<T> im) {
  return {re.re, im.re};
}
template <class T>
TAEDA_INLINE V<T> angle(V<T> x) {
  if constexpr (is_cx<T>)
    return {std::atan2(x.im, x.re)};
  else
    return x != x ? x : signbit<T>(x) & (x != splat(T(0))) ? splat(T(3.14159265358979323846)) : splat(T(0));
}

// --- functions of one number at a time, from math.h
#define TAEDA_SCALAR1(name)                                \
  template <class T>                                       \
  TAEDA_INLINE V<T> name(V<T> x) {                         \
    return lanes<T>(x, [](T a) { return math::name(a); }); \
  }
#define TAEDA_SCALAR2(name)                                           \
  template <class T>                                                  \
  TAEDA_INLINE V<T> name(V<T> x, V<T> y) {                            \
    return lanes<T>(x, y, [](T a, T b) { return math::name(a, b); }); \
  }
// clang-format off
TAEDA_SCALAR1(lgamma) TAEDA_SCALAR1(digamma) TAEDA_SCALAR1(erfinv)
TAEDA_SCALAR1(i0) TAEDA_SCALAR1(i0e) TAEDA_SCALAR1(i1) TAEDA_SCALAR1(i1e)
TAEDA_SCALAR1(ndtri) TAEDA_SCALAR1(log_ndtr) TAEDA_SCALAR1(erfcx)
TAEDA_SCALAR1(bessel_j0) TAEDA_SCALAR1(bessel_j1) TAEDA_SCALAR1(bessel_y0) TAEDA_SCALAR1(bessel_y1)
TAEDA_SCALAR1(bessel_k0) TAEDA_SCALAR1(bessel_k1) TAEDA_SCALAR1(bessel_k0e) TAEDA_SCALAR1(bessel_k1e)
TAEDA_SCALAR1(airy_ai) TAEDA_SCALAR1(mantissa) TAEDA_SCALAR1(exponent)
TAEDA_SCALAR2(chebyshev_t) TAEDA_SCALAR2(chebyshev_u) TAEDA_SCALAR2(chebyshev_v) TAEDA_SCALAR2(chebyshev_w)
TAEDA_SCALAR2(hermite_h) TAEDA_SCALAR2(hermite_he) TAEDA_SCALAR2(laguerre_l) TAEDA_SCALAR2(legendre_p)
TAEDA_SCALAR2(nextafter) TAEDA_SCALAR2(igamma) TAEDA_SCALAR2(igammac) TAEDA_SCALAR2(zeta) TAEDA_SCALAR2(polygamma);
// clang-format on
template <class T>
TAEDA_INLINE V<T> next_half(V<T> x, V<T> y, V<T> digits) {
  V<T> r;
  for (int i = 0; i < N<T>; ++i) r[i] = math::next_half(x[i], y[i], digits[i]);
  return r;
}

}  // namespace taeda::cpu::TAEDA_ISA

#include "backend/cpu/engine/vec_exp.h"
#include "backend/cpu/engine/vec_special.h"
