// Functions of one number that need loops or branches, so that no formula over vectors can say them. The CPU's
// compilers and NVRTC both read this file. float is computed in double throughout: these are slow by nature, and
// accuracy is what a caller wants of them.
#pragma once
#include "backend/common/complex.h"
#include "backend/common/temme.h"

namespace taeda::math {

#if !defined(__CUDACC_RTC__)
using std::acos, std::acosh, std::atan2, std::ceil, std::cos, std::cosh, std::erf, std::erfc, std::exp, std::expm1,
    std::fabs, std::floor, std::fmax, std::fmin, std::fmod, std::frexp, std::ldexp, std::log, std::log1p, std::pow,
    std::sin, std::sinh, std::sqrt, std::tan, std::trunc;
#endif

constexpr double kPi = 3.14159265358979323846;
constexpr double kInfinity = __builtin_huge_val();
constexpr double kNan = __builtin_nan("");
constexpr double kEpsilon = 2.220446049250313e-16;

// B(2k) / (2k)! for k = 1 .. 10, the weights of Euler-Maclaurin sums.
#define TAEDA_EULER_MACLAURIN     \
  {1.0 / 12,                      \
   -1.0 / 720,                    \
   1.0 / 30240,                   \
   -1.0 / 1209600,                \
   1.0 / 47900160,                \
   -691.0 / 1307674368000,        \
   1.0 / 74724249600,             \
   -3617.0 / 10670622842880000,   \
   43867.0 / 5109094217170944000, \
   -174611.0 / 802857662698291200000.0}

namespace detail {

// --- gamma and its derivatives
TAEDA_MATH double log_gamma(double x) {
#if defined(__CUDACC_RTC__)
  return ::lgamma(x);
#else
  int sign;
  return ::lgamma_r(x, &sign);  // lgamma itself writes a global
#endif
}

// The reflection psi(1 - x) = psi(x) + pi / tan(pi x) for negative x, the recurrence up to 10, then the asymptotic
// series log x - 1/(2x) - sum B(2k) / (2k x^2k) (Abramowitz & Stegun 6.3.18).
TAEDA_MATH double digamma(double x) {
  if (x == 0) return __builtin_copysign(kInfinity, -x);
  if (x < 0 && x == trunc(x)) return kNan;
  double result = 0;
  if (x < 0) {
    double whole = trunc(x);
    result = -kPi / tan(kPi * (x - whole));
    x = 1 - x;
  }
  for (; x < 10; x += 1) result -= 1 / x;
  constexpr double kWeights[] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12};
  double square = 1 / (x * x), power = square;
  for (double weight : kWeights) {
    result -= weight * power;
    power *= square;
  }
  return result + log(x) - 0.5 / x;
}

// Hurwitz's zeta by Euler-Maclaurin: the first terms one by one, then the integral and its corrections.
TAEDA_MATH double zeta(double s, double q) {
  if (s == 1) return kInfinity;
  if (s < 1) return kNan;
  if (q <= 0 && q == floor(q)) return kInfinity;
  if (q < 0 && s != floor(s)) return kNan;
  if (q == kInfinity) return 0;
  double sum = 0;
  int terms = 0;
  for (; terms < 12 || q < 1; ++terms, q += 1) {
    double term = pow(q, -s);
    sum += term;
    if (terms >= 12 && fabs(term) < kEpsilon * fabs(sum)) return sum;
  }
  double power = pow(q, -s);
  sum += pow(q, 1 - s) / (s - 1) + 0.5 * power;
  constexpr double kWeights[] = TAEDA_EULER_MACLAURIN;
  double factor = s, scale = power / q;
  for (int k = 0; k < 10; ++k) {
    sum += kWeights[k] * factor * scale;
    factor *= (s + 2 * k + 1) * (s + 2 * k + 2);
    scale /= q * q;
  }
  return sum;
}

TAEDA_MATH double polygamma(double order, double x) {
  if (order == 0) return digamma(x);
  if (order == 1 && x < 0) {  // reflected, since zeta takes a step for each unit below 1
    double sine = sin(kPi * (x - floor(x)));
    return sine == 0 ? kInfinity : kPi * kPi / (sine * sine) - zeta(2, 1 - x);
  }
  double value = exp(log_gamma(order + 1)) * zeta(order + 1, x);
  return static_cast<long long>(order) % 2 ? value : -value;
}

// --- the incomplete gamma functions
// mu - log(1 + mu)
TAEDA_MATH double minus_log1p(double mu) {
  if (fabs(mu) > 0.3) return mu - log1p(mu);
  double sum = 0, power = mu * mu;
  for (int k = 2; fabs(power) > kEpsilon * fabs(sum); power *= -mu, ++k) sum += power / k;
  return sum;
}

// x^a e^-x / gamma(a), of large a by Stirling's series, since logarithms of large numbers cancel.
TAEDA_MATH double gamma_prefactor(double a, double x) {
  if (a < 20) return exp(a * log(x) - x - log_gamma(a));
  double s = 1 / (a * a);
  double stirling = (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s / 1188)))) / a;
  return sqrt(a / (2 * kPi)) * exp(-a * minus_log1p((x - a) / a) - stirling);
}

