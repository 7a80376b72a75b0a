// Made by taedagen from tests/taedagen/tiny/second.py.
#include "api/values.h"
#include "autograd/ops/second.h"
#include "autograd/record.h"
#include "autograd/numbers.h"
#include "backend/cpu/second_gradients.h"
#include "dispatch/ops/second.h"
#include "dispatch/call.h"

namespace taeda {
extern template struct Boxing<Tensor(const Tensor&)>;
extern template struct Caller<Tensor(const Tensor&)>;
extern template struct Boxing<Tensor(const Tensor&, const Scalar&)>;
extern template struct Caller<Tensor(const Tensor&, const Scalar&)>;
extern template struct Boxing<Tensor(const Tensor&, const Tensor&)>;
extern template struct Caller<Tensor(const Tensor&, const Tensor&)>;
extern template struct Boxing<Tensor(const Tensor&, const Tensor&, const Scalar&)>;
extern template struct Caller<Tensor(const Tensor&, const Tensor&, const Scalar&)>;
extern template struct Boxing<Tensor(const Tensor&, std::string_view)>;
extern template struct Caller<Tensor(const Tensor&, std::string_view)>;
extern template struct Boxing<void(const Tensor&)>;
extern template struct Caller<void(const Tensor&)>;
namespace ops {
TAEDA_API Tensor mul(const Tensor& self, const Tensor& other);
TAEDA_API Tensor mul(const Tensor& self, const Scalar& other);
TAEDA_API Tensor widen(const Tensor& self);
}  // namespace ops
using namespace taeda::autograd;

namespace {
// tests/taedagen/tiny/second.py:6
struct MulBackward0 final : Node {
  SavedTensor self_;
  SavedTensor other_;
  std::string_view name() const override { return "MulBackward0"; }
  void release_saved() override { self_.reset(); other_.reset(); }
  void visit_saved(SavedVisitor& v) override { v.tensor("self", self_); v.tensor("other", other_); }
  void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override {
    const Tensor& grad = grads[0];
    if (!grad.defined()) return;
    Tensor self_v = needed(1) ? self_.unpack(this) : Tensor();
    Tensor other_v = needed(0) ? other_.unpack(this) : Tensor();
    const bool fused = needed(0) && needed(1) && cpu::fused(cpu::k_mul_Tensor_gradients, {grad, self_v, other_v}, {&grad_inputs[0], &grad_inputs[1]});
    if (!fused && needed(0)) { grad_inputs[0] = ops::mul(grad, other_v); }
    if (!fused && needed(1)) { grad_inputs[1] = ops::mul(grad, self_v); }
  }
};
}  // namespace

namespace autograd {
namespace {
void mul_tangent([[maybe_unused]] const Tensor& made, [[maybe_unused]] const Tensor& self, [[maybe_unused]] const Tensor& other) {
  for (EachLevel level; level.next();) {
    Diagonal jacobian(made, level);
    if (has_tangent(self, level))
      jacobian.add(self, [&]([[maybe_unused]] const Tensor& grad) -> Tensor {
        return ops::mul(grad, other);
      });
    if (has_tangent(other, level))
      jacobian.add(other, [&]([[maybe_unused]] const Tensor& grad) -> Tensor {
        return ops::mul(grad, self);
      });
    give_tangent(made, jacobian.sum(), level);
  }
}
}  // namespace
// tests/taedagen/tiny/second.py:6
Tensor mul(KeySet keys, const Tensor& self, const Tensor& other) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  const bool forward = has_tangents(self, other);
  if (!recording(self, other)) [[likely]] {
    if (!forward) [[likely]] return Caller<Tensor(const Tensor&, const Tensor&)>::call(table::second[table::mul_Tensor], keys, self, other);
    auto made = [&] {
      BelowAutograd guard;
      return Caller<Tensor(const Tensor&, const Tensor&)>::call(table::second[table::mul_Tensor], keys, self, other);
    }();
    mul_tangent(made, self, other);
    return made;
  }
  auto node = make_node<MulBackward0>();
  collect(*node, self, other);
  if (node->should_compute(1)) node->self_ = SavedTensor(self, false);
  if (node->should_compute(0)) node->other_ = SavedTensor(other, false);
  auto made = [&] {
    BelowAutograd guard;
    return Caller<Tensor(const Tensor&, const Tensor&)>::call(table::second[table::mul_Tensor], keys, self, other);
  }();
  set_history(made, node);
  if (forward) [[unlikely]] mul_tangent(made, self, other);
  return made;
}
}  // namespace autograd

namespace {
// tests/taedagen/tiny/second.py:6
struct MulBackward0_Scalar final : Node {
  Scalar other_;
  std::string_view name() const override { return "MulBackward0"; }
  void visit_saved(SavedVisitor& v) override { v.value("other", box(other_)); }
  void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override {
    const Tensor& grad = grads[0];
    if (!grad.defined()) return;
    if (needed(0)) { grad_inputs[0] = scaled(grad, other_); }
  }
};
}  // namespace

