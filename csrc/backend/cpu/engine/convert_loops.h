// The conversion loops of one instruction set; included by convert.<instruction set>.cpp.
#pragma once
#include <cstring>

#include "backend/cpu/engine/convert.h"
#include "core/load.h"

#if defined(__AVX512F__)
#define TAEDA_ISA avx512
#elif defined(__AVX2__)
#define TAEDA_ISA avx2
#else
#define TAEDA_ISA baseline
#endif

namespace taeda::cpu::TAEDA_ISA {

namespace {

// Of floating-point numbers out of their range, integers of up to 32 bits (but uint32) get what an int32 of the
// processor leaves: PyTorch converts them that way.
template <class To, class From>
[[gnu::always_inline]] inline To convert_one(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool> &&
                (sizeof(To) < 4 || std::is_same_v<To, int32_t>)) {
    constexpr From kLimit = 2147483648.0f;
    return static_cast<To>(value >= -kLimit && value < kLimit ? static_cast<int32_t>(value) : INT32_MIN);
  } else {
    return convert<To>(value);
  }
}

template <class To, class From>
[[gnu::always_inline]] inline void convert_range(char* to, int64_t to_step, const char* from, int64_t from_step,
                                                 int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    To result = convert_one<To>(load<From>(from + i * from_step));
    std::memcpy(to + i * to_step, &result, sizeof result);
  }
}

#if defined(__F16C__)
// Eight at a time: the compiler has no pattern for these.
using Floats = float __attribute__((vector_size(32)));
using Halves = short __attribute__((vector_size(16)));
inline int64_t convert_halves(float* to, const Half* from, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    Halves h;
    std::memcpy(&h, from + i, sizeof h);
    Floats f = __builtin_ia32_vcvtph2ps256(h);
    std::memcpy(to + i, &f, sizeof f);
  }
  return i;
}
inline int64_t convert_halves(Half* to, const float* from, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    Floats f;
    std::memcpy(&f, from + i, sizeof f);
    Halves h = __builtin_ia32_vcvtps2ph256(f, 0);
    std::memcpy(static_cast<void*>(to + i), &h, sizeof h);
  }
  return i;
}
#endif

template <class To, class From>
void convert_loop(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t n) {
  if (to_step == sizeof(To) && from_step == sizeof(From)) {
    if constexpr (std::is_same_v<To, From>) {
      if (n > 0) std::memmove(to, from, n * sizeof(To));
      return;
    }
#if defined(__F16C__)
    constexpr bool kHalves = (std::is_same_v<To, float> && std::is_same_v<From, Half>) ||
                             (std::is_same_v<To, Half> && std::is_same_v<From, float>);
    if constexpr (kHalves) {
      int64_t done = convert_halves(reinterpret_cast<To*>(to), reinterpret_cast<const From*>(from), n);
      to += done * sizeof(To);
      from += done * sizeof(From);
      n -= done;
    }
#endif
    return convert_range<To, From>(to, sizeof(To), from, sizeof(From), n);
  }
  if constexpr (std::is_same_v<To, From>)
    if (to_step == sizeof(To) && from_step == -static_cast<int64_t>(sizeof(To)))
      return convert_range<To, From>(to, sizeof(To), from, -static_cast<int64_t>(sizeof(To)), n);  // flipped
  convert_range<To, From>(to, to_step, from, from_step, n);
}

}  // namespace

// Indexed by source, then destination.
template <class From>
struct Row {
#define X(name, type, text, category) convert_loop<type, From>,
  static constexpr Convert to[kComputedDTypes] = {TAEDA_FORALL_DTYPES(X)};
#undef X
};
extern const Convert* const kConverters[kComputedDTypes];
#define X(name, type, text, category) Row<type>::to,
const Convert* const kConverters[kComputedDTypes] = {TAEDA_FORALL_DTYPES(X)};
#undef X

}  // namespace taeda::cpu::TAEDA_ISA