// Near the diagonal, where the others converge slowly. N. M. Temme, The asymptotic expansion of the incomplete gamma
// functions, 1979; the upper function, or the lower.
TAEDA_MATH double igamma_uniform(double a, double x, bool upper) {
  constexpr double kTerms[10][16] = TAEDA_TEMME;
  double mu = (x - a) / a, half_square = minus_log1p(mu), eta = __builtin_copysign(sqrt(2 * half_square), mu);
  double rest = 0;
  for (int k = 9; k >= 0; --k) {
    double term = 0;
    for (int n = 15; n >= 0; --n) term = term * eta + kTerms[k][n];
    rest = rest / a + term;
  }
  rest *= exp(-a * half_square) / sqrt(2 * kPi * a);
  double sign = upper ? 1 : -1;
  return 0.5 * erfc(sign * eta * sqrt(a / 2)) + sign * rest;
}

TAEDA_MATH bool is_near_diagonal(double a, double x) { return a > 20 && fabs(x - a) < 0.3 * a; }

// x^a e^-x / gamma(a) * sum x^k / (a (a+1) ... (a+k)), for x below a + 1 or so.
TAEDA_MATH double igamma_series(double a, double x) {
  double term = 1 / a, sum = term;
  for (int k = 1; k < 5000 && fabs(term) > kEpsilon * fabs(sum); ++k) {
    term *= x / (a + k);
    sum += term;
  }
  return sum * gamma_prefactor(a, x);
}

// Lentz's evaluation of the continued fraction of the upper function, for x above a + 1.
TAEDA_MATH double igammac_fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, h = d;
  for (int i = 1; i < 5000; ++i) {
    double an = -i * (i - a);
    b += 2;
    d = an * d + b;
    c = b + an / c;
    d = 1 / (fabs(d) < kTiny ? kTiny : d);
    c = fabs(c) < kTiny ? kTiny : c;
    double delta = d * c;
    h *= delta;
    if (fabs(delta - 1) < kEpsilon) break;
  }
  return h * gamma_prefactor(a, x);
}

TAEDA_MATH double igamma(double a, double x) {
  if (x < 0 || a < 0 || a != a || x != x) return kNan;
  if (a == 0) return x > 0 ? 1 : kNan;
  if (x == 0) return 0;
  if (a == kInfinity) return x == kInfinity ? kNan : 0;
  if (x == kInfinity) return 1;
  if (is_near_diagonal(a, x)) return igamma_uniform(a, x, false);
  return x < a + 1 ? igamma_series(a, x) : 1 - igammac_fraction(a, x);
}

TAEDA_MATH double igammac(double a, double x) {
  if (x < 0 || a < 0 || a != a || x != x) return kNan;
  if (a == 0) return x > 0 ? 0 : kNan;
  if (x == 0) return 1;
  if (a == kInfinity) return x == kInfinity ? kNan : 1;
  if (x == kInfinity) return 0;
  if (is_near_diagonal(a, x)) return igamma_uniform(a, x, true);
  return x < a + 1 ? 1 - igamma_series(a, x) : igammac_fraction(a, x);
}