namespace autograd {
namespace {
void mul_tangent([[maybe_unused]] const Tensor& made, [[maybe_unused]] const Tensor& self, [[maybe_unused]] const Scalar& other) {
  for (EachLevel level; level.next();) {
    Diagonal jacobian(made, level);
    if (has_tangent(self, level))
      jacobian.add(self, [&]([[maybe_unused]] const Tensor& grad) -> Tensor {
        return scaled(grad, other);
      });
    give_tangent(made, jacobian.sum(), level);
  }
}
}  // namespace
// tests/taedagen/tiny/second.py:6
Tensor mul(KeySet keys, const Tensor& self, const Scalar& other) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  const bool forward = has_tangents(self);
  if (!recording(self)) [[likely]] {
    if (!forward) [[likely]] return Caller<Tensor(const Tensor&, const Scalar&)>::call(table::second[table::mul_Scalar], keys, self, other);
    auto made = [&] {
      BelowAutograd guard;
      return Caller<Tensor(const Tensor&, const Scalar&)>::call(table::second[table::mul_Scalar], keys, self, other);
    }();
    mul_tangent(made, self, other);
    return made;
  }
  auto node = make_node<MulBackward0_Scalar>();
  collect(*node, self);
  node->other_ = other;
  auto made = [&] {
    BelowAutograd guard;
    return Caller<Tensor(const Tensor&, const Scalar&)>::call(table::second[table::mul_Scalar], keys, self, other);
  }();
  set_history(made, node);
  if (forward) [[unlikely]] mul_tangent(made, self, other);
  return made;
}
}  // namespace autograd

namespace {
// tests/taedagen/tiny/second.py:17
struct CubedBackward0 final : Node {
  SavedTensor self_;
  std::string_view name() const override { return "CubedBackward0"; }
  void release_saved() override { self_.reset(); }
  void visit_saved(SavedVisitor& v) override { v.tensor("self", self_); }
  void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override {
    const Tensor& grad = grads[0];
    if (!grad.defined()) return;
    Tensor self_v = needed(0) ? self_.unpack(this) : Tensor();
    if (needed(0) && !cpu::fused(cpu::k_cubed_gradient_self, {grad, self_v}, {&grad_inputs[0]})) { grad_inputs[0] = ops::mul(grad, ops::mul(ops::mul(self_v, self_v), Scalar(int64_t{3}))); }
  }
};
}  // namespace

namespace autograd {
namespace {
void cubed_tangent([[maybe_unused]] const Tensor& made, [[maybe_unused]] const Tensor& self) {
  for (EachLevel level; level.next();) {
    Diagonal jacobian(made, level);
    if (has_tangent(self, level))
      jacobian.add(self, [&]([[maybe_unused]] const Tensor& grad) -> Tensor {
        return ops::mul(grad, ops::mul(ops::mul(self, self), Scalar(int64_t{3})));
      });
    give_tangent(made, jacobian.sum(), level);
  }
}
}  // namespace
// tests/taedagen/tiny/second.py:17
Tensor cubed(KeySet keys, const Tensor& self) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  const bool forward = has_tangents(self);
  if (!recording(self)) [[likely]] {
    if (!forward) [[likely]] return Caller<Tensor(const Tensor&)>::call(table::second[table::cubed_plain], keys, self);
    auto made = [&] {
      BelowAutograd guard;
      return Caller<Tensor(const Tensor&)>::call(table::second[table::cubed_plain], keys, self);
    }();
    cubed_tangent(made, self);
    return made;
  }
  auto node = make_node<CubedBackward0>();
  collect(*node, self);
  node->self_ = SavedTensor(self, false);
  auto made = [&] {
    BelowAutograd guard;
    return Caller<Tensor(const Tensor&)>::call(table::second[table::cubed_plain], keys, self);
  }();
  set_history(made, node);
  if (forward) [[unlikely]] cubed_tangent(made, self);
  return made;
}
}  // namespace autograd

