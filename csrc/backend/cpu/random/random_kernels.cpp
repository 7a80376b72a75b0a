#include "backend/cpu/random/random_kernels.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <mutex>

#include "backend/cpu/random/random_draw.h"
#include "core/multiversion.h"
#include "taeda/core/dtype.h"

namespace taeda::cpu::random {
namespace {

using Lock = std::lock_guard<std::mutex>;

// Words are drawn in pieces that stay in the L1 cache; a multiple of 32, as normals come in blocks of 16 doubles.
constexpr int64_t kPiece = 1024;

// Calls consume(words, start, count) for consecutive elements that take `per_element` words each.
template <class Consume>
void draw_pieces(Generator& generator, int64_t n, int per_element, const Consume& consume) {
  alignas(64) uint32_t words[kPiece];
  for (int64_t start = 0; start < n; start += kPiece / per_element) {
    int64_t count = std::min(n - start, kPiece / per_element);
    generator.fill(words, count * per_element);
    consume(static_cast<const uint32_t*>(words), start, count);
  }
}

// As above for one 53-bit uniform double per element: out[i] = sample(u).
template <class T, class Sample>
void from_unit_doubles(Generator& generator, T* out, int64_t n, const Sample& sample) {
  Lock lock(generator.mutex());
  draw_pieces(generator, n, 2, [&](const uint32_t* words, int64_t start, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      out[start + i] = to_element<T>(sample(unit_double(uint64_t{words[2 * i]} << 32 | words[2 * i + 1])));
  });
}

// An integer below 2^52 put into the mantissa of 2^52 becomes a double without a conversion instruction.
TAEDA_VERSIONED double small_to_double(uint64_t value) {
  constexpr double kTwo52 = 0x1p52;
  return std::bit_cast<double>(value | std::bit_cast<uint64_t>(kTwo52)) - kTwo52;
}

TAEDA_VERSIONED float word_to_unit(uint32_t word) {
  return static_cast<float>(static_cast<int32_t>(word & kMask24)) * 0x1p-24f;
}

TAEDA_VERSIONED void scale_words_body(const uint32_t* __restrict words, float* __restrict out, int64_t n, float from,
                                      float width) {
  for (int64_t i = 0; i < n; ++i) out[i] = __builtin_fmaf(word_to_unit(words[i]), width, from);
}

TAEDA_VERSIONED void scale_words_body(const uint32_t* __restrict words, double* __restrict out, int64_t n, double from,
                                      double width) {
  for (int64_t i = 0; i < n; ++i) {
    uint64_t high = words[2 * i] & 0x1fffffu, low = words[2 * i + 1];
    double unit = (small_to_double(high) * 0x1p32 + small_to_double(low)) * 0x1p-53;
    out[i] = __builtin_fma(unit, width, from);
  }
}

TAEDA_MULTIVERSION(void scale_words(const uint32_t* words, float* out, int64_t n, float from, float width),
                   scale_words_body(words, out, n, from, width))
TAEDA_MULTIVERSION(void scale_words(const uint32_t* words, double* out, int64_t n, double from, double width),
                   scale_words_body(words, out, n, from, width))

// What Half(value) does, without branches.
TAEDA_VERSIONED uint16_t half_bits(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value), size = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
  uint32_t normal = (size - 0x38000000u + 0xfffu + (size >> 13 & 1)) >> 13;
  // Adding 1/2 leaves a subnormal's bits, rounded, at the bottom of the mantissa.
  uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(size) + 0.5f) - 0x3f000000u;
  uint32_t rounded = size < 0x38800000u ? subnormal : size >= 0x477ff000u ? 0x7c00u : normal;
  return static_cast<uint16_t>(sign | (size > 0x7f800000u ? 0x7e00u : rounded));
}

