// Made by taedagen from tests/taedagen/tiny/second.py.
#pragma once
#include "backend/cpu/engine/loop_bfloat16.h"

namespace taeda::cpu::TAEDA_ISA {

namespace {
// tests/taedagen/tiny/second.py:12
struct mul_Tensor_gradients_0 {
  static constexpr int kInputs = 3, kOutputs = 2, kScalars = 0;
  static constexpr unsigned kMaskInputs = 0, kMaskOutputs = 0, kRealOutputs = 0;
  template <class T>
  TAEDA_INLINE auto run([[maybe_unused]] const V<T>* s, [[maybe_unused]] V<T> grad, [[maybe_unused]] V<T> self, [[maybe_unused]] V<T> other) {
    return std::tuple((grad * other), (grad * self));
  }
};
// tests/taedagen/tiny/second.py:23
struct cubed_gradient_self_0 {
  static constexpr int kInputs = 2, kOutputs = 1, kScalars = 0;
  static constexpr unsigned kMaskInputs = 0, kMaskOutputs = 0, kRealOutputs = 0;
  template <class T>
  TAEDA_INLINE auto run([[maybe_unused]] const V<T>* s, [[maybe_unused]] V<T> grad, [[maybe_unused]] V<T> self) {
    return (grad * ((self * self) * splat(T(3))));
  }
};
// tests/taedagen/tiny/second.py:34
struct weighed_gradients_0 {
  static constexpr int kInputs = 3, kOutputs = 2, kScalars = 1;
  static constexpr unsigned kMaskInputs = 0, kMaskOutputs = 0, kRealOutputs = 0;
  template <class T>
  TAEDA_INLINE auto run([[maybe_unused]] const V<T>* s, [[maybe_unused]] V<T> grad, [[maybe_unused]] V<T> self, [[maybe_unused]] V<T> other) {
    auto t0 = ((grad * s[0]) * other);
    return std::tuple(t0, (t0 * self));
  }
};
// tests/taedagen/tiny/second.py:34
struct weighed_gradient_other_0 {
  static constexpr int kInputs = 3, kOutputs = 1, kScalars = 1;
  static constexpr unsigned kMaskInputs = 0, kMaskOutputs = 0, kRealOutputs = 0;
  template <class T>
  TAEDA_INLINE auto run([[maybe_unused]] const V<T>* s, [[maybe_unused]] V<T> grad, [[maybe_unused]] V<T> self, [[maybe_unused]] V<T> other) {
    return (((grad * s[0]) * other) * self);
  }
};
}  // namespace

extern const Loop k_mul_Tensor_gradients_loops[];
const Loop k_mul_Tensor_gradients_loops[] = {
    loop<mul_Tensor_gradients_0, float>, loop<mul_Tensor_gradients_0, double>, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, loop_bfloat16<mul_Tensor_gradients_0, false>,};
extern const Loop k_cubed_gradient_self_loops[];
const Loop k_cubed_gradient_self_loops[] = {
    loop<cubed_gradient_self_0, float>, loop<cubed_gradient_self_0, double>, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,};
extern const Loop k_weighed_gradients_loops[];
const Loop k_weighed_gradients_loops[] = {
    loop<weighed_gradients_0, float>, loop<weighed_gradients_0, double>, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, loop_bfloat16<weighed_gradients_0, false>,};
extern const Loop k_weighed_gradient_other_loops[];
const Loop k_weighed_gradient_other_loops[] = {
    loop<weighed_gradient_other_0, float>, loop<weighed_gradient_other_0, double>, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, loop_bfloat16<weighed_gradient_other_0, false>,};

}  // namespace taeda::cpu::TAEDA_ISA