// --- the error function's relatives
// erfc(x) = q for 0 < q <= 1: a closed-form guess (S. Winitzki, 2008) and Halley's steps.
TAEDA_MATH double erfcinv_lower(double q) {
  double l = log(q * (2 - q)), half = 2 / (kPi * 0.147) + l / 2;
  double x = sqrt(sqrt(half * half - l / 0.147) - half);
  if (q < 1e-4) x = sqrt(-log(q * x * sqrt(kPi)));
  for (int i = 0; i < 3; ++i) {
    double step = (erfc(x) - q) / (2 / sqrt(kPi) * exp(-x * x));
    x += step / (1 + x * step);
  }
  return x;
}

TAEDA_MATH double erfinv(double y) {
  double size = fabs(y);
  if (!(size <= 1)) return kNan;
  if (size == 1) return __builtin_copysign(kInfinity, y);
  if (size > 0.5) return __builtin_copysign(erfcinv_lower(1 - size), y);
  double x = y * (sqrt(kPi) / 2) * (1 + y * y * (kPi / 12));
  for (int i = 0; i < 3; ++i) {
    double step = (erf(x) - y) / (2 / sqrt(kPi) * exp(-x * x));
    x -= step / (1 + x * step);
  }
  return x;
}

TAEDA_MATH double ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return kNan;
  if (p == 0 || p == 1) return p == 0 ? -kInfinity : kInfinity;
  double root2 = sqrt(2.0);
  if (p > 0.25 && p < 0.75) return root2 * erfinv(2 * p - 1);
  return p < 0.5 ? -root2 * erfcinv_lower(2 * p) : root2 * erfcinv_lower(2 * (1 - p));
}

// exp(x^2) erfc(x); the continued fraction of erfc, evaluated from its tail, where the product would lose digits.
TAEDA_MATH double erfcx(double x) {
  if (x < 2) return exp(x * x) * erfc(x);
  if (x > 1e8) return 1 / (x * sqrt(kPi));
  double tail = x;
  for (int k = 120; k > 0; --k) tail = x + 0.5 * k / tail;
  return 1 / (sqrt(kPi) * tail);
}

TAEDA_MATH double log_ndtr(double x) {
  double t = x / sqrt(2.0);
  return x < -1 ? log(erfcx(-t) / 2) - t * t : log1p(-erfc(t) / 2);
}

// --- modified Bessel functions of the first kind, scaled by e^-|x|: the power series, whose terms are all positive, up
// to 30 and the asymptotic series above (Abramowitz & Stegun 9.6.10, 9.7.1)
TAEDA_MATH double bessel_i_scaled(int order, double x) {
  double size = fabs(x), sign = order == 1 && x < 0 ? -1 : 1;
  if (size == kInfinity) return sign * 0.0;
  if (size <= 30) {
    double quarter = size * size / 4, term = order == 0 ? 1 : size / 2, sum = term;
    for (int k = 1; k < 200 && term > kEpsilon * sum; ++k) {
      term *= quarter / (k * (k + order));
      sum += term;
    }
    return sign * sum * exp(-size);
  }
  double mu = 4.0 * order * order, term = 1, sum = 1;
  for (int k = 1; k < 40; ++k) {
    double odd = 2 * k - 1;
    term *= (odd * odd - mu) / (k * 8 * size);
    sum += term;
    if (fabs(term) < kEpsilon) break;
  }
  return sign * sum / (sqrt(2 * kPi) * sqrt(size));
}
TAEDA_MATH double bessel_i(int order, double x) {
  double half = exp(fabs(x) / 2);  // in two steps, as e^|x| alone overflows first
  return bessel_i_scaled(order, x) * half * half;
}

// --- floating-point numbers taken apart
TAEDA_MATH double mantissa(double x) {
  int exponent;
  return frexp(x, &exponent);
}
TAEDA_MATH double exponent(double x) {
  int exponent = 0;
  if (fabs(x) < kInfinity) frexp(x, &exponent);
  return exponent;
}

