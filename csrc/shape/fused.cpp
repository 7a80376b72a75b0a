#include "shape/fused.h"

#include <algorithm>

#include "taeda/core/thread_state.h"

namespace taeda::fused {

namespace {

bool is_complex_number(const Scalar& number) { return number.kind() == Scalar::Kind::Complex; }

bool goes_straight(DeviceType device, shape::Operands in, std::span<const Scalar> scalars) {
  if (t_state.grad_mode || t_state.forward_grad) return false;
  KeySet keys;
  for (const shape::Operand& operand : in) {
    const Tensor* t = operand.tensor();
    if (t ? is_complex(t->dtype()) : is_complex_number(operand.number())) return false;
    if (t) keys = keys | t->keys();
  }
  // A profile is to show what runs without it, too.
  const KeySet unseen = KeySet(device) | Functionality::Dense | kAutogradKeys | Functionality::Profiler;
  return (effective(keys) - unseen).empty() && std::ranges::none_of(scalars, is_complex_number);
}

}  // namespace

bool run(const Kernel& kernel, std::initializer_list<shape::Operand> in, std::initializer_list<Tensor*> results,
         std::initializer_list<Scalar> scalars) {
  const shape::Operands operands{in.begin(), in.size()};
  const std::span<const Scalar> numbers{scalars.begin(), scalars.size()};
  const DeviceType device = (*operands[0].tensor())->device().type;
  if (is_name_alone(device)) return false;
  const Run own = kernel.on[static_cast<int>(device)].load(std::memory_order_acquire);
  if (!own || !goes_straight(device, operands, numbers)) return false;
  Tensor made[shape::kMaxResults];
  own(operands, made, numbers);
  Tensor* next = made;
  for (Tensor* result : results) *result = std::move(*next++);
  return true;
}

}  // namespace taeda::fused
