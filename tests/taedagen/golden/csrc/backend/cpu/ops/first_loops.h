// Made by taedagen from tests/taedagen/tiny/first.py.
#pragma once
#include "backend/cpu/engine/loop_bfloat16.h"

namespace taeda::cpu::TAEDA_ISA {

namespace {
// tests/taedagen/tiny/first.py:6
struct twice_0 {
  static constexpr int kInputs = 1, kOutputs = 1, kScalars = 0;
  static constexpr unsigned kMaskInputs = 0, kMaskOutputs = 0, kRealOutputs = 0;
  template <class T>
  TAEDA_INLINE auto run([[maybe_unused]] const V<T>* s, [[maybe_unused]] V<T> self) {
    return (self + self);
  }
};
}  // namespace

extern const Loop k_twice_loops[];
const Loop k_twice_loops[] = {
    loop<twice_0, float>, nullptr, nullptr, loop<twice_0, int64_t>, nullptr, nullptr, nullptr, nullptr, nullptr,};

}  // namespace taeda::cpu::TAEDA_ISA
