// exp and erf of float where AVX-512 makes them shorter than a call of libmvec. Included by vec_math.h.
#pragma once

namespace taeda::cpu::TAEDA_ISA {

#if defined(__AVX512F__)
constexpr uint16_t kAllLanes = 0xffff;
constexpr int kCurrentRounding = 4;

TAEDA_INLINE V<float> multiply_add(V<float> a, V<float> b, V<float> c) {
  return __builtin_ia32_vfmaddps512_mask(a, b, c, kAllLanes, kCurrentRounding);
}
// c[0] + c[1] x + ... + c[n - 1] x^(n - 1)
template <int n>
TAEDA_INLINE V<float> polynomial(const float (&c)[n], V<float> x) {
  V<float> sum = splat(c[n - 1]);
  for (int i = n - 2; i >= 0; --i) sum = multiply_add(sum, x, splat(c[i]));
  return sum;
}
TAEDA_INLINE V<float> at_most(float bound, V<float> x) {  // NaN passes
  return __builtin_ia32_minps512_mask(splat(bound), x, x, kAllLanes, kCurrentRounding);
}
TAEDA_INLINE V<float> at_least(float bound, V<float> x) {
  return __builtin_ia32_maxps512_mask(splat(bound), x, x, kAllLanes, kCurrentRounding);
}

// e^x for -104 <= x <= 89: x = n ln 2 + r with |r| <= ln 2 / 2, and e^r = 1 + r + r^2 q(r), q a minimax polynomial.
TAEDA_INLINE V<float> bounded_exp(V<float> x) {
  constexpr float kRounder = 0x1.8p23f, kLog2E = 0x1.715476p0f, kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  constexpr float q[] = {0x1.fffffcp-2f, 0x1.55549p-3f, 0x1.5558f4p-5f, 0x1.123a6cp-7f, 0x1.6a234ep-10f};
  V<float> n = multiply_add(x, splat(kLog2E), splat(kRounder)) - kRounder;
  V<float> r = multiply_add(n, splat(-kLn2Low), multiply_add(n, splat(-kLn2High), x));
  V<float> p = multiply_add(r * r, polynomial(q, r), r) + 1.0f;
  return __builtin_ia32_scalefps512_mask(p, n, p, kAllLanes, kCurrentRounding);
}
TAEDA_INLINE V<float> short_exp(V<float> x) { return bounded_exp(at_least(-104, at_most(89, x))); }  // within 1 ULP

// |x| < 0.8: x p(x^2). Beyond: 1 - e^-q(|x|), q being a fit of -log(erfc), until that is 1. Within 2.5 ULP.
TAEDA_INLINE V<float> short_erf(V<float> x) {
  constexpr float p[] = {1.1283791637008576f,    -0.3761260138841606f,  0.11283112810679842f,
                         -0.026820806604501240f, 0.005085130219334247f, -0.0006535234661332246f};
  constexpr float q[] = {5.684167763466098e-05f, 1.1282713845641978f,   0.636142055681717f,      0.10487645217201537f,
                         -0.022697410700426857f, 0.003164900179960401f, -0.00020870048192948376f};
  V<float> size = abs<float>(x);
  V<float> far = copysign<float>(1.0f - bounded_exp(-polynomial(q, at_most(4, size))), x);
  return size < 0.8f ? x * polynomial(p, x * x) : far;
}

template <>
[[gnu::always_inline]] inline V<float> exp<float>(V<float> x) {
  return short_exp(x);
}
template <>
[[gnu::always_inline]] inline V<float> erf<float>(V<float> x) {
  return short_erf(x);
}
#endif

}  // namespace taeda::cpu::TAEDA_ISA
