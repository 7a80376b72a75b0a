// Made by taedagen from tests/taedagen/tiny/first.py.
#include "api/first.h"
#include "autograd/ops/first.h"
#include "autograd/record.h"
#include "autograd/numbers.h"
#include "dispatch/ops/first.h"
#include "dispatch/signatures.h"

namespace taeda {
using namespace taeda::autograd;

namespace {
// tests/taedagen/tiny/first.py:6
struct TwiceBackward0 final : Node {
  std::string_view name() const override { return "TwiceBackward0"; }
  void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override {
    const Tensor& grad = grads[0];
    if (!grad.defined()) return;
    if (needed(0)) { grad_inputs[0] = ops::twice(grad); }
  }
};
}  // namespace

namespace autograd {
namespace {
void twice_tangent(const Tensor& made, [[maybe_unused]] const Tensor& self) {
  WithoutTangents guard;
  Tensor tangent;
  if (has_tangent(self)) {
    Tensor grad = tangent_or_zeros(self);
    accumulate_tangent(tangent, ops::twice(grad));
  }
  set_tangent(made, tangent);
}
}  // namespace
// tests/taedagen/tiny/first.py:6
Tensor twice(KeySet keys, const Tensor& self) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  if (!recording(self)) [[likely]] {
    auto made = Caller<Tensor(const Tensor&)>::call(table::first[table::twice_plain], keys, self);
    if (has_tangents(self)) [[unlikely]] twice_tangent(made, self);
    return made;
  }
  auto node = make_node<TwiceBackward0>();
  collect(*node, self);
  auto made = [&] {
    BelowAutograd guard;
    return Caller<Tensor(const Tensor&)>::call(table::first[table::twice_plain], keys, self);
  }();
  set_history(made, node);
  if (has_tangents(self)) [[unlikely]] twice_tangent(made, self);
  return made;
}
}  // namespace autograd

namespace autograd {
namespace {
void twice__tangent(const Tensor& made, [[maybe_unused]] const Tensor& self) {
  WithoutTangents guard;
  Tensor tangent;
  if (has_tangent(self)) {
    Tensor grad = tangent_or_zeros(self);
    accumulate_tangent(tangent, ops::twice(grad));
  }
  set_tangent(made, tangent);
}
}  // namespace
// tests/taedagen/tiny/first.py:6
void twice_(KeySet keys, const Tensor& self) {
  keys = keys & KeySet::below(Functionality::Autograd);
  if (!recording(self)) [[likely]] {
    Caller<void(const Tensor&)>::call(table::first[table::twice__plain], keys, self);
    if (has_tangents(self)) [[unlikely]] twice__tangent(self, self);
    return;
  }
  check_inplace(self, true);
  auto node = make_node<TwiceBackward0>();
  collect(*node, self);
  {
    Below guard(Functionality::Autograd);
    Caller<void(const Tensor&)>::call(table::first[table::twice__plain], keys, self);
  }
  rebase_history(self, node);
  if (has_tangents(self)) [[unlikely]] twice__tangent(self, self);
}
}  // namespace autograd

namespace inplace_or_view {
// tests/taedagen/tiny/first.py:6
void twice_(KeySet keys, const Tensor& self) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  {
    Below guard(Functionality::ADInplaceOrView);
    Caller<void(const Tensor&)>::call(table::first[table::twice__plain], keys, self);
  }
  bump(self, "twice_");
}
}  // namespace inplace_or_view

namespace autograd {
// tests/taedagen/tiny/first.py:6
void twice_out(KeySet keys, const Tensor& self, const Tensor& out) {
  keys = keys & KeySet::below(Functionality::Autograd);
  check_out("twice", self, out);
  Below guard(Functionality::Autograd);
  Caller<void(const Tensor&, const Tensor&)>::call(table::first[table::twice_out], keys, self, out);
}
}  // namespace autograd

namespace inplace_or_view {
// tests/taedagen/tiny/first.py:6
void twice_out(KeySet keys, const Tensor& self, const Tensor& out) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  {
    Below guard(Functionality::ADInplaceOrView);
    Caller<void(const Tensor&, const Tensor&)>::call(table::first[table::twice_out], keys, self, out);
  }
  bump(out, "twice");
}
}  // namespace inplace_or_view

namespace {
// tests/taedagen/tiny/first.py:17
struct TurnedBackward0 final : Node {
  int64_t dim0_;
  int64_t dim1_;
  std::string_view name() const override { return "TurnedBackward0"; }
  void visit_saved(SavedVisitor& v) override { v.value("dim0", box(dim0_)); v.value("dim1", box(dim1_)); }
  void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override {
    const Tensor& grad = grads[0];
    if (!grad.defined()) return;
    if (needed(0)) { grad_inputs[0] = ops::turned(grad, dim0_, dim1_); }
  }
};
}  // namespace

namespace autograd {
// tests/taedagen/tiny/first.py:17
Tensor turned(KeySet keys, const Tensor& self, int64_t dim0, int64_t dim1) {
  keys = keys & KeySet::below(Functionality::Autograd);
  if (!recording(self)) [[likely]] return Caller<Tensor(const Tensor&, int64_t, int64_t)>::call(table::first[table::turned_plain], keys, self, dim0, dim1);
  auto node = make_node<TurnedBackward0>();
  collect(*node, self);
  node->dim0_ = dim0;
  node->dim1_ = dim1;
  auto made = [&] {
    Below guard(Functionality::Autograd);
    return Caller<Tensor(const Tensor&, int64_t, int64_t)>::call(table::first[table::turned_plain], keys, self, dim0, dim1);
  }();
  set_history(made, node);
  return made;
}
}  // namespace autograd

namespace inplace_or_view {
// tests/taedagen/tiny/first.py:17
Tensor turned(KeySet keys, const Tensor& self, int64_t dim0, int64_t dim1) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  auto made = [&] {
    Below guard(Functionality::ADInplaceOrView);
    return Caller<Tensor(const Tensor&, int64_t, int64_t)>::call(table::first[table::turned_plain], keys, self, dim0, dim1);
  }();
  return as_view(self, std::move(made), [&]() { return make_replay([dim0, dim1](const Tensor& base_) { return ops::turned(base_, dim0, dim1); }); });
}
}  // namespace inplace_or_view

namespace autograd {
// tests/taedagen/tiny/first.py:27
Tensor stretch(KeySet keys, const Tensor& self, double by, std::optional<int64_t> power) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  BelowAutograd guard;
  return Caller<Tensor(const Tensor&, double, std::optional<int64_t>)>::call(table::first[table::stretch_plain], keys, self, by, power);
}
}  // namespace autograd

}  // namespace taeda
