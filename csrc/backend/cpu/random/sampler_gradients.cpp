// Gradients of gamma and beta samples with respect to the concentration. A sample is the quantile of a fixed number, so
// it moves by -(dF/da) / f, where F is the distribution function and f its density.
// Source: Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients", 2018.
#include "backend/common/math.h"
#include "backend/cpu/ops/random.h"
#include "shape/view_rules.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {
namespace {

constexpr double kTiny = 1e-300, kPrecise = 1e-15;
constexpr int kMostTerms = 20000;

// A number and its derivative with respect to the concentration.
struct Dual {
  double value, slope = 0;
};
Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
Dual operator/(Dual a, Dual b) {
  double quotient = a.value / b.value;
  return {quotient, (a.slope - quotient * b.slope) / b.value};
}

// first / (start + n_1 / (d_1 + n_2 / (d_2 + ...))) where terms(i) gives n_i and d_i, by the modified method of Lentz:
// "Generating Bessel functions in Mie scattering calculations using continued fractions", 1976.
template <class Terms>
Dual continued_fraction(Dual start, const Terms& terms) {
  auto not_zero = [](Dual x) { return std::abs(x.value) < kTiny ? Dual{kTiny, x.slope} : x; };
  Dual result = Dual{1} / not_zero(start), d = result, c{1 / kTiny};
  for (int i = 1; i < kMostTerms; ++i) {
    auto [numerator, denominator] = terms(i);
    d = Dual{1} / not_zero(denominator + numerator * d);
    c = not_zero(denominator + numerator / c);
    Dual factor = c * d;
    result = result * factor;
    if (std::abs(factor.value - 1) < kPrecise && std::abs(factor.slope) < kPrecise * (1 + std::abs(result.slope)))
      break;
  }
  return result;
}

// Cornish and Fisher, "Moments and cumulants in the specification of distributions", 1938: the quantile as a series in
// the normal quantile z, solved for z by Newton's method.
double gamma_gradient_of_large(double a, double x) {
  double root = std::sqrt(a), z = (x - a) / root;
  for (int i = 0; i < 4; ++i) {
    double z2 = z * z;
    double quantile =
        a + root * z + (z2 - 1) / 3 + z * (z2 - 7) / (36 * root) - (6 * z2 * z2 + 14 * z2 - 32) / (1620 * a);
    double slope = root + 2 * z / 3 + (3 * z2 - 7) / (36 * root) - z * (24 * z2 + 28) / (1620 * a);
    z -= (quantile - x) / slope;
  }
  double z2 = z * z;
  return 1 + z / (2 * root) - z * (z2 - 7) / (72 * a * root) + (6 * z2 * z2 + 14 * z2 - 32) / (1620 * a * a);
}

double gamma_gradient(double concentration, double x) {
  if (std::isnan(concentration) || std::isnan(x)) return NAN;
  if (x <= 0 || concentration <= 0) return 0;
  if (concentration > 1000) return gamma_gradient_of_large(concentration, x);
  Dual a{concentration, 1};
  if (x < concentration + 1) {  // the series of the lower incomplete gamma function
    Dual term{1}, sum{1};
    for (int n = 1; n < kMostTerms && std::abs(term.value) > kPrecise * sum.value; ++n) {
      term = term * Dual{x} / (a + Dual{static_cast<double>(n)});
      sum = sum + term;
    }
    double log_slope = std::log(x) - math::digamma(concentration + 1);
    return -(sum.value * log_slope + sum.slope) * x / concentration;
  }
  auto terms = [&](int i) {  // of the upper one
    double n = i;
    return std::pair(Dual{-n} * (Dual{n} - a), Dual{x + 2 * n + 1} - a);
  };
  Dual fraction = continued_fraction(Dual{x + 1} - a, terms);
  return x * (fraction.value * (std::log(x) - math::digamma(concentration)) + fraction.slope);
}

// The continued fraction of the incomplete beta function: Didonato and Morris, ACM TOMS 18, 1992.
Dual beta_fraction(Dual a, Dual b, double x) {
  return continued_fraction(Dual{1}, [=](int i) {
    Dual m{static_cast<double>(i / 2)}, twice{static_cast<double>(i - 1)};
    Dual numerator = i % 2 ? Dual{-1} * (a + m) * (a + b + m) : m * (b - m);
    return std::pair(numerator * Dual{x} / ((a + twice) * (a + twice + Dual{1})), Dual{1});
  });
}

double beta_gradient(double x, double alpha, double total) {
  if (std::isnan(x) || std::isnan(alpha) || std::isnan(total)) return NAN;
  if (x <= 0 || x >= 1) return 0;
  double beta = total - alpha;
  double log_slope = std::log(x) - math::digamma(alpha) + math::digamma(total);
  Dual a{alpha, 1}, b{beta};
  if (x < (alpha + 1) / (total + 2)) {
    Dual fraction = beta_fraction(a, b, x);
    return -x / alpha * (fraction.value * (log_slope - 1 / alpha) + fraction.slope);
  }
  Dual fraction = beta_fraction(b, a, 1 - x);
  return x / beta * (fraction.value * log_slope + fraction.slope);
}

Tensor spread(const Tensor& t, IntList sizes) {
  shape::View view = shape::expand(t, sizes, false);
  return ops::contiguous(new_alias(t, view.sizes, view.strides, view.offset));
}

constexpr int64_t kSamplesPerPiece = 256;

}  // namespace

void _standard_gamma_grad(const Tensor& self, const Tensor& output, const Tensor& out) {
  Tensor a = spread(self, out.sizes()), x = spread(output, out.sizes());
  visit_floating(out.dtype(), [&]<class T>() {
    parallel_for(0, out.numel(), kSamplesPerPiece, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i)
        out.data<T>()[i] = convert<T>(gamma_gradient(convert<double>(a.data<T>()[i]), convert<double>(x.data<T>()[i])));
    });
  });
}

void _dirichlet_grad(const Tensor& x, const Tensor& alpha, const Tensor& total, const Tensor& out) {
  Tensor points = spread(x, out.sizes()), a = spread(alpha, out.sizes()), sum = spread(total, out.sizes());
  visit_floating(out.dtype(), [&]<class T>() {
    parallel_for(0, out.numel(), kSamplesPerPiece, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i)
        out.data<T>()[i] = convert<T>(beta_gradient(
            convert<double>(points.data<T>()[i]), convert<double>(a.data<T>()[i]), convert<double>(sum.data<T>()[i])));
    });
  });
}

}  // namespace taeda::cpu
