// Made by taedagen from tests/taedagen/tiny/second.py.
#include "taeda/ops/defaults.h"
#include "autograd/ops/second.h"
#include "taeda/autograd/record.h"
#include "autograd/numbers.h"
#include "dispatch/ops/second.h"
#include "shape/ops/second.h"

namespace taeda {
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
    const bool done = needed(0) && needed(1) && fused::run(fused::mul_Tensor_gradients, {grad, self_v, other_v},
        {&grad_inputs[0], &grad_inputs[1]});
    if (!done && needed(0)) { grad_inputs[0] = ops::mul(grad, other_v); }
    if (!done && needed(1)) { grad_inputs[1] = ops::mul(grad, self_v); }
  }
};
void mul_tangent([[maybe_unused]] const Tensor& made, [[maybe_unused]] const Tensor& self,
    [[maybe_unused]] const Tensor& other) {
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
Tensor autograd::mul(KeySet keys, const Tensor& self, const Tensor& other) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  const bool records = recording(self, other), forward = has_tangents(self, other);
  if ((!records && !forward) || recorded_in_parts(keys)) [[likely]] return table::mul_Tensor(keys, self, other);
  Ref<MulBackward0> node;
  if (records) {
    node = make_node<MulBackward0>();
    collect(*node, self, other);
    if (node->should_compute(1)) node->self_.save(self);
    if (node->should_compute(0)) node->other_.save(other);
  }
  auto made = [&] {
    BelowAutograd guard;
    return table::mul_Tensor(keys, self, other);
  }();
  if (records) set_history(made, *node);
  if (forward) mul_tangent(made, self, other);
  return made;
}

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
void mul_tangent([[maybe_unused]] const Tensor& made, [[maybe_unused]] const Tensor& self,
    [[maybe_unused]] const Scalar& other) {
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
Tensor autograd::mul(KeySet keys, const Tensor& self, const Scalar& other) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  const bool records = recording(self), forward = has_tangents(self);
  if ((!records && !forward) || recorded_in_parts(keys)) [[likely]] return table::mul_Scalar(keys, self, other);
  Ref<MulBackward0_Scalar> node;
  if (records) {
    node = make_node<MulBackward0_Scalar>();
    collect(*node, self);
    node->other_ = other;
  }
  auto made = [&] {
    BelowAutograd guard;
    return table::mul_Scalar(keys, self, other);
  }();
  if (records) set_history(made, *node);
  if (forward) mul_tangent(made, self, other);
  return made;
}

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
    if (needed(0) && !fused::run(fused::cubed_gradient_self, {grad, self_v}, {&grad_inputs[0]})) {
        grad_inputs[0] = ops::mul(grad, ops::mul(ops::mul(self_v, self_v), Scalar(int64_t{3}))); }
  }
};
void cubed_tangent([[maybe_unused]] const Tensor& made, [[maybe_unused]] const Tensor& self) {
  for (EachLevel level; level.next();) {
    Diagonal jacobian(made, level);
    if (has_tangent(self, level))
      jacobian.add(self, [&]([[maybe_unused]] const Tensor& grad) -> Tensor {
        return ops::mul(grad, ops::mul(ops::mul(self, self), Scalar(int64_t{3})));
      });
    write_tangent(made, jacobian.sum(), level);
  }
}
}  // namespace
// tests/taedagen/tiny/second.py:17
Tensor autograd::cubed(KeySet keys, const Tensor& self) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  const bool records = recording(self), forward = has_tangents(self);
  if ((!records && !forward) || recorded_in_parts(keys)) [[likely]] return table::cubed_plain(keys, self);
  Ref<CubedBackward0> node;
  if (records) {
    node = make_node<CubedBackward0>();
    collect(*node, self);
    node->self_.save(self);
  }
  auto made = [&] {
    BelowAutograd guard;
    return table::cubed_plain(keys, self);
  }();
  if (records) set_history(made, *node);
  if (forward) cubed_tangent(made, self);
  return made;
}

// tests/taedagen/tiny/second.py:17
void autograd::cubed_(KeySet keys, const Tensor& self) {
  keys = keys & KeySet::below(Functionality::Autograd);
  const bool records = recording(self), forward = has_tangents(self);
  if ((!records && !forward) || recorded_in_parts(keys)) [[likely]] return table::cubed__plain(keys, self);
  Tensor before = clone_for_inplace(self);
  Ref<CubedBackward0> node;
  if (records) {
    check_inplace(self, true);
    node = make_node<CubedBackward0>();
    collect(*node, self);
    node->self_.save(before);
  }
  {
    Below guard(Functionality::Autograd);
    table::cubed__plain(keys, self);
  }
  if (records) rebase_history(self, *node);
  if (forward) cubed_tangent(self, before);
}

