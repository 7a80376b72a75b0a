// Orthogonal polynomials of degree n at one double x; n is cut to a whole number, and below 0 there is nothing. Read by
// math.h. Small degrees run up the three-term recurrence, whose integer coefficients stay exact; Chebyshev's, which are
// sines and cosines in disguise, go on in closed form (DLMF 18.5.1 to 18.5.4).
#pragma once

namespace taeda::math::detail {

constexpr int kExactDegrees = 16;

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
TAEDA_MATH double laguerre_l(double x, double degree) {
  return recurrence(
      trunc(degree), 1 - x, [x](long long k) { return (2 * k + 1 - x) / (k + 1); },
      [](long long k) { return k / (k + 1.0); });
}
TAEDA_MATH double legendre_p(double x, double degree) {
  return recurrence(
      trunc(degree), x, [x](long long k) { return (2 * k + 1) * x / (k + 1); },
      [](long long k) { return k / (k + 1.0); });
}

}  // namespace taeda::math::detail