namespace autograd {
namespace {
void cubed__tangent([[maybe_unused]] const Tensor& before, [[maybe_unused]] const Tensor& self) {
  for (EachLevel level; level.next();) {
    Diagonal jacobian(self, level);
    if (has_tangent(self, level))
      jacobian.add(self, [&]([[maybe_unused]] const Tensor& grad) -> Tensor {
        return ops::mul(grad, ops::mul(ops::mul(before, before), Scalar(int64_t{3})));
      });
    write_tangent(self, jacobian.sum(), level);
  }
}
}  // namespace
// tests/taedagen/tiny/second.py:17
void cubed_(KeySet keys, const Tensor& self) {
  keys = keys & KeySet::below(Functionality::Autograd);
  const bool forward = has_tangents(self);
  Tensor before = forward ? clone_for_inplace(self) : Tensor();
  if (!recording(self)) [[likely]] {
    if (!forward) [[likely]] return Caller<void(const Tensor&)>::call(table::second[table::cubed__plain], keys, self);
    {
      Below guard(Functionality::Autograd);
      Caller<void(const Tensor&)>::call(table::second[table::cubed__plain], keys, self);
    }
    cubed__tangent(before, self);
    return;
  }
  check_inplace(self, true);
  Tensor original = clone_for_inplace(self);
  auto node = make_node<CubedBackward0>();
  collect(*node, self);
  node->self_ = SavedTensor(original, false);
  {
    Below guard(Functionality::Autograd);
    Caller<void(const Tensor&)>::call(table::second[table::cubed__plain], keys, self);
  }
  rebase_history(self, node);
  if (forward) [[unlikely]] cubed__tangent(before, self);
}
}  // namespace autograd

namespace inplace_or_view {
// tests/taedagen/tiny/second.py:17
void cubed_(KeySet keys, const Tensor& self) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  {
    Below guard(Functionality::ADInplaceOrView);
    Caller<void(const Tensor&)>::call(table::second[table::cubed__plain], keys, self);
  }
  bump(self, "cubed_");
}
}  // namespace inplace_or_view

namespace {
// tests/taedagen/tiny/second.py:28
struct WeighedBackward0 final : Node {
  SavedTensor self_;
  SavedTensor other_;
  Scalar weight_;
  std::string_view name() const override { return "WeighedBackward0"; }
  void release_saved() override { self_.reset(); other_.reset(); }
  void visit_saved(SavedVisitor& v) override { v.tensor("self", self_); v.tensor("other", other_); v.value("weight", box(weight_)); }
  void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override {
    const Tensor& grad = grads[0];
    if (!grad.defined()) return;
    Tensor self_v = needed(1) ? self_.unpack(this) : Tensor();
    Tensor other_v = needed(0) || needed(1) ? other_.unpack(this) : Tensor();
    const bool fused = needed(0) && needed(1) && cpu::fused(cpu::k_weighed_gradients, {grad, self_v, other_v}, {&grad_inputs[0], &grad_inputs[1]}, {weight_});
    if (!fused && needed(0)) { grad_inputs[0] = ops::mul(scaled(grad, weight_), other_v); }
    if (!fused && needed(1) && !cpu::fused(cpu::k_weighed_gradient_other, {grad, self_v, other_v}, {&grad_inputs[1]}, {weight_})) { grad_inputs[1] = ops::mul(ops::mul(scaled(grad, weight_), other_v), self_v); }
  }
};
}  // namespace

namespace autograd {
namespace {
void weighed_tangent([[maybe_unused]] const Tensor& made, [[maybe_unused]] const Tensor& self, [[maybe_unused]] const Tensor& other, [[maybe_unused]] const Scalar& weight) {
  for (EachLevel level; level.next();) {
    Diagonal jacobian(made, level);
    if (has_tangent(self, level))
      jacobian.add(self, [&]([[maybe_unused]] const Tensor& grad) -> Tensor {
        return ops::mul(scaled(grad, weight), other);
      });
    if (has_tangent(other, level))
      jacobian.add(other, [&]([[maybe_unused]] const Tensor& grad) -> Tensor {
        return ops::mul(ops::mul(scaled(grad, weight), other), self);
      });
    give_tangent(made, jacobian.sum(), level);
  }
}
}  // namespace
// tests/taedagen/tiny/second.py:28
Tensor weighed(KeySet keys, const Tensor& self, const Tensor& other, const Scalar& weight) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  const bool forward = has_tangents(self, other);
  if (!recording(self, other)) [[likely]] {
    if (!forward) [[likely]] return Caller<Tensor(const Tensor&, const Tensor&, const Scalar&)>::call(table::second[table::weighed_plain], keys, self, other, weight);
    auto made = [&] {
      BelowAutograd guard;
      return Caller<Tensor(const Tensor&, const Tensor&, const Scalar&)>::call(table::second[table::weighed_plain], keys, self, other, weight);
    }();
    weighed_tangent(made, self, other, weight);
    return made;
  }
  auto node = make_node<WeighedBackward0>();
  collect(*node, self, other);
  if (node->should_compute(1)) node->self_ = SavedTensor(self, false);
  node->other_ = SavedTensor(other, false);
  node->weight_ = weight;
  auto made = [&] {
    BelowAutograd guard;
    return Caller<Tensor(const Tensor&, const Tensor&, const Scalar&)>::call(table::second[table::weighed_plain], keys, self, other, weight);
  }();
  set_history(made, node);
  if (forward) [[unlikely]] weighed_tangent(made, self, other, weight);
  return made;
}
}  // namespace autograd