TAEDA_VERSIONED void round_to_body(const float* __restrict values, Half* __restrict out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i].bits = half_bits(values[i]);
}
TAEDA_VERSIONED void round_to_body(const float* __restrict values, BFloat16* __restrict out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = BFloat16(values[i]);
}
TAEDA_MULTIVERSION(void round_to(const float* values, Half* out, int64_t n), round_to_body(values, out, n))
TAEDA_MULTIVERSION(void round_to(const float* values, BFloat16* out, int64_t n), round_to_body(values, out, n))

// Natural logarithm on (0, 1], normal numbers only, to about 1 ULP. The polynomials here and below are Chebyshev fits.
TAEDA_VERSIONED float log_of_unit(float x) {
  int32_t bits = std::bit_cast<int32_t>(x);
  int32_t exponent = (bits - 0x3f3504f3) >> 23;  // the mantissa is left in [sqrt(1/2), sqrt(2))
  float f = std::bit_cast<float>(bits - (exponent << 23)) - 1.0f, e = static_cast<float>(exponent);
  float p = 0.07149754f;
  p = p * f - 0.11571201f;
  p = p * f + 0.11661511f;
  p = p * f - 0.1241105f;
  p = p * f + 0.14249937f;
  p = p * f - 0.1666848f;
  p = p * f + 0.20000708f;
  p = p * f - 0.2499999f;
  p = p * f + 0.3333333f;
  float square = f * f, tail = p * f * square + e * 0x1.7f7d1cp-20f;
  return e * 0x1.62e4p-1f + (f + (tail - 0.5f * square));
}

// Both for 0 <= angle <= 2 pi; the reduction by pi/2 in three exact parts keeps the zeros accurate.
TAEDA_VERSIONED void sincos_of_turn(float angle, float& sine, float& cosine) {
  int32_t quadrant = static_cast<int32_t>(angle * 0.63661977f + 0.5f);
  float q = static_cast<float>(quadrant);
  float r = ((angle - q * 0x1.92p+0f) - q * 0x1.fb4p-12f) - q * 0x1.4442d2p-24f, z = r * r;
  float s = ((-0.00019585433f * z + 0.008332737f) * z - 0.16666664f) * z * r + r;
  float c = ((2.4545468e-5f * z - 0.0013888292f) * z + 0.041666664f) * z * z + (1.0f - 0.5f * z);
  bool swap = quadrant & 1;
  float sine_size = swap ? c : s, cosine_size = swap ? s : c;
  sine = std::bit_cast<float>(std::bit_cast<uint32_t>(sine_size) ^ static_cast<uint32_t>(quadrant & 2) << 30);
  cosine = std::bit_cast<float>(std::bit_cast<uint32_t>(cosine_size) ^ static_cast<uint32_t>((quadrant + 1) & 2) << 30);
}

// n words, a multiple of 16: in each block words j and j + 8 are a pair, the first giving the radius.
TAEDA_VERSIONED void box_muller_body(const uint32_t* __restrict words, float* __restrict out, int64_t n, float mean,
                                     float stddev) {
  alignas(64) float first[kPiece / 2], second[kPiece / 2];
  int64_t pairs = n / 2;
  for (int64_t block = 0; block < pairs; block += 8)
    for (int64_t j = 0; j < 8; ++j) {
      first[block + j] = word_to_unit(words[2 * block + j]);
      second[block + j] = word_to_unit(words[2 * block + 8 + j]);
    }
  for (int64_t i = 0; i < pairs; ++i) {
    float radius = __builtin_sqrtf(-2.0f * log_of_unit(1.0f - first[i])), sine, cosine;
    sincos_of_turn(6.2831855f * second[i], sine, cosine);
    first[i] = __builtin_fmaf(radius * cosine, stddev, mean);
    second[i] = __builtin_fmaf(radius * sine, stddev, mean);
  }
  for (int64_t block = 0; block < pairs; block += 8)
    for (int64_t j = 0; j < 8; ++j) {
      out[2 * block + j] = first[block + j];
      out[2 * block + 8 + j] = second[block + j];
    }
}

TAEDA_MULTIVERSION(void box_muller(const uint32_t* words, float* out, int64_t n, float mean, float stddev),
                   box_muller_body(words, out, n, mean, stddev))

