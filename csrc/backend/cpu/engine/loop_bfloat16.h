// The loop around a formula for float whose operands are stored as bfloat16. A vector holds two of float, the elements
// at even and at odd places: their bits need no more than a shift and a mask, where neighbours would have to be moved
// apart.
#pragma once
#include <array>
#include <tuple>

#include "backend/cpu/engine/loop.h"

namespace taeda::cpu::TAEDA_ISA {

#if defined(__x86_64__) && !defined(__AVX2__)
template <class F, bool>  // on machines that old, operands are converted block by block: small counts more
constexpr Loop loop_bfloat16 = nullptr;
#else
typedef uint32_t Bits __attribute__((vector_size(TAEDA_VECTOR_BYTES)));
typedef uint16_t BytePairs __attribute__((vector_size(TAEDA_VECTOR_BYTES / 2)));
constexpr uint32_t kOdd = 0xffff0000;
constexpr int64_t kPairs = 2 * N<float>;  // elements of a step

TAEDA_INLINE Bits widen(BytePairs pairs) {
#if defined(__AVX512F__)  // of which the compiler makes several instructions
  typedef short Shorts __attribute__((vector_size(32)));
  return (Bits)__builtin_ia32_pmovzxwd512_mask((Shorts)pairs, V<int>{}, 0xffff);
#else
  return __builtin_convertvector(pairs, Bits);
#endif
}
TAEDA_INLINE BytePairs narrow(Bits bits) {
#if defined(__AVX512F__)
  typedef short Shorts __attribute__((vector_size(32)));
  return (BytePairs)__builtin_ia32_pmovdw512_mask((V<int>)bits, Shorts{}, 0xffff);
#else
  return __builtin_convertvector(bits, BytePairs);
#endif
}

// {even, odd} elements at p: numbers, or truth values where the formula wants those.
template <bool kMask>
TAEDA_INLINE auto read_pairs(const char* p) {
  if constexpr (kMask) {
    BytePairs bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    Bits pairs = widen(bytes);
    return std::array{(M<float>)(pairs << 24 != 0), (M<float>)(pairs >> 8 != 0)};
  } else {
    Bits bits;
    std::memcpy(&bits, p, sizeof bits);
    return std::array{(V<float>)(bits << 16), (V<float>)(bits & kOdd)};
  }
}

// As BFloat16(float) rounds; the upper halves count.
template <bool kExact>
TAEDA_INLINE Bits rounded(V<float> x) {
  Bits bits = (Bits)x;
  if constexpr (kExact) return bits;
  return x == x ? bits + 0x7fff + (bits >> 16 & 1) : Bits{} + 0x7fc00000;
}

template <bool kMask, bool kExact, class Value>
TAEDA_INLINE void write_pairs(char* p, const Value& even, const Value& odd) {
  if constexpr (kMask) {
    BytePairs bytes = narrow(((Bits)even & 1) | ((Bits)odd & 0x100));
    std::memcpy(p, &bytes, sizeof bytes);
  } else {
    Bits bits = rounded<kExact>(even) >> 16 | (rounded<kExact>(odd) & kOdd);
    std::memcpy(p, &bits, sizeof bits);
  }
}

template <class F, bool kExact, size_t... kIn, size_t... kOut>
TAEDA_INLINE void pair_step(char* const* p, const std::array<int64_t, F::kInputs + F::kOutputs>& at, const V<float>* s,
                            std::index_sequence<kIn...>, std::index_sequence<kOut...>) {
  constexpr size_t kOuts = sizeof...(kOut);
  auto in = std::tuple(read_pairs<(F::kMaskInputs >> kIn & 1)>(p[kOuts + kIn] + at[kOuts + kIn])...);
  auto half = [&](int k) {
    auto values = F::template run<float>(s, std::get<kIn>(in)[k]...);
    if constexpr (kOuts == 1)
      return std::tuple(values);
    else
      return values;
  };
  auto even = half(0), odd = half(1);
  (write_pairs<(F::kMaskOutputs >> kOut & 1), kExact>(p[kOut] + at[kOut], std::get<kOut>(even), std::get<kOut>(odd)),
   ...);
}

// kExact: bfloat16 holds every result without rounding.
template <class F, bool kExact>
void loop_bfloat16(char* const* operands, int64_t n, const void* scalars) {
  constexpr auto kIn = std::make_index_sequence<F::kInputs>();
  constexpr auto kOut = std::make_index_sequence<F::kOutputs>();
  constexpr int kOperands = F::kInputs + F::kOutputs;
  constexpr unsigned kMasks = F::kMaskOutputs | F::kMaskInputs << F::kOutputs;
  V<float> s[F::kScalars + 1];
  for (int i = 0; i < F::kScalars; ++i) s[i] = splat(static_cast<const float*>(scalars)[i]);
  std::array<int64_t, kOperands> at{};
  auto item = [](int k) -> int64_t { return kMasks >> k & 1 ? 1 : 2; };
  for (; n >= kPairs; n -= kPairs) {
    pair_step<F, kExact>(operands, at, s, kIn, kOut);
    for (int k = 0; k < kOperands; ++k) at[k] += kPairs * item(k);
  }
  if (n == 0) return;
  char rest[kOperands][2 * kPairs] = {};
  char* places[kOperands];
  for (int k = 0; k < kOperands; ++k) {
    places[k] = rest[k];
    if (k >= F::kOutputs) std::memcpy(rest[k], operands[k] + at[k], n * item(k));
  }
  pair_step<F, kExact>(places, {}, s, kIn, kOut);
  for (int k = 0; k < F::kOutputs; ++k) std::memcpy(operands[k] + at[k], rest[k], n * item(k));
}
#endif

}  // namespace taeda::cpu::TAEDA_ISA
