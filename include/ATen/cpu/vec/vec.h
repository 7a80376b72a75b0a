// Vectors of elements: Vectorized<float>::loadu(p) * Vectorized<float>(2). Loops over 64 bytes, which the compiler
// turns into the instructions that it is told to use (-mavx2, -mavx512f); elsewhere they are plain loops.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <tuple>
#include <type_traits>

#include <c10/util/BFloat16-math.h>
#include <c10/util/Exception.h>
#include <c10/util/complex.h>

namespace at::vec {
inline namespace CPU_CAPABILITY {

template <class T>
struct alignas(64) Vectorized {
  using value_type = T;
  using size_type = int;
  static constexpr int kSize = static_cast<int>(64 / sizeof(T));
  static constexpr size_type size() { return kSize; }

  Vectorized() : values{} {}
  Vectorized(T value) { values.fill(value); }
  template <class... Values>
    requires(sizeof...(Values) == kSize && sizeof...(Values) > 1)
  Vectorized(Values... each) : values{static_cast<T>(each)...} {}

  static Vectorized loadu(const void* from, int64_t count = kSize) {
    Vectorized made;
    std::memcpy(made.values.data(), from, static_cast<size_t>(count) * sizeof(T));
    return made;
  }
  void store(void* to, int64_t count = kSize) const {
    std::memcpy(to, values.data(), static_cast<size_t>(count) * sizeof(T));
  }
  static Vectorized arange(T base = 0, T step = 1) {
    Vectorized made;
    for (int i = 0; i < kSize; ++i) made.values[i] = static_cast<T>(base + step * static_cast<T>(i));
    return made;
  }
  // b where the bit of the mask is set, else a; where the mask's element is not zero; the first `count` of b.
  template <int64_t mask>
  static Vectorized blend(const Vectorized& a, const Vectorized& b) {
    Vectorized made = a;
    for (int i = 0; i < kSize; ++i)
      if (mask >> i & 1) made.values[i] = b.values[i];
    return made;
  }
  static Vectorized blendv(const Vectorized& a, const Vectorized& b, const Vectorized& mask) {
    Vectorized made = a;
    for (int i = 0; i < kSize; ++i)
      if (is_set(mask.values[i])) made.values[i] = b.values[i];
    return made;
  }
  static Vectorized set(const Vectorized& a, const Vectorized& b, int64_t count = kSize) {
    Vectorized made = a;
    std::copy_n(b.values.begin(), count, made.values.begin());
    return made;
  }
  const T& operator[](int i) const { return values[i]; }
  T& operator[](int i) { return values[i]; }
  operator const T*() const { return values.data(); }

  template <class F>
  Vectorized map(F f) const {
    Vectorized made;
    for (int i = 0; i < kSize; ++i) made.values[i] = static_cast<T>(f(values[i]));
    return made;
  }
  template <class F>
  static Vectorized zip(const Vectorized& a, const Vectorized& b, F f) {
    Vectorized made;
    for (int i = 0; i < kSize; ++i) made.values[i] = static_cast<T>(f(a.values[i], b.values[i]));
    return made;
  }

#define TAEDA_VEC_MAP(name)                             \
  Vectorized name() const {                             \
    return map([](T x) { return std::name(wide(x)); }); \
  }
  TAEDA_VEC_MAP(abs)
  TAEDA_VEC_MAP(sqrt)
  TAEDA_VEC_MAP(exp)
  TAEDA_VEC_MAP(exp2)
  TAEDA_VEC_MAP(expm1)
  TAEDA_VEC_MAP(log)
  TAEDA_VEC_MAP(log2)
  TAEDA_VEC_MAP(log10)
  TAEDA_VEC_MAP(log1p)
  TAEDA_VEC_MAP(sin)
  TAEDA_VEC_MAP(cos)
  TAEDA_VEC_MAP(tan)
  TAEDA_VEC_MAP(asin)
  TAEDA_VEC_MAP(acos)
  TAEDA_VEC_MAP(atan)
  TAEDA_VEC_MAP(sinh)
  TAEDA_VEC_MAP(cosh)
  TAEDA_VEC_MAP(tanh)
  TAEDA_VEC_MAP(erf)
  TAEDA_VEC_MAP(erfc)
  TAEDA_VEC_MAP(floor)
  TAEDA_VEC_MAP(ceil)
  TAEDA_VEC_MAP(trunc)
  TAEDA_VEC_MAP(asinh)
  TAEDA_VEC_MAP(acosh)
  TAEDA_VEC_MAP(atanh)
  TAEDA_VEC_MAP(lgamma)
#undef TAEDA_VEC_MAP
#define TAEDA_VEC_ZIP(name)                                                         \
  Vectorized name(const Vectorized& other) const {                                  \
    return zip(*this, other, [](T x, T y) { return std::name(wide(x), wide(y)); }); \
  }
  TAEDA_VEC_ZIP(atan2)
  TAEDA_VEC_ZIP(fmod)
  TAEDA_VEC_ZIP(hypot)
  TAEDA_VEC_ZIP(copysign)
  TAEDA_VEC_ZIP(nextafter)
#undef TAEDA_VEC_ZIP
  Vectorized frac() const { return *this - trunc(); }
  Vectorized exp_u20() const { return exp(); }
  Vectorized round() const {
    return map([](T x) { return std::nearbyint(wide(x)); });
  }
  Vectorized neg() const {
    return map([](T x) { return -x; });
  }
  Vectorized reciprocal() const {
    return map([](T x) { return T(1) / x; });
  }
  Vectorized rsqrt() const {
    return map([](T x) { return 1 / std::sqrt(wide(x)); });
  }
  Vectorized pow(const Vectorized& e) const {
    return zip(*this, e, [](T x, T y) { return std::pow(wide(x), wide(y)); });
  }
  Vectorized isnan() const {
    return map([](T x) { return truth(x != x); });
  }
  bool has_inf_nan() const {
    return std::any_of(values.begin(), values.end(), [](T x) { return !std::isfinite(wide(x)); });
  }
  T reduce_add() const { return std::accumulate(values.begin() + 1, values.end(), values[0], std::plus<T>()); }
  T reduce_max() const { return *std::max_element(values.begin(), values.end()); }

  // Comparisons give elements whose bits are all set or all clear; eq and its kin 1 and 0.
#define TAEDA_VEC_COMPARE(sign, name)                                            \
  Vectorized operator sign(const Vectorized& other) const {                      \
    return zip(*this, other, [](T x, T y) { return truth(x sign y); });          \
  }                                                                              \
  Vectorized name(const Vectorized& other) const {                               \
    return zip(*this, other, [](T x, T y) { return static_cast<T>(x sign y); }); \
  }
  TAEDA_VEC_COMPARE(==, eq)
  TAEDA_VEC_COMPARE(!=, ne)
  TAEDA_VEC_COMPARE(<, lt)
  TAEDA_VEC_COMPARE(<=, le)
  TAEDA_VEC_COMPARE(>, gt)
  TAEDA_VEC_COMPARE(>=, ge)
#undef TAEDA_VEC_COMPARE

  std::array<T, kSize> values;

 private:
  // What standard functions compute half types in.
  static auto wide(T x) {
    if constexpr (std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>)
      return static_cast<float>(x);
    else
      return x;
  }
  static T truth(bool value) {
    T made{};
    if (value) std::memset(static_cast<void*>(&made), 0xff, sizeof(T));
    return made;
  }
  static bool is_set(const T& mask) {
    T none{};
    return std::memcmp(&mask, &none, sizeof(T)) != 0;
  }
};

#define TAEDA_VEC_BINARY(sign)                                                          \
  template <class T>                                                                    \
  Vectorized<T> operator sign(const Vectorized<T>& a, const Vectorized<T>& b) {         \
    return Vectorized<T>::zip(a, b, [](T x, T y) { return static_cast<T>(x sign y); }); \
  }                                                                                     \
  template <class T>                                                                    \
  Vectorized<T>& operator sign## = (Vectorized<T> & a, const Vectorized<T>& b) {        \
    return a = a sign b;                                                                \
  }
TAEDA_VEC_BINARY(+)
TAEDA_VEC_BINARY(-)
TAEDA_VEC_BINARY(*)
TAEDA_VEC_BINARY(/)
#undef TAEDA_VEC_BINARY
// Of bits, as masks are.
#define TAEDA_VEC_BITS(sign)                                                           \
  template <class T>                                                                   \
  Vectorized<T> operator sign(const Vectorized<T>& a, const Vectorized<T>& b) {        \
    Vectorized<T> made;                                                                \
    std::array<unsigned char, 64> x, y;                                                \
    std::memcpy(x.data(), a.values.data(), 64);                                        \
    std::memcpy(y.data(), b.values.data(), 64);                                        \
    for (size_t i = 0; i < 64; ++i) x[i] = static_cast<unsigned char>(x[i] sign y[i]); \
    std::memcpy(made.values.data(), x.data(), 64);                                     \
    return made;                                                                       \
  }
TAEDA_VEC_BITS(&)
TAEDA_VEC_BITS(|)
TAEDA_VEC_BITS(^)
#undef TAEDA_VEC_BITS

template <class T>
Vectorized<T> fmadd(const Vectorized<T>& a, const Vectorized<T>& b, const Vectorized<T>& c) {
  return a * b + c;
}
template <class T>
Vectorized<T> fmsub(const Vectorized<T>& a, const Vectorized<T>& b, const Vectorized<T>& c) {
  return a * b - c;
}
template <class T>
Vectorized<T> fnmadd(const Vectorized<T>& a, const Vectorized<T>& b, const Vectorized<T>& c) {
  return c - a * b;
}
template <class T>
Vectorized<T> fnmsub(const Vectorized<T>& a, const Vectorized<T>& b, const Vectorized<T>& c) {
  return Vectorized<T>(0) - a * b - c;
}
// NaN where either is.
template <class T>
Vectorized<T> maximum(const Vectorized<T>& a, const Vectorized<T>& b) {
  return Vectorized<T>::zip(a, b, [](T x, T y) { return x != x ? x : y != y ? y : x > y ? x : y; });
}
template <class T>
Vectorized<T> minimum(const Vectorized<T>& a, const Vectorized<T>& b) {
  return Vectorized<T>::zip(a, b, [](T x, T y) { return x != x ? x : y != y ? y : x < y ? x : y; });
}
template <class T>
Vectorized<T> clamp(const Vectorized<T>& a, const Vectorized<T>& low, const Vectorized<T>& high) {
  return minimum(maximum(a, low), high);
}
template <class T>
Vectorized<T> clamp_min(const Vectorized<T>& a, const Vectorized<T>& low) {
  return maximum(a, low);
}
template <class T>
Vectorized<T> clamp_max(const Vectorized<T>& a, const Vectorized<T>& high) {
  return minimum(a, high);
}

// --- elements in other places
template <class T>
Vectorized<T> flip(const Vectorized<T>& v) {
  Vectorized<T> made;
  std::reverse_copy(v.values.begin(), v.values.end(), made.values.begin());
  return made;
}
// {a0, b0, a1, b1, ...} in two vectors, and back.
template <class T>
std::pair<Vectorized<T>, Vectorized<T>> interleave2(const Vectorized<T>& a, const Vectorized<T>& b) {
  std::pair<Vectorized<T>, Vectorized<T>> made;
  constexpr int kHalf = Vectorized<T>::size() / 2;
  for (int i = 0; i < kHalf; ++i) {
    made.first[2 * i] = a[i];
    made.first[2 * i + 1] = b[i];
    made.second[2 * i] = a[kHalf + i];
    made.second[2 * i + 1] = b[kHalf + i];
  }
  return made;
}
template <class T>
std::pair<Vectorized<T>, Vectorized<T>> deinterleave2(const Vectorized<T>& a, const Vectorized<T>& b) {
  std::pair<Vectorized<T>, Vectorized<T>> made;
  constexpr int kHalf = Vectorized<T>::size() / 2;
  for (int i = 0; i < kHalf; ++i) {
    made.first[i] = a[2 * i];
    made.first[kHalf + i] = b[2 * i];
    made.second[i] = a[2 * i + 1];
    made.second[kHalf + i] = b[2 * i + 1];
  }
  return made;
}

// --- half types as the numbers they are computed in: two vectors of float for each of theirs
template <class Half>
std::pair<Vectorized<float>, Vectorized<float>> halves_as_floats(const Vectorized<Half>& v) {
  std::pair<Vectorized<float>, Vectorized<float>> made;
  constexpr int kSize = Vectorized<float>::size();
  for (int i = 0; i < kSize; ++i) {
    made.first[i] = static_cast<float>(v[i]);
    made.second[i] = static_cast<float>(v[i + kSize]);
  }
  return made;
}
template <class Half>
Vectorized<Half> convert_from_float(const Vectorized<float>& a, const Vectorized<float>& b) {
  Vectorized<Half> made;
  constexpr int kSize = Vectorized<float>::size();
  for (int i = 0; i < kSize; ++i) {
    made[i] = static_cast<Half>(a[i]);
    made[i + kSize] = static_cast<Half>(b[i]);
  }
  return made;
}
#define TAEDA_VEC_HALF(Half, name)                                                                                 \
  inline std::tuple<Vectorized<float>, Vectorized<float>> convert_##name##_float(const Vectorized<c10::Half>& v) { \
    return halves_as_floats(v);                                                                                    \
  }                                                                                                                \
  inline std::tuple<Vectorized<float>, Vectorized<float>> convert_to_float(const Vectorized<c10::Half>& v) {       \
    return halves_as_floats(v);                                                                                    \
  }                                                                                                                \
  inline Vectorized<c10::Half> convert_float_##name(const Vectorized<float>& a, const Vectorized<float>& b) {      \
    return convert_from_float<c10::Half>(a, b);                                                                    \
  }
