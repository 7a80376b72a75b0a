// Special functions of float over a vector, where math.h's, one number at a time, would take ten times as long; double
// keeps to those. Polynomials are minimax fits of the relative error. Included by vec_math.h.
#pragma once

namespace taeda::cpu::TAEDA_ISA {

// f of the numbers as double, which leaves float right to the last bit or nearly so
template <class F>
TAEDA_INLINE V<float> in_double(V<float> x, const F& f) {
  typedef float Half __attribute__((vector_size(TAEDA_VECTOR_BYTES / 2)));
  Half halves[2];
  std::memcpy(halves, &x, sizeof x);
  for (Half& half : halves) half = __builtin_convertvector(f(__builtin_convertvector(half, V<double>)), Half);
  std::memcpy(&x, halves, sizeof x);
  return x;
}

// --- modified Bessel functions of the first kind. Up to 9 the power series in (x/2)^2, all of whose terms are positive
// (Abramowitz & Stegun 9.6.10), above it e^|x| / sqrt|x| times a polynomial in 1 / |x|.
struct BesselSeries {
  double c[18];  // 1 / (k! (k + order)!)
  constexpr explicit BesselSeries(int order) : c() {
    double term = 1;
    for (int k = 0; k < 18; term /= (k + 1.0) * (k + 1 + order), ++k) c[k] = term;
  }
};

template <int order, bool scaled>  // by e^-|x|
TAEDA_INLINE V<double> bessel_i(V<double> x) {
  constexpr BesselSeries series(order);
  constexpr double tail[2][7] = {{0.3989422806081378, 0.049867616722829126, 0.028072896797537123, 0.028131556759628223,
                                  0.06925761291327301, -0.17471111850958962, 1.4249023247799022},
                                 {0.39894228016406136, -0.14960316331068027, -0.04677628596479394, -0.03967930353889182,
                                  -0.08511602189028376, 0.18738473404579659, -1.6155783484325528}};
  V<double> size = abs<double>(x), half = x * 0.5, power = exp<double>(scaled ? -size : size);
  M<double> far = size > 9.0;
  V<double> value = polynomial<double>(series.c, half * half);
  if (order) value *= half;
  if (scaled) value *= power;
  bool near = true;
  for (int i = 0; i < N<double>; ++i) near &= !far[i];
  if (near) return value;
  V<double> far_value = polynomial<double>(tail[order], 1.0 / size) / sqrt<double>(size);
  if (!scaled) far_value *= power;
  if (order) far_value = copysign<double>(far_value, x);
  return far ? far_value : value;
}

// --- x times a function of w = -log(1 - x^2), which is nearly linear (M. Giles, Approximating the erfinv function,
// 2010)
TAEDA_INLINE V<float> short_erfinv(V<float> x) {
  constexpr float near[] = {1.5014093592824915f,     0.24664028615345437f,   -0.004177386781083088f,
                            -0.0012527418784498666f, 0.0002183444394264553f, -4.9633478530805615e-06f,
                            -3.462704758531415e-06f, 4.661706636179809e-07f, 2.3232644288875927e-08f,
                            -8.791056451054888e-09f};
  constexpr float far[] = {2.8329767981383926f,     1.0016750202307718f,    0.009445496432274604f,
                           -0.0076382009625084405f, 0.0056850415068858354f, -0.003593011153774536f,
                           0.001490410862233757f,   -6.51162205895367e-05f, -0.0003139973108609657f,
                           0.00012132587820895621f};
  V<float> one = splat(1.0f), size = abs<float>(x), inside = size < one ? x : splat(0.0f);  // log is slow beyond
  V<float> w = -log<float>((one - inside) * (one + inside));
  V<float> factor = w > 5.0f ? polynomial<float>(far, sqrt<float>(w) - 3.0f) : polynomial<float>(near, w - 2.5f);
  factor = size < one ? factor : size == one ? splat(__builtin_inff()) : splat(__builtin_nanf(""));
  return x * factor;
}

// --- the logarithm of gamma, in double as its parts cancel near 1 and 2: Stirling's series (Abramowitz &
// Stegun 6.1.41) from 8 on, to which gamma(x) = gamma(x + 8) / (x (x + 1) ... (x + 7)) leads
TAEDA_INLINE V<double> stirling_log_gamma(V<double> x) {
  constexpr double c[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                          1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400};
  V<double> product = splat(1.0), shifted = x;
  for (int k = 0; k < 8; ++k, shifted += 1.0) product *= shifted;
  product = x < 8.0 ? product : splat(1.0);
  V<double> z = x < 8.0 ? shifted : x, inverse = 1.0 / z, series = polynomial<double>(c, inverse * inverse) * inverse;
  V<double> value = (z - 0.5) * log<double>(z) - z + 0.9189385332046727418 + series - log<double>(product);
  return (x == 1.0) | (x == 2.0) ? splat(0.0) : value;
}
TAEDA_INLINE V<float> short_lgamma(V<float> x) {
  bool usual = true;
  for (int i = 0; i < N<float>; ++i) usual &= x[i] > 0 && x[i] < __builtin_inff();
  if (!usual) [[unlikely]]
    return lanes<float>(x, [](float a) { return math::lgamma(a); });
  return in_double(x, stirling_log_gamma);
}

#define TAEDA_FLOAT(name, expression)                              \
  template <>                                                      \
  [[gnu::always_inline]] inline V<float> name<float>(V<float> x) { \
    return expression;                                             \
  }
TAEDA_FLOAT(i0, in_double(x, bessel_i<0, false>))
TAEDA_FLOAT(i1, in_double(x, bessel_i<1, false>))
TAEDA_FLOAT(i0e, in_double(x, bessel_i<0, true>))
TAEDA_FLOAT(i1e, in_double(x, bessel_i<1, true>))
TAEDA_FLOAT(erfinv, short_erfinv(x))
TAEDA_FLOAT(lgamma, short_lgamma(x))
#undef TAEDA_FLOAT

}  // namespace taeda::cpu::TAEDA_ISA