void box_muller(const uint32_t* words, double* out, int64_t n, double mean, double stddev) {
  double units[16];
  for (int64_t block = 0; block < n; block += 16) {
    scale_words(words + 2 * block, units, 16, 0, 1);
    for (int64_t j = 0; j < 8; ++j) {
      double radius = std::sqrt(-2 * std::log(1 - units[j])), angle = 2 * std::numbers::pi * units[j + 8];
      out[block + j] = std::fma(radius * std::cos(angle), stddev, mean);
      out[block + j + 8] = std::fma(radius * std::sin(angle), stddev, mean);
    }
  }
}

template <class T>
void sequence_of_normals(Generator& generator, T* out, int64_t n, double mean, double stddev) {
  for (int64_t i = 0; i < n; ++i) out[i] = to_element<T>(std::fma(draw_normal(generator), stddev, mean));
}

// `n` elements, a multiple of 16.
template <class T>
void blocks_of_normals(Generator& generator, T* out, int64_t n, double mean, double stddev) {
  using C = Compute<T>;
  C m = static_cast<C>(mean), s = static_cast<C>(stddev);
  draw_pieces(generator, n, sizeof(C) / 4, [&](const uint32_t* words, int64_t start, int64_t count) {
    if constexpr (is_half<T>) {
      float values[kPiece];
      box_muller(words, values, count, m, s);
      round_to(values, out + start, count);
    } else {
      box_muller(words, out + start, count, m, s);
    }
  });
}

// out[i] = one where the 53-bit integer of a pair of words is below the threshold. `one` is the element's bits.
template <class Bits>
TAEDA_VERSIONED void below_threshold(const uint32_t* __restrict words, Bits* __restrict out, int64_t n,
                                     int64_t threshold, Bits one) {
  for (int64_t i = 0; i < n; ++i) {
    int64_t value = static_cast<int64_t>(uint64_t{words[2 * i] & 0x1fffffu} << 32 | words[2 * i + 1]);
    out[i] = value < threshold ? one : Bits{0};
  }
}

#define X(Bits)                                                                                                     \
  TAEDA_MULTIVERSION(void bernoulli_bits(const uint32_t* words, Bits* out, int64_t n, int64_t threshold, Bits one), \
                     below_threshold(words, out, n, threshold, one))
X(uint8_t);
X(uint16_t);
X(uint32_t);
X(uint64_t);
#undef X

template <size_t bytes>
using BitsOf =
    std::conditional_t<bytes == 1, uint8_t,
                       std::conditional_t<bytes == 2, uint16_t, std::conditional_t<bytes == 4, uint32_t, uint64_t>>>;

// Calls store(start + i, integer) with one or two words per integer.
template <class Store>
void integers(Generator& generator, int64_t n, bool wide, const Store& store) {
  Lock lock(generator.mutex());
  if (wide)
    draw_pieces(generator, n, 2, [&](const uint32_t* words, int64_t start, int64_t count) {
      for (int64_t i = 0; i < count; ++i) store(start + i, uint64_t{words[2 * i]} << 32 | words[2 * i + 1]);
    });
  else
    draw_pieces(generator, n, 1, [&](const uint32_t* words, int64_t start, int64_t count) {
      for (int64_t i = 0; i < count; ++i) store(start + i, words[i]);
    });
}

template <class T>
constexpr int kDigits = std::is_same_v<T, Half>       ? 11
                        : std::is_same_v<T, BFloat16> ? 8
                                                      : std::numeric_limits<T>::digits;

}  // namespace