// A vector of floats from as many elements of another type, and two from twice as many.
template <class T>
void load_to_float(const T* from, Vectorized<float>& to) {
  std::copy_n(from, Vectorized<float>::size(), to.values.begin());
}
template <class T>
void load_to_float(const T* from, Vectorized<float>& first, Vectorized<float>& second) {
  load_to_float(from, first);
  load_to_float(from + Vectorized<float>::size(), second);
}
inline void load_fp32_from_bf16(const c10::BFloat16* from, Vectorized<float>& to) { load_to_float(from, to); }
inline void load_fp32_from_bf16(const c10::BFloat16* from, Vectorized<float>& first, Vectorized<float>& second) {
  load_to_float(from, first, second);
}
inline void load_fp32_from_fp16(const c10::Half* from, Vectorized<float>& to) { load_to_float(from, to); }
inline void load_fp32_from_fp16(const c10::Half* from, Vectorized<float>& first, Vectorized<float>& second) {
  load_to_float(from, first, second);
}
TAEDA_VEC_HALF(BFloat16, bfloat16)
TAEDA_VEC_HALF(Half, half)
#undef TAEDA_VEC_HALF
template <class T>
constexpr bool is_reduced_floating_point_v = std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>;

// --- over arrays
namespace detail {
// Functions may take their vectors by reference, and change them.
template <class F, class... Vectors>
auto on(const F& f, Vectors... vectors) {
  return f(vectors...);
}
}  // namespace detail
template <class T, class F>
T vec_reduce_all(const F& f, Vectorized<T> a, int64_t count = Vectorized<T>::size()) {
  T made = a[0];
  for (int i = 1; i < count; ++i) made = detail::on(f, Vectorized<T>(made), Vectorized<T>(a[i]))[0];
  return made;
}
template <class T, class F>
void map(const F& f, T* out, const T* in, int64_t count) {
  constexpr int64_t kStep = Vectorized<T>::size();
  for (int64_t i = 0; i < count; i += kStep) {
    const int64_t n = std::min(kStep, count - i);
    detail::on(f, Vectorized<T>::loadu(in + i, n)).store(out + i, n);
  }
}
template <class T, class F>
void map2(const F& f, T* out, const T* a, const T* b, int64_t count) {
  constexpr int64_t kStep = Vectorized<T>::size();
  for (int64_t i = 0; i < count; i += kStep) {
    const int64_t n = std::min(kStep, count - i);
    detail::on(f, Vectorized<T>::loadu(a + i, n), Vectorized<T>::loadu(b + i, n)).store(out + i, n);
  }
}
template <class T, class F>
T reduce_all(const F& f, const T* in, int64_t count) {
  constexpr int64_t kStep = Vectorized<T>::size();
  if (count < kStep) return vec_reduce_all(f, Vectorized<T>::loadu(in, count), count);
  Vectorized<T> made = Vectorized<T>::loadu(in);
  int64_t i = kStep;
  for (; i + kStep <= count; i += kStep) made = detail::on(f, made, Vectorized<T>::loadu(in + i));
  if (i < count)
    made = Vectorized<T>::set(made, detail::on(f, made, Vectorized<T>::loadu(in + i, count - i)), count - i);
  return vec_reduce_all(f, made);
}
// The elements as another type: as many as a vector of either type holds, the rest 0.
template <class To, class From>
Vectorized<To> convert(const Vectorized<From>& from) {
  Vectorized<To> made;
  for (int i = 0; i < std::min(Vectorized<To>::kSize, Vectorized<From>::kSize); ++i)
    made.values[i] = static_cast<To>(from.values[i]);
  return made;
}
template <class To, class From>
void convert(const From* in, To* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<To>(in[i]);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
