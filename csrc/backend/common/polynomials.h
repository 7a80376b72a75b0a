// Orthogonal polynomials of degree n at one double x; n is cut to a whole number, and below 0 there is nothing. Read by
// math.h. Small degrees run up the three-term recurrence, whose integer coefficients stay exact; Chebyshev's, which are
// sines and cosines in disguise, go on in closed form (DLMF 18.5.1 to 18.5.4). Very large degrees of Laguerre's and
// Legendre's take Bessel's functions, with errors of the order of n^-2.
#pragma once

namespace taeda::math::detail {

constexpr int kExactDegrees = 16, kStepDegrees = 1 << 20;
constexpr double kOverflow = 1400;  // I0 of that is beyond a double by far

// p[k+1] = rise(k) * p[k] - fall(k) * p[k-1] from p[0] = 1 and the given p[1].
template <class Rise, class Fall>
TAEDA_MATH double recurrence(double n, double first, Rise rise, Fall fall) {
  if (!(n < 9e15)) return kNan;  // no whole number of steps
  if (n < 1) return n < 0 ? 0 : 1;
  double before = 1, now = first;
  for (long long k = 1; k < n; ++k) {
    double next = rise(k) * now - fall(k) * before;
    before = now;
    now = next;
    if (now != now) break;
  }
  return now;
}

TAEDA_MATH bool is_odd(double n) { return fmod(n, 2) != 0; }

// Chebyshev's polynomials start 1, x (first kind), 1, 2x (second), 1, 2x - 1 (third), 1, 2x + 1 (fourth).
TAEDA_MATH double chebyshev_recurrence(double n, double x, double first) {
  return recurrence(n, first, [x](long long) { return 2 * x; }, [](long long) { return 1.0; });
}

TAEDA_MATH double chebyshev_t(double x, double degree) {
  double n = trunc(degree);
  if (n <= kExactDegrees || x != x) return chebyshev_recurrence(n, x, x);
  if (fabs(x) <= 1) return cos(n * acos(x));
  return (x < 0 && is_odd(n) ? -1 : 1) * cosh(n * acosh(fabs(x)));
}

TAEDA_MATH double chebyshev_u(double x, double degree) {
  double n = trunc(degree);
  if (n <= kExactDegrees || x != x) return chebyshev_recurrence(n, x, 2 * x);
  double sign = x < 0 && is_odd(n) ? -1 : 1, size = fabs(x);
  if (size == 1) return sign * (n + 1);
  double angle = size < 1 ? acos(size) : acosh(size);
  return sign * (size < 1 ? sin((n + 1) * angle) / sin(angle) : sinh((n + 1) * angle) / sinh(angle));
}

// The third kind at -x is the fourth at x, but for the sign of odd degrees.
TAEDA_MATH double chebyshev_cosines(double x, double n) {
  double angle = x <= 1 ? acos(x) : acosh(x);
  return x <= 1 ? cos((n + 0.5) * angle) / cos(angle / 2) : cosh((n + 0.5) * angle) / cosh(angle / 2);
}
TAEDA_MATH double chebyshev_sines(double x, double n) {
  if (x == 1) return 2 * n + 1;
  double angle = x <= 1 ? acos(x) : acosh(x);
  return x <= 1 ? sin((n + 0.5) * angle) / sin(angle / 2) : sinh((n + 0.5) * angle) / sinh(angle / 2);
}

TAEDA_MATH double chebyshev_v(double x, double degree) {
  double n = trunc(degree);
  if (n <= kExactDegrees || x != x) return chebyshev_recurrence(n, x, 2 * x - 1);
  return x < 0 ? (is_odd(n) ? -1 : 1) * chebyshev_sines(-x, n) : chebyshev_cosines(x, n);
}

TAEDA_MATH double chebyshev_w(double x, double degree) {
  double n = trunc(degree);
  if (n <= kExactDegrees || x != x) return chebyshev_recurrence(n, x, 2 * x + 1);
  return x < 0 ? (is_odd(n) ? -1 : 1) * chebyshev_cosines(-x, n) : chebyshev_sines(x, n);
}

TAEDA_MATH double hermite_h(double x, double degree) {
  return recurrence(trunc(degree), 2 * x, [x](long long) { return 2 * x; }, [](long long k) { return 2.0 * k; });
}
TAEDA_MATH double hermite_he(double x, double degree) {
  return recurrence(trunc(degree), x, [x](long long) { return x; }, [](long long k) { return double(k); });
}

// a J0(z) + b J1(z), or with I0 and I1 where the polynomial grows instead of swinging.
TAEDA_MATH double bessel_pair(double a, double b, double z, bool grows) {
  if (!grows) return a * ::j0(z) + b * ::j1(z);
  return bessel_i(0, z) * (a + b * (bessel_i_scaled(1, z) / bessel_i_scaled(0, z)));
}

// DLMF 18.15.19 to 18.15.22 with alpha = 0: the argument is x / (4n + 2) = t, and t / (1 - t) its odds.
TAEDA_MATH double laguerre_of_many(double x, double n) {
  double span = 4 * n + 2, size = fabs(x) / span, half = exp(x / 4);  // e^(x/2) in two steps: it overflows first
  if (x == 0) return 1;
  if (x >= span) return is_odd(n) ? -kInfinity : kInfinity;
  double rest = 1 - x / span, odds = x / span / rest, root = sqrt(size);
  double angle = (sqrt(size * rest) + (x > 0 ? ::asin(root) : ::asinh(root))) / 2;
  if (x < 0 && span * angle > kOverflow) return kInfinity;
  double b = -0.5 * (0.125 + angle / sqrt(fabs(odds)) * (odds * (0.25 + odds * 5 / 24) - 0.125));
  double scale = sqrt(angle / (root * sqrt(rest)));
  return half * bessel_pair(scale, scale * b / (angle * span), span * angle, x < 0) * half;
}
TAEDA_MATH double laguerre_l(double x, double degree) {
  double n = trunc(degree);
  if (n > kStepDegrees && n < 9e15) return laguerre_of_many(x, n);
  return recurrence(
      n, 1 - x, [x](long long k) { return (2 * k + 1 - x) / (k + 1); }, [](long long k) { return k / (k + 1.0); });
}

// Szego's expansion (DLMF 18.15.12 and its analogue outside of -1 to 1), to its second term, at |x| = cos or
// cosh(angle).
TAEDA_MATH double legendre_of_many(double x, double n) {
  double size = fabs(x), sign = x < 0 && is_odd(n) ? -1 : 1, steps = n + 0.5;
  if (size == 1 || (x == 0 && is_odd(n))) return x * x * sign;
  bool grows = size > 1;
  double angle = grows ? 2 * ::asinh(sqrt((size - 1) / 2)) : 2 * ::asin(sqrt((1 - size) / 2));
  if (grows && steps * angle > kOverflow) return sign * kInfinity;
  double sine = grows ? sinh(angle) : sin(angle), scale = sqrt(angle / sine);
  return sign * bessel_pair(scale, scale * (angle * size - sine) / (8 * angle * sine * steps), steps * angle, grows);
}
TAEDA_MATH double legendre_p(double x, double degree) {
  double n = trunc(degree);
  if (n > kStepDegrees && n < 9e15 && x == x) return legendre_of_many(x, n);
  return recurrence(
      n, x, [x](long long k) { return (2 * k + 1) * x / (k + 1); }, [](long long k) { return k / (k + 1.0); });
}

}  // namespace taeda::math::detail
