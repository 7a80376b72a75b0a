// Samplers that draw a varying number of words per element, and the categorical ones.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <vector>

#include "backend/cpu/random/random_draw.h"
#include "backend/cpu/random/random_kernels.h"

namespace taeda::cpu::random {
namespace {

using Lock = std::lock_guard<std::mutex>;

// The smallest normal number of T, and the spacing of its numbers above 1.
template <class T>
constexpr double kSmallest = std::is_same_v<T, Half> ? 0x1p-14 : std::numeric_limits<Compute<T>>::min();
template <class T>
constexpr double kSpacing = std::is_same_v<T, Half>       ? 0x1p-10
                            : std::is_same_v<T, BFloat16> ? 0x1p-7
                                                          : std::numeric_limits<Compute<T>>::epsilon();

// Knuth's product of uniforms.
int64_t small_poisson(Generator& generator, double rate) {
  double limit = std::exp(-rate), product = 1;
  for (int64_t count = 0;; ++count) {
    product *= draw_unit(generator);
    if (product <= limit) return count;
  }
}

// Hörmann's PTRS: "The transformed rejection method for generating Poisson random variables", 1993.
int64_t large_poisson(Generator& generator, double rate) {
  double log_rate = std::log(rate);
  double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    double u = draw_unit(generator) - 0.5, v = draw_unit(generator), distance = 0.5 - std::abs(u);
    double k = std::floor((2 * a / distance + b) * u + rate + 0.43);
    if (distance >= 0.07 && v <= v_r) return static_cast<int64_t>(k);
    if (k < 0 || (distance < 0.013 && v > distance)) continue;
    double left = std::log(v) + std::log(inverse_alpha) - std::log(a / (distance * distance) + b);
    if (left <= -rate + k * log_rate - std::lgamma(k + 1)) return static_cast<int64_t>(k);
  }
}

int64_t draw_poisson(Generator& generator, double rate) {
  if (rate == 0) return 0;
  return rate < 10 ? small_poisson(generator, rate) : large_poisson(generator, rate);
}

// Sums of geometric waiting times. C is the element type's arithmetic, in which the loop runs.
template <class C>
C small_binomial(Generator& generator, C count, C prob) {
  C waited = 0, log_failure = std::log1p(-prob);
  for (C successes = 0;; ++successes) {
    C unit = static_cast<C>(draw_unit(generator));
    waited += std::ceil(std::log(unit) / log_failure);
    if (waited > count) return successes;
  }
}

// log(k!) less Stirling's formula.
template <class C>
C stirling_tail(C k) {
  static const double kSmall[] = {0.0810614667953272582, 0.0413406959554092941, 0.0276779256849983391,
                                  0.0207906721037650931, 0.0166446911898211922, 0.0138761288230707480,
                                  0.0118967099458917701, 0.0104112652619720965, 0.00925546218271273292,
                                  0.00833056343336287126};
  if (k <= 9) return static_cast<C>(kSmall[static_cast<int>(k)]);
  C square = (k + 1) * (k + 1);
  return (C(1.0 / 12) - (C(1.0 / 360) - C(1.0 / 1260) / square) / square) / (k + 1);
}

// Hörmann's BTRS: "The generation of binomial random variates", 1993.
template <class C>
C large_binomial(Generator& generator, C count, C prob) {
  C deviation = std::sqrt(count * prob * (1 - prob));
  C b = C(1.15) + C(2.53) * deviation, a = C(-0.0873) + C(0.0248) * b + C(0.01) * prob, c = count * prob + C(0.5);
  C v_r = C(0.92) - C(4.2) / b, odds = prob / (1 - prob), alpha = (C(2.83) + C(5.1) / b) * deviation;
  C mode = std::floor((count + 1) * prob);
  for (;;) {
    C u = static_cast<C>(draw_unit(generator) - 0.5), v = static_cast<C>(draw_unit(generator));
    C distance = C(0.5) - std::abs(u), k = std::floor((2 * a / distance + b) * u + c);
    if (distance >= C(0.07) && v <= v_r) return k;
    if (k < 0 || k > count) continue;
    v = std::log(v * alpha / (a / (distance * distance) + b));
    C bound = (mode + C(0.5)) * std::log((mode + 1) / (odds * (count - mode + 1))) +
              (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
              (k + C(0.5)) * std::log(odds * (count - k + 1) / (k + 1)) + stirling_tail(mode) +
              stirling_tail(count - mode) - stirling_tail(k) - stirling_tail(count - k);
    if (v <= bound) return k;
  }
}

template <class C>
C draw_binomial(Generator& generator, C count, C prob) {
  if (std::isnan(count) || std::isnan(prob)) return std::numeric_limits<C>::quiet_NaN();
  if (count <= 0 || prob <= 0) return 0;
  if (prob >= 1) return count;
  C rarer = prob <= C(0.5) ? prob : 1 - prob;
  C drawn = count * rarer >= 10 ? large_binomial(generator, count, rarer) : small_binomial(generator, count, rarer);
  return prob <= C(0.5) ? drawn : count - drawn;
}

// Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26, 2000.
// C is the precision in which PyTorch keeps the concentration; a third is a float there in any case.
template <class C>
double draw_gamma(Generator& generator, C alpha) {
  if (std::isnan(alpha)) return alpha;
  double scale = 1;
  if (alpha < 1) {
    if (alpha == 0) return 0;
    scale = std::pow(1 - draw_unit(generator), static_cast<double>(1 / alpha));
    alpha += 1;
  }
  double d = alpha - static_cast<C>(1.0f / 3.0f), c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x, y;
    do {
      x = draw_normal(generator);
      y = 1 + c * x;
    } while (y <= 0);
    double v = y * y * y, u = 1 - draw_unit(generator), square = x * x;
    if (u < 1 - 0.0331 * square * square) return scale * d * v;
    if (std::log(u) < 0.5 * square + d * (1 - v + std::log(v))) return scale * d * v;
  }
}

// The running sums of one row of weights, divided by their total.
template <class T>
void cumulate(const T* weights, std::vector<Compute<T>>& sums) {
  Compute<T> total = 0;
  for (size_t i = 0; i < sums.size(); ++i) sums[i] = total += static_cast<Compute<T>>(weights[i]);
  if (total > 0)
    for (auto& sum : sums) sum /= total;
  // Rounding must not leave a gap that no category owns.
  sums.back() = 1;
}

// Puts the indices of the `count` largest scores first, in falling order. Equal scores, common in the half types, come
// in the order that these library calls leave them in, which PyTorch's topk makes too; one sample is the first maximum.
template <class C>
void largest_first(const std::vector<C>& scores, std::vector<int64_t>& order, int64_t count) {
  auto larger = [&](int64_t a, int64_t b) { return scores[a] > scores[b]; };
  auto begin = order.begin();
  if (count == 1)
    std::iter_swap(begin, std::max_element(begin, order.end(), [&](int64_t a, int64_t b) { return larger(b, a); }));
  else if (count * 64 <= static_cast<int64_t>(order.size()))
    std::partial_sort(begin, begin + count, order.end(), larger);
  else {
    std::nth_element(begin, begin + count - 1, order.end(), larger);
    std::sort(begin, begin + count - 1, larger);
  }
}

}  // namespace