// tests/taedagen/tiny/second.py:17
void inplace_or_view::cubed_(KeySet keys, const Tensor& self) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  if (recorded_in_parts(keys)) [[unlikely]] return table::cubed__plain(keys, self);
  {
    Below guard(Functionality::ADInplaceOrView);
    table::cubed__plain(keys, self);
  }
  bump(self, "cubed_");
}

namespace {
// tests/taedagen/tiny/second.py:28
struct WeighedBackward0 final : Node {
  SavedTensor self_;
  SavedTensor other_;
  Scalar weight_;
  std::string_view name() const override { return "WeighedBackward0"; }
  void release_saved() override { self_.reset(); other_.reset(); }
  void visit_saved(SavedVisitor& v) override { v.tensor("self", self_); v.tensor("other", other_); v.value("weight",
      box(weight_)); }
  void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override {
    const Tensor& grad = grads[0];
    if (!grad.defined()) return;
    Tensor self_v = needed(1) ? self_.unpack(this) : Tensor();
    Tensor other_v = needed(0) || needed(1) ? other_.unpack(this) : Tensor();
    const bool done = needed(0) && needed(1) && fused::run(fused::weighed_gradients, {grad, self_v, other_v},
        {&grad_inputs[0], &grad_inputs[1]}, {weight_});
    if (!done && needed(0)) { grad_inputs[0] = ops::mul(scaled(grad, weight_), other_v); }
    if (!done && needed(1) && !fused::run(fused::weighed_gradient_other, {grad, self_v, other_v}, {&grad_inputs[1]},
        {weight_})) { grad_inputs[1] = ops::mul(ops::mul(scaled(grad, weight_), other_v), self_v); }
  }
};
void weighed_tangent([[maybe_unused]] const Tensor& made, [[maybe_unused]] const Tensor& self,
    [[maybe_unused]] const Tensor& other, [[maybe_unused]] const Scalar& weight) {
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
Tensor autograd::weighed(KeySet keys, const Tensor& self, const Tensor& other, const Scalar& weight) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  const bool records = recording(self, other), forward = has_tangents(self, other);
  if ((!records && !forward) || recorded_in_parts(keys)) [[likely]] return table::weighed_plain(keys, self, other,
      weight);
  Ref<WeighedBackward0> node;
  if (records) {
    node = make_node<WeighedBackward0>();
    collect(*node, self, other);
    if (node->should_compute(1)) node->self_.save(self);
    node->other_.save(other);
    node->weight_ = weight;
  }
  auto made = [&] {
    BelowAutograd guard;
    return table::weighed_plain(keys, self, other, weight);
  }();
  if (records) set_history(made, *node);
  if (forward) weighed_tangent(made, self, other, weight);
  return made;
}

// tests/taedagen/tiny/second.py:40
Tensor autograd::widen(KeySet keys, const Tensor& self) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  BelowAutograd guard;
  return table::widen_plain(keys, self);
}

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
void smooth_tangent([[maybe_unused]] const Tensor& made, [[maybe_unused]] const Tensor& self,
    [[maybe_unused]] std::string_view how) {
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
Tensor autograd::smooth(KeySet keys, const Tensor& self, std::string_view how) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  const bool records = recording(self), forward = has_tangents(self);
  if ((!records && !forward) || recorded_in_parts(keys)) [[likely]] return table::smooth_plain(keys, self, how);
  Ref<SmoothBackward0> node;
  if (records) {
    node = make_node<SmoothBackward0>();
    collect(*node, self);
    node->self_.save(self);
  }
  auto made = [&] {
    BelowAutograd guard;
    return table::smooth_plain(keys, self, how);
  }();
  if (records) set_history(made, *node);
  if (forward) smooth_tangent(made, self, how);
  return made;
}

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
Tensor autograd::counted(KeySet keys, const Tensor& self) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  const bool records = recording(self), forward = has_tangents(self);
  if ((!records && !forward) || recorded_in_parts(keys)) [[likely]] return table::counted_plain(keys, self);
  Ref<CountedBackward0> node;
  if (records) {
    node = make_node<CountedBackward0>();
    collect(*node, self);
    node->self_.save(self);
  }
  auto made = [&] {
    BelowAutograd guard;
    return table::counted_plain(keys, self);
  }();
  if (records) set_history(made, *node);
  if (forward) counted_tangent(made, self);
  return made;
}

}  // namespace taeda