// The number next to x on the way to y, of those that have `digits` binary digits: 11 of float16, 8 of bfloat16.
TAEDA_MATH double next_half(double x, double y, double digits) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  const double lowest = digits == 11 ? 0x1p-24 : 0x1p-133, top = digits == 11 ? 0x1p16 : 0x1p128;
  if (x == 0) return __builtin_copysign(lowest, y);
  if (fabs(x) == kInfinity) return __builtin_copysign(top * (1 - ldexp(1, -static_cast<int>(digits))), x);
  int exponent;
  double part = frexp(fabs(x), &exponent);
  if (part == 0.5 && (y > x) != (x > 0)) --exponent;  // below a power of two the numbers lie twice as close
  double step = fmax(ldexp(1, exponent - static_cast<int>(digits)), lowest);
  return y > x ? x + step : x - step;
}

}  // namespace detail
}  // namespace taeda::math

#include "backend/common/bessel.h"
#include "backend/common/polynomials.h"

namespace taeda::math {

// --- what formulas call
#define TAEDA_SPECIAL1(name, expression) \
  template <class T>                     \
  TAEDA_MATH T name(T value) {           \
    double x = value;                    \
    return static_cast<T>(expression);   \
  }
#define TAEDA_SPECIAL2(name)                   \
  template <class T>                           \
  TAEDA_MATH T name(T a, T b) {                \
    return static_cast<T>(detail::name(a, b)); \
  }
TAEDA_SPECIAL1(lgamma, detail::log_gamma(x))
TAEDA_SPECIAL1(digamma, detail::digamma(x))
TAEDA_SPECIAL1(erfinv, detail::erfinv(x))
TAEDA_SPECIAL1(ndtri, detail::ndtri(x))
TAEDA_SPECIAL1(log_ndtr, detail::log_ndtr(x))
TAEDA_SPECIAL1(erfcx, detail::erfcx(x))
TAEDA_SPECIAL1(i0, detail::bessel_i(0, x))
TAEDA_SPECIAL1(i0e, detail::bessel_i_scaled(0, x))
TAEDA_SPECIAL1(i1, detail::bessel_i(1, x))
TAEDA_SPECIAL1(i1e, detail::bessel_i_scaled(1, x))
TAEDA_SPECIAL1(bessel_j0, ::j0(x))
TAEDA_SPECIAL1(bessel_j1, ::j1(x))
TAEDA_SPECIAL1(bessel_y0, x == 0 ? -kInfinity : x < 0 ? kNan : ::y0(x))
TAEDA_SPECIAL1(bessel_y1, x == 0 ? -kInfinity : x < 0 ? kNan : ::y1(x))
TAEDA_SPECIAL1(bessel_k0, detail::bessel_k(0, x))
TAEDA_SPECIAL1(bessel_k1, detail::bessel_k(1, x))
TAEDA_SPECIAL1(bessel_k0e, detail::bessel_k_scaled(0, x))
TAEDA_SPECIAL1(bessel_k1e, detail::bessel_k_scaled(1, x))
TAEDA_SPECIAL1(airy_ai, detail::airy_ai(x))
TAEDA_SPECIAL1(mantissa, detail::mantissa(x))
TAEDA_SPECIAL1(exponent, detail::exponent(x))
TAEDA_SPECIAL2(igamma)
TAEDA_SPECIAL2(igammac)
TAEDA_SPECIAL2(zeta)
TAEDA_SPECIAL2(polygamma)
TAEDA_SPECIAL2(chebyshev_t)
TAEDA_SPECIAL2(chebyshev_u)
TAEDA_SPECIAL2(chebyshev_v)
TAEDA_SPECIAL2(chebyshev_w)
TAEDA_SPECIAL2(hermite_h)
TAEDA_SPECIAL2(hermite_he)
TAEDA_SPECIAL2(laguerre_l)
TAEDA_SPECIAL2(legendre_p)
template <class T>
TAEDA_MATH T next_half(T x, T y, T digits) {
  return static_cast<T>(detail::next_half(x, y, digits));
}

TAEDA_MATH float nextafter(float a, float b) { return ::nextafterf(a, b); }
TAEDA_MATH double nextafter(double a, double b) { return ::nextafter(a, b); }

}  // namespace taeda::math