template <class T>
void multinomial_with_replacement(Generator& generator, const T* weights, int64_t rows, int64_t categories,
                                  int64_t samples, int64_t* out) {
  Lock lock(generator.mutex());
  std::vector<Compute<T>> sums(static_cast<size_t>(categories));
  for (int64_t row = 0; row < rows; ++row) {
    cumulate(weights + row * categories, sums);
    for (int64_t sample = 0; sample < samples; ++sample)
      *out++ = std::lower_bound(sums.begin(), sums.end(), draw_unit(generator)) - sums.begin();
  }
}

template <class T>
void multinomial_without_replacement(Generator& generator, const T* weights, int64_t rows, int64_t categories,
                                     int64_t samples, int64_t* out) {
  auto size = static_cast<size_t>(categories);
  std::vector<T> waits(size * static_cast<size_t>(rows));
  exponential(generator, waits.data(), rows * categories, 1);
  std::vector<Compute<T>> scores(size);
  std::vector<int64_t> order(size);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < categories; ++i) {
      int64_t at = row * categories + i;
      auto score = static_cast<Compute<T>>(weights[at]) / static_cast<Compute<T>>(waits[at]);
      scores[i] = static_cast<Compute<T>>(to_element<T>(score));
    }
    std::iota(order.begin(), order.end(), 0);
    largest_first(scores, order, samples);
    out = std::copy_n(order.begin(), samples, out);
  }
}

