// exp, erf and sqrt of float where AVX-512 makes them shorter than a call of libmvec or the one instruction. Included
// by vec_math.h.
#pragma once

namespace taeda::cpu::TAEDA_ISA {

#if defined(__AVX512F__)
constexpr uint16_t kAllLanes = 0xffff;
constexpr int kCurrentRounding = 4;

TAEDA_INLINE V<float> at_most(float bound, V<float> x) {  // NaN passes
  return __builtin_ia32_minps512_mask(splat(bound), x, x, kAllLanes, kCurrentRounding);
}
TAEDA_INLINE V<float> at_least(float bound, V<float> x) {
  return __builtin_ia32_maxps512_mask(splat(bound), x, x, kAllLanes, kCurrentRounding);
}

// e^x = 2^n (1 + p) for |x| < 2^20: x = n ln 2 + r with |r| <= ln 2 / 2, and p = r + r^2 q(r), q a minimax polynomial.
struct PowerOfE {
  V<float> n, p;
};
TAEDA_INLINE PowerOfE power_of_e(V<float> x) {
  constexpr float kRounder = 0x1.8p23f, kLog2E = 0x1.715476p0f, kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  constexpr float q[] = {0x1.fffffcp-2f, 0x1.55549p-3f, 0x1.5558f4p-5f, 0x1.123a6cp-7f, 0x1.6a234ep-10f};
  V<float> n = fma<float>(x, splat(kLog2E), splat(kRounder)) - kRounder;
  V<float> r = fma<float>(n, splat(-kLn2Low), fma<float>(n, splat(-kLn2High), x));
  return {n, fma<float>(r * r, polynomial<float>(q, r), r)};
}
TAEDA_INLINE V<float> times_power_of_two(V<float> x, V<float> n) {
  return __builtin_ia32_scalefps512_mask(x, n, x, kAllLanes, kCurrentRounding);
}

TAEDA_INLINE V<float> short_exp(V<float> x) {  // within 1 ULP; beyond the bounds it is 0 or infinite
  PowerOfE e = power_of_e(at_least(-104, at_most(89, x)));
  return times_power_of_two(e.p + 1.0f, e.n);
}

// 1 - erf(|x|) = 2^(|x| c(|x|)), c a minimax polynomial up to 4, from where erf is 1; the power is 2^n (1 + r q(r)).
// Within 3.2 ULP, as 2^n p + (2^n - 1) rounds nothing off where |x| is small.
TAEDA_INLINE V<float> short_erf(V<float> x) {
  constexpr float kRounder = 0x1.8p23f;
  constexpr float c[] = {-1.6279070377349854f,   -0.9184440970420837f,    -0.1483263224363327f,
                         0.027865586802363396f,  -0.0002835052437148988f, -0.0018151907715946436f,
                         0.0005528670735657215f, -5.915465590078384e-05f};
  constexpr float q[] = {0.6931471824645996f,   0.24022646248340607f,   0.05550354719161987f,
                         0.009618237614631653f, 0.0013390736421570182f, 0.0001540350931463763f};
  V<float> size = at_most(4, abs<float>(x));
  V<float> t = size * polynomial<float>(c, size), rounded = t + kRounder, r = t - (rounded - kRounder);
  auto scale = (V<float>)(((V<int32_t>)rounded << 23) + (V<int32_t>)splat(1.0f));  // n is in the last bits
  return copysign<float>(fma<float>(scale, r * polynomial<float>(q, r), scale - 1.0f), x);
}

// From an estimate of 1 / sqrt(x), by one step of Goldschmidt's and one of Markstein's: the very bits of the
// instruction, for every float, in two thirds of its time. Where products would underflow, and for what is no positive
// number, the instruction.
TAEDA_INLINE V<float> short_sqrt(V<float> x) {
  constexpr uint32_t kLeast = 0x12800000, kInfinite = 0x7f800000;  // 2^-90 and infinity
  constexpr int kNotLess = 5;
  using Unsigned = V<uint32_t>;
  auto above = (V<int32_t>)((Unsigned)x - kLeast), range = (V<int32_t>)splat(kInfinite - kLeast);
  if (__builtin_ia32_ucmpd512_mask(above, range, kNotLess, kAllLanes)) [[unlikely]]
    return __builtin_ia32_sqrtps512_mask(x, x, kAllLanes, kCurrentRounding);
  V<float> inverse = __builtin_ia32_rsqrt14ps512_mask(x, x, kAllLanes);
  V<float> root = x * inverse, half = inverse * 0.5f;
  V<float> error = fma<float>(-root, half, splat(0.5f));
  root = fma<float>(root, error, root);
  half = fma<float>(half, error, half);
  return fma<float>(fma<float>(-root, root, x), half, root);
}

template <>
[[gnu::always_inline]] inline V<float> exp<float>(V<float> x) {
  return short_exp(x);
}
template <>
[[gnu::always_inline]] inline V<float> erf<float>(V<float> x) {
  return short_erf(x);
}
template <>
[[gnu::always_inline]] inline V<float> sqrt<float>(V<float> x) {
  return short_sqrt(x);
}
#endif

}  // namespace taeda::cpu::TAEDA_ISA