template <class T>
void uniform(Generator& generator, T* out, int64_t n, double from, double to) {
  using C = Compute<T>;
  C low = static_cast<C>(from), width = static_cast<C>(to) - low;
  T first = to_element<T>(from);
  C last = static_cast<C>(to_element<T>(to));
  Lock lock(generator.mutex());
  draw_pieces(generator, n, sizeof(C) / 4, [&](const uint32_t* words, int64_t start, int64_t count) {
    T* target = out + start;
    if constexpr (is_half<T>) {
      float values[kPiece];
      scale_words(words, values, count, low, width);
      round_to(values, target, count);
    } else {
      scale_words(words, target, count, low, width);
    }
    // The interval is half open, also where a number just below its end was rounded up.
    for (int64_t i = 0; i < count; ++i) target[i] = static_cast<C>(target[i]) == last ? first : target[i];
  });
}

template <class T>
void normal_sequential(Generator& generator, T* out, int64_t n, double mean, double stddev) {
  Lock lock(generator.mutex());
  sequence_of_normals(generator, out, n, mean, stddev);
}

template <class T>
void normal(Generator& generator, T* out, int64_t n, double mean, double stddev) {
  Lock lock(generator.mutex());
  if (n < 16) return sequence_of_normals(generator, out, n, mean, stddev);
  int64_t whole = n / 16 * 16;
  blocks_of_normals(generator, out, whole, mean, stddev);
  if (whole == n) return;
  // PyTorch draws a uniform for each element of the tail, except in the half types, and then a new last block.
  if constexpr (!is_half<T>) {
    uint32_t discarded[32];
    generator.fill(discarded, (n - whole) * static_cast<int64_t>(sizeof(T) / 4));
  }
  blocks_of_normals(generator, out + n - 16, 16, mean, stddev);
}

template <class T>
void random_from_to(Generator& generator, T* out, int64_t n, uint64_t range, int64_t base) {
  uint64_t offset = static_cast<uint64_t>(base);
  auto store = [=](int64_t i, auto word) {
    uint64_t remainder = sizeof(word) == 4 ? static_cast<uint32_t>(word) % static_cast<uint32_t>(range) : word % range;
    out[i] = to_element<T>(static_cast<int64_t>(remainder + offset));
  };
  integers(generator, n, range >= uint64_t{1} << 28, store);
}

template <class T>
void random_full_range(Generator& generator, T* out, int64_t n) {
  integers(generator, n, true, [=](int64_t i, uint64_t word) { out[i] = to_element<T>(static_cast<int64_t>(word)); });
}

template <class T>
void random_default(Generator& generator, T* out, int64_t n) {
  constexpr bool wide = sizeof(T) == 8;
  constexpr uint64_t largest = uint64_t{1} << (kDigits<T> - (std::is_integral_v<T> ? 1 : 0));
  constexpr uint64_t range = std::is_same_v<T, bool> ? 2 : std::is_integral_v<T> ? 2 * largest : largest + 1;
  integers(generator, n, wide, [=](int64_t i, uint64_t word) {
    out[i] = to_element<T>(range == 0 ? word : word % range);  // 2^64 has wrapped to 0
  });
}

template <class T>
void randperm(Generator& generator, T* out, int64_t n) {
  // From here on a 32-bit word's remainder would be too uneven; PyTorch also changes the shuffle.
  constexpr int64_t large = std::numeric_limits<uint32_t>::max() / 20;
  if (n >= large)
    return integers(generator, n, true, [=](int64_t i, uint64_t word) {
      auto other = static_cast<int64_t>(word % static_cast<uint64_t>(i + 1));
      out[i] = to_element<T>(i);
      std::swap(out[i], out[other]);
    });
  for (int64_t i = 0; i < n; ++i) out[i] = to_element<T>(i);
  integers(generator, n - 1, false,
           [=](int64_t i, uint32_t word) { std::swap(out[i], out[i + word % static_cast<uint32_t>(n - i)]); });
}

template <class T>
void bernoulli(Generator& generator, T* out, int64_t n, double p) {
  using Bits = BitsOf<sizeof(T)>;
  // value * 2^-53 < p is value < ceil(p * 2^53), and the product is exact.
  auto threshold = static_cast<int64_t>(std::ceil(p * 0x1p53));
  Bits one = std::bit_cast<Bits>(to_element<T>(1));
  Lock lock(generator.mutex());
  draw_pieces(generator, n, 2, [&](const uint32_t* words, int64_t start, int64_t count) {
    bernoulli_bits(words, reinterpret_cast<Bits*>(out + start), count, threshold, one);
  });
}