template <class T>
void poisson(Generator& generator, const T* rate, T* out, int64_t n) {
  Lock lock(generator.mutex());
  for (int64_t i = 0; i < n; ++i)
    out[i] = to_element<T>(draw_poisson(generator, static_cast<double>(static_cast<Compute<T>>(rate[i]))));
}

template <class T>
void binomial(Generator& generator, const T* count, const T* prob, T* out, int64_t n) {
  using C = Compute<T>;
  Lock lock(generator.mutex());
  for (int64_t i = 0; i < n; ++i)
    out[i] = to_element<T>(draw_binomial(generator, static_cast<C>(count[i]), static_cast<C>(prob[i])));
}

template <class T>
void standard_gamma(Generator& generator, const T* concentration, T* out, int64_t n) {
  Lock lock(generator.mutex());
  for (int64_t i = 0; i < n; ++i)
    out[i] = to_element<T>(std::max(draw_gamma(generator, static_cast<Compute<T>>(concentration[i])), kSmallest<T>));
}

template <class T>
void dirichlet(Generator& generator, const T* concentration, T* out, int64_t rows, int64_t categories) {
  // The open interval (0, 1), as logarithms of both the sample and its complement are taken later.
  constexpr double largest = 1 - kSpacing<T> / 2;
  Lock lock(generator.mutex());
  std::vector<double> gammas(static_cast<size_t>(categories));
  for (int64_t row = 0; row < rows; ++row, concentration += categories, out += categories) {
    for (int64_t i = 0; i < categories; ++i)
      gammas[i] = std::max(draw_gamma(generator, static_cast<double>(static_cast<Compute<T>>(concentration[i]))),
                           kSmallest<double>);
    double total = std::accumulate(gammas.begin(), gammas.end(), 0.0);
    for (int64_t i = 0; i < categories; ++i)
      out[i] = to_element<T>(std::clamp(gammas[i] / total, kSmallest<T>, largest));
  }
}

template <class T>
void rrelu(Generator& generator, const T* input, T* noise, T* out, int64_t n, double lower, double upper) {
  using C = Compute<T>;
  C low = static_cast<C>(lower), high = static_cast<C>(upper);
  Lock lock(generator.mutex());
  for (int64_t i = 0; i < n; ++i) {
    C value = static_cast<C>(input[i]);
    C slope = value <= 0 ? static_cast<C>(draw_unit(generator) * (static_cast<double>(high) - low) + low) : C(1);
    noise[i] = to_element<T>(slope);
    out[i] = to_element<T>(value * slope);
  }
}

#define X(T)                                                                                                   \
  template void multinomial_with_replacement<T>(Generator&, const T*, int64_t, int64_t, int64_t, int64_t*);    \
  template void multinomial_without_replacement<T>(Generator&, const T*, int64_t, int64_t, int64_t, int64_t*); \
  template void poisson<T>(Generator&, const T*, T*, int64_t);                                                 \
  template void binomial<T>(Generator&, const T*, const T*, T*, int64_t);                                      \
  template void standard_gamma<T>(Generator&, const T*, T*, int64_t);                                          \
  template void dirichlet<T>(Generator&, const T*, T*, int64_t, int64_t);                                      \
  template void rrelu<T>(Generator&, const T*, T*, T*, int64_t, double, double)
X(float);
X(double);
X(Half);
X(BFloat16);
#undef X

}  // namespace taeda::cpu::random