namespace autograd {
// tests/taedagen/tiny/second.py:40
Tensor widen(KeySet keys, const Tensor& self) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  BelowAutograd guard;
  return Caller<Tensor(const Tensor&)>::call(table::second[table::widen_plain], keys, self);
}
}  // namespace autograd

namespace {
// tests/taedagen/tiny/second.py:45
struct SmoothBackward0 final : Node {
  SavedTensor self_;
  std::string_view name() const override { return "SmoothBackward0"; }
  void release_saved() override { self_.reset(); }
  void visit_saved(SavedVisitor& v) override { v.tensor("self", self_); }
  void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override {
    const Tensor& grad = grads[0];
    if (!grad.defined()) return;
    Tensor self_v = needed(0) ? self_.unpack(this) : Tensor();
    if (needed(0)) { grad_inputs[0] = ops::mul(ops::widen(ops::mul(grad, self_v)), self_v); }
  }
};
}  // namespace

namespace autograd {
namespace {
void smooth_tangent([[maybe_unused]] const Tensor& made, [[maybe_unused]] const Tensor& self, [[maybe_unused]] std::string_view how) {
  for (EachLevel level; level.next();) {
    Diagonal jacobian(made, level);
    if (has_tangent(self, level))
      jacobian.add(self, [&]([[maybe_unused]] const Tensor& grad) -> Tensor {
        return ops::mul(ops::widen(ops::mul(grad, self)), self);
      });
    give_tangent(made, jacobian.sum(), level);
  }
}
}  // namespace
// tests/taedagen/tiny/second.py:45
Tensor smooth(KeySet keys, const Tensor& self, std::string_view how) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  const bool forward = has_tangents(self);
  if (!recording(self)) [[likely]] {
    if (!forward) [[likely]] return Caller<Tensor(const Tensor&, std::string_view)>::call(table::second[table::smooth_plain], keys, self, how);
    auto made = [&] {
      BelowAutograd guard;
      return Caller<Tensor(const Tensor&, std::string_view)>::call(table::second[table::smooth_plain], keys, self, how);
    }();
    smooth_tangent(made, self, how);
    return made;
  }
  auto node = make_node<SmoothBackward0>();
  collect(*node, self);
  node->self_ = SavedTensor(self, false);
  auto made = [&] {
    BelowAutograd guard;
    return Caller<Tensor(const Tensor&, std::string_view)>::call(table::second[table::smooth_plain], keys, self, how);
  }();
  set_history(made, node);
  if (forward) [[unlikely]] smooth_tangent(made, self, how);
  return made;
}
}  // namespace autograd

namespace {
// tests/taedagen/tiny/second.py:56
struct CountedBackward0 final : Node {
  SavedTensor self_;
  std::string_view name() const override { return "CountedBackward0"; }
  void release_saved() override { self_.reset(); }
  void visit_saved(SavedVisitor& v) override { v.tensor("self", self_); }
  void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override {
    const Tensor& grad = grads[0];
    if (!grad.defined()) return;
    Tensor self_v = needed(0) ? self_.unpack(this) : Tensor();
    if (needed(0)) { grad_inputs[0] = ops::mul(ops::mul(grad, self_v), Scalar(int64_t{2})); }
  }
};
}  // namespace

namespace autograd {
namespace {
void counted_tangent([[maybe_unused]] const Tensor& made, [[maybe_unused]] const Tensor& self) {
  for (EachLevel level; level.next();) {
    Diagonal jacobian(made, level);
    if (has_tangent(self, level))
      jacobian.add(self, [&]([[maybe_unused]] const Tensor& grad) -> Tensor {
        return ops::mul(ops::mul(grad, self), Scalar(int64_t{2}));
      });
    give_tangent(made, jacobian.sum(), level);
  }
}
}  // namespace
// tests/taedagen/tiny/second.py:56
Tensor counted(KeySet keys, const Tensor& self) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  const bool forward = has_tangents(self);
  if (!recording(self)) [[likely]] {
    if (!forward) [[likely]] return Caller<Tensor(const Tensor&)>::call(table::second[table::counted_plain], keys, self);
    auto made = [&] {
      BelowAutograd guard;
      return Caller<Tensor(const Tensor&)>::call(table::second[table::counted_plain], keys, self);
    }();
    counted_tangent(made, self);
    return made;
  }
  auto node = make_node<CountedBackward0>();
  collect(*node, self);
  node->self_ = SavedTensor(self, false);
  auto made = [&] {
    BelowAutograd guard;
    return Caller<Tensor(const Tensor&)>::call(table::second[table::counted_plain], keys, self);
  }();
  set_history(made, node);
  if (forward) [[unlikely]] counted_tangent(made, self);
  return made;
}
}  // namespace autograd

}  // namespace taeda
