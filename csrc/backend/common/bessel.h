// Airy's function and the modified Bessel functions of the second kind, of one double. Read by math.h.
#pragma once

namespace taeda::math::detail {

// e^z K_order(z) for z above 1 or so: the trapezoidal rule for the integral of exp(-z (cosh t - 1)) cosh(order t) over
// t >= 0, which converges geometrically in 1 / step as the integrand is analytic in a strip (DLMF 10.32.9).
TAEDA_MATH double bessel_k_integral(double order, double z) {
  const double step = fmin(0.2, 0.7 / sqrt(z));
  double sum = 0.5;
  for (int k = 1; k < 200; ++k) {
    double t = k * step, half = sinh(t / 2), term = exp(-2 * z * half * half) * cosh(order * t);
    sum += term;
    if (term < 1e-18 * sum) break;
  }
  return step * sum;
}

// The power series of K0 and K1 (Abramowitz & Stegun 9.6.11 and 9.6.13), for z up to 2.
TAEDA_MATH double bessel_k_series(int order, double z) {
  constexpr double kEuler = 0.57721566490153286;
  const double quarter = z * z / 4, logarithm = log(z / 2) + kEuler;
  double term = order == 0 ? 1 : z / 2, harmonic = 0, first = 0, second = 0;
  for (int k = 0; k < 30; ++k) {
    first += term;
    second += term * (order == 0 ? harmonic : harmonic + 0.5 / (k + 1));
    term *= quarter / ((k + 1.0) * (k + 1 + order));
    harmonic += 1.0 / (k + 1);
    if (term * (harmonic + 1) < kEpsilon * second) break;
  }
  return order == 0 ? second - logarithm * first : 1 / z + logarithm * first - second;
}

TAEDA_MATH double bessel_k_scaled(int order, double z) {
  if (!(z >= 0)) return kNan;
  if (z == 0 || z == kInfinity) return z == 0 ? kInfinity : 0;
  return z <= 2 ? bessel_k_series(order, z) * exp(z) : bessel_k_integral(order, z);
}
TAEDA_MATH double bessel_k(int order, double z) {
  if (!(z > 2) || z == kInfinity) return z > 0 && z <= 2 ? bessel_k_series(order, z) : bessel_k_scaled(order, z);
  return bessel_k_integral(order, z) * exp(-z);
}

// y'' = x y from 0 to x in steps of at most a half, each by Taylor's series: stable where the solutions oscillate.
TAEDA_MATH double airy_steps(double x) {
  double value = 0.35502805388781723926, slope = -0.25881940379280679840;
  const int steps = static_cast<int>(ceil(fabs(x) * 2)) + 1;
  const double h = x / steps;
  for (int i = 0; i < steps; ++i) {
    double at = i * h, before = 0, now = value, after = slope, power = h, y = value, dy = 0;
    for (int k = 1; k < 40; ++k) {
      y += after * power;
      dy += k * after * power / h;
      double next = (at * now + before) / (k * (k + 1.0));
      before = now;
      now = after;
      after = next;
      power *= h;
    }
    value = y;
    slope = dy;
  }
  return value;
}

// The expansion for large negative arguments (DLMF 9.7.9), of which z is 2/3 |x|^(3/2).
TAEDA_MATH double airy_oscillating(double x, double z) {
  double term = 1, parts[2] = {1, 0};
  for (int k = 1; k < 20; ++k) {
    double next = term * (6.0 * k - 5) * (6.0 * k - 3) * (6.0 * k - 1) / (216.0 * k * (2 * k - 1)) / z;
    if (next < kEpsilon * kEpsilon || next > term) break;
    term = next;
    parts[k % 2] += k / 2 % 2 ? -term : term;
  }
  return (cos(z - kPi / 4) * parts[0] + sin(z - kPi / 4) * parts[1]) / (sqrt(kPi) * sqrt(sqrt(-x)));
}

TAEDA_MATH double airy_ai(double x) {
  if (x != x) return x;
  if (fabs(x) == kInfinity) return 0;
  if (x > -10 && x <= 2) return x == 0 ? 0.35502805388781723926 : airy_steps(x);
  double size = fabs(x), z = 2.0 / 3 * size * sqrt(size);
  return x < 0 ? airy_oscillating(x, z) : sqrt(x / 3) / kPi * bessel_k_integral(1.0 / 3, z) * exp(-z);
}

}  // namespace taeda::math::detail
