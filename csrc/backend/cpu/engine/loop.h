// The loop around a formula: contiguous operands of one compute type, all of the same length.
#pragma once
#include <tuple>

#include "backend/cpu/engine/loop_table.h"
#include "backend/cpu/engine/vec.h"

namespace taeda::cpu::TAEDA_ISA {

// A formula is a struct with
//   template <class T> static auto run(const V<T>* s, V<T> or M<T>... inputs)   the value, or a tuple of values
//   kInputs, kOutputs, kScalars; kMaskInputs, kMaskOutputs, kRealOutputs        bit i: operand i is truth bytes / real
//   parts
// Numbers are `s`, spread over lanes before the loop.
template <class F, class T, int kIndex, bool kTail>
TAEDA_INLINE auto read(const char* p, int64_t n) {
  if constexpr (F::kMaskInputs >> kIndex & 1) {
    if constexpr (kTail)
      return load_mask<T>(p, n);
    else
      return load_mask<T>(p);
  } else {
    if constexpr (kTail)
      return load<T>(p, n);
    else
      return load<T>(p);
  }
}

template <class F, class T, int kIndex, bool kTail, class Value>
TAEDA_INLINE void write(char* p, const Value& value, int64_t n) {
  if constexpr (F::kMaskOutputs >> kIndex & 1) {
    if constexpr (kTail)
      store_mask<T>(p, value, n);
    else
      store_mask<T>(p, value);
  } else if constexpr (is_cx<T> && (F::kRealOutputs >> kIndex & 1)) {
    std::memcpy(p, &value.re, sizeof value.re);
  } else {
    if constexpr (kTail)
      store<T>(p, value, n);
    else
      store<T>(p, value);
  }
}

template <class F, class T, int kIndex>
constexpr int64_t input_step = F::kMaskInputs >> kIndex & 1 ? 1 : sizeof(T);
template <class F, class T, int kIndex>
constexpr int64_t output_step = F::kMaskOutputs >> kIndex & 1               ? 1
                                : F::kRealOutputs >> kIndex & 1 && is_cx<T> ? sizeof(T) / 2
                                                                            : sizeof(T);

template <class F, class T, bool kTail, size_t... kIn, size_t... kOut>
TAEDA_INLINE void step(char* const* p, int64_t i, int64_t n, const V<T>* s, std::index_sequence<kIn...>,
                       std::index_sequence<kOut...>) {
  auto result =
      F::template run<T>(s, read<F, T, kIn, kTail>(p[sizeof...(kOut) + kIn] + i * input_step<F, T, kIn>, n)...);
  if constexpr (sizeof...(kOut) == 1)
    write<F, T, 0, kTail>(p[0] + i * output_step<F, T, 0>, result, n);
  else
    (write<F, T, kOut, kTail>(p[kOut] + i * output_step<F, T, kOut>, std::get<kOut>(result), n), ...);
}

template <class F, class T>
void loop(char* const* operands, int64_t n, const void* scalars) {
  constexpr auto kIn = std::make_index_sequence<F::kInputs>();
  constexpr auto kOut = std::make_index_sequence<F::kOutputs>();
  char* p[F::kInputs + F::kOutputs];
  for (int i = 0; i < F::kInputs + F::kOutputs; ++i) p[i] = operands[i];
  V<T> s[F::kScalars + 1];
  for (int i = 0; i < F::kScalars; ++i) s[i] = splat(static_cast<const T*>(scalars)[i]);
  int64_t i = 0;
#pragma GCC ivdep  // partly overlapping operands were refused; so complex numbers may be taken several at a time
  for (; i + N<T> <= n; i += N<T>) step<F, T, false>(p, i, N<T>, s, kIn, kOut);
  if (i < n) step<F, T, true>(p, i, n - i, s, kIn, kOut);
}

}  // namespace taeda::cpu::TAEDA_ISA