template <class T, class P>
void bernoulli(Generator& generator, T* out, int64_t n, const P* p) {
  if constexpr (std::is_same_v<P, double>) {
    Lock lock(generator.mutex());
    draw_pieces(generator, n, 2, [&](const uint32_t* words, int64_t start, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        double unit = unit_double(uint64_t{words[2 * i]} << 32 | words[2 * i + 1]);
        out[start + i] = to_element<T>(unit < p[start + i] ? 1 : 0);
      }
    });
  } else {
    Lock lock(generator.mutex());
    draw_pieces(generator, n, 1, [&](const uint32_t* words, int64_t start, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        float unit = static_cast<float>(words[i] & kMask24) * 0x1p-24f;
        out[start + i] = to_element<T>(unit < static_cast<float>(p[start + i]) ? 1 : 0);
      }
    });
  }
}

template <class T>
void exponential(Generator& generator, T* out, int64_t n, double lambda) {
  from_unit_doubles(generator, out, n, [=](double u) { return -1 / lambda * std::log1p(-u); });
}

template <class T>
void cauchy(Generator& generator, T* out, int64_t n, double median, double sigma) {
  from_unit_doubles(generator, out, n,
                    [=](double u) { return std::fma(sigma, std::tan(std::numbers::pi * (u - 0.5)), median); });
}

template <class T>
void log_normal(Generator& generator, T* out, int64_t n, double mean, double stddev) {
  Lock lock(generator.mutex());
  for (int64_t i = 0; i < n; ++i) out[i] = to_element<T>(std::exp(std::fma(draw_normal(generator), stddev, mean)));
}

template <class T>
void geometric(Generator& generator, T* out, int64_t n, double p) {
  double scale = std::log1p(-p);
  from_unit_doubles(generator, out, n, [=](double u) { return std::ceil(std::log(u) / scale); });
}

#define X(T)                                                                   \
  template void uniform<T>(Generator&, T*, int64_t, double, double);           \
  template void normal<T>(Generator&, T*, int64_t, double, double);            \
  template void normal_sequential<T>(Generator&, T*, int64_t, double, double); \
  template void exponential<T>(Generator&, T*, int64_t, double);               \
  template void cauchy<T>(Generator&, T*, int64_t, double, double);            \
  template void log_normal<T>(Generator&, T*, int64_t, double, double)
X(float);
X(double);
X(Half);
X(BFloat16);
#undef X

#define TAEDA_NUMBERS(X) \
  X(uint8_t);            \
  X(int8_t);             \
  X(int16_t);            \
  X(int32_t);            \
  X(int64_t);            \
  X(uint16_t);           \
  X(uint32_t);           \
  X(uint64_t);           \
  X(float);              \
  X(double);             \
  X(Half);               \
  X(BFloat16)
#define X(T)                                                                   \
  template void random_from_to<T>(Generator&, T*, int64_t, uint64_t, int64_t); \
  template void random_full_range<T>(Generator&, T*, int64_t);                 \
  template void random_default<T>(Generator&, T*, int64_t);                    \
  template void bernoulli<T>(Generator&, T*, int64_t, double);                 \
  template void bernoulli<T, float>(Generator&, T*, int64_t, const float*);    \
  template void bernoulli<T, double>(Generator&, T*, int64_t, const double*);  \
  template void bernoulli<T, Half>(Generator&, T*, int64_t, const Half*);      \
  template void bernoulli<T, BFloat16>(Generator&, T*, int64_t, const BFloat16*)
TAEDA_NUMBERS(X);
X(bool);
#undef X
#define X(T)                                          \
  template void randperm<T>(Generator&, T*, int64_t); \
  template void geometric<T>(Generator&, T*, int64_t, double)
TAEDA_NUMBERS(X);
#undef X

}  // namespace taeda::cpu::random
