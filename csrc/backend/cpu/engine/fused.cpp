#include "backend/cpu/engine/fused.h"

#include <algorithm>

#include "taeda/core/thread_state.h"

namespace taeda::cpu {

namespace {

// A profile is to show what runs without it, too.
constexpr KeySet kUnseen = KeySet(DeviceType::CPU) | Functionality::Dense | kAutogradKeys | Functionality::Profiler;

bool is_complex_number(const Scalar& number) { return number.kind() == Scalar::Kind::Complex; }

bool goes_straight(Operands in, std::span<const Scalar> scalars) {
  if (t_state.grad_mode || t_state.forward_grad) return false;
  KeySet keys;
  for (const Operand& operand : in) {
    const Tensor* t = operand.tensor();
    if (t ? is_complex(t->dtype()) : is_complex_number(operand.number())) return false;
    if (t) keys = keys | t->keys();
  }
  return (effective(keys) - kUnseen).empty() && std::ranges::none_of(scalars, is_complex_number);
}

}  // namespace

bool fused(const Pointwise& op, std::initializer_list<Operand> in, std::initializer_list<Tensor*> results,
           std::initializer_list<Scalar> scalars) {
  const Operands operands{in.begin(), in.size()};
  const std::span<const Scalar> numbers{scalars.begin(), scalars.size()};
  if (!goes_straight(operands, numbers)) return false;
  Tensor made[shape::kMaxResults];
  pointwise_many(op, operands, made, numbers);
  Tensor* next = made;
  for (Tensor* result : results) *result = std::move(*next++);
  return true;
}

}  // namespace taeda::cpu
