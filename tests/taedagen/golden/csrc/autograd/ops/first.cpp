// Made by taedagen from tests/taedagen/tiny/first.py.
#include "taeda/ops/defaults.h"
#include "autograd/ops/first.h"
#include "taeda/autograd/record.h"
#include "autograd/numbers.h"
#include "dispatch/ops/first.h"

namespace taeda {
namespace ops {
TAEDA_API Tensor twice(const Tensor& self);
TAEDA_API Tensor turned(const Tensor& self, int64_t dim0, int64_t dim1);
}  // namespace ops
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
void twice_tangent([[maybe_unused]] const Tensor& made, [[maybe_unused]] const Tensor& self) {
  for (EachLevel level; level.next();) {
    Diagonal jacobian(made, level);
    if (has_tangent(self, level))
      jacobian.add(self, [&]([[maybe_unused]] const Tensor& grad) -> Tensor {
        return ops::twice(grad);
      });
    write_tangent(made, jacobian.sum(), level);
  }
}
}  // namespace
// tests/taedagen/tiny/first.py:6
Tensor autograd::twice(KeySet keys, const Tensor& self) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  const bool records = recording(self), forward = has_tangents(self);
  if ((!records && !forward) || recorded_in_parts(keys)) [[likely]] return table::twice_plain(keys, self);
  Ref<TwiceBackward0> node;
  if (records) {
    node = make_node<TwiceBackward0>();
    collect(*node, self);
  }
  auto made = [&] {
    BelowAutograd guard;
    return table::twice_plain(keys, self);
  }();
  if (records) set_history(made, *node);
  if (forward) twice_tangent(made, self);
  return made;
}

// tests/taedagen/tiny/first.py:6
void autograd::twice_(KeySet keys, const Tensor& self) {
  keys = keys & KeySet::below(Functionality::Autograd);
  const bool records = recording(self), forward = has_tangents(self);
  if ((!records && !forward) || recorded_in_parts(keys)) [[likely]] return table::twice__plain(keys, self);
  Ref<TwiceBackward0> node;
  if (records) {
    check_inplace(self, true);
    node = make_node<TwiceBackward0>();
    collect(*node, self);
  }
  {
    Below guard(Functionality::Autograd);
    table::twice__plain(keys, self);
  }
  if (records) rebase_history(self, *node);
  if (forward) twice_tangent(self, self);
}

// tests/taedagen/tiny/first.py:6
void inplace_or_view::twice_(KeySet keys, const Tensor& self) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  if (recorded_in_parts(keys)) [[unlikely]] return table::twice__plain(keys, self);
  {
    Below guard(Functionality::ADInplaceOrView);
    table::twice__plain(keys, self);
  }
  bump(self, "twice_");
}

// tests/taedagen/tiny/first.py:6
void autograd::twice_out(KeySet keys, const Tensor& self, const Tensor& out) {
  keys = keys & KeySet::below(Functionality::Autograd);
  check_out("twice", self, out);
  Below guard(Functionality::Autograd);
  table::twice_out(keys, self, out);
}

// tests/taedagen/tiny/first.py:6
void inplace_or_view::twice_out(KeySet keys, const Tensor& self, const Tensor& out) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  {
    Below guard(Functionality::ADInplaceOrView);
    table::twice_out(keys, self, out);
  }
  bump(out, "twice");
}

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
void turned_tangent([[maybe_unused]] const Tensor& made, [[maybe_unused]] const Tensor& self,
    [[maybe_unused]] int64_t dim0, [[maybe_unused]] int64_t dim1) {
  for (EachLevel level; level.next();) {
    if (has_tangent(self, level))
      give_tangent(made, ops::turned(laid_out_tangent(self, level), dim0, dim1), level);
  }
}
}  // namespace
// tests/taedagen/tiny/first.py:17
Tensor autograd::turned(KeySet keys, const Tensor& self, int64_t dim0, int64_t dim1) {
  keys = keys & KeySet::below(Functionality::Autograd);
  const bool records = recording(self), forward = has_tangents(self);
  if ((!records && !forward) || recorded_in_parts(keys)) [[likely]] return table::turned_plain(keys, self, dim0, dim1);
  Ref<TurnedBackward0> node;
  if (records) {
    node = make_node<TurnedBackward0>();
    collect(*node, self);
    node->dim0_ = dim0;
    node->dim1_ = dim1;
  }
  auto made = [&] {
    Below guard(Functionality::Autograd);
    return table::turned_plain(keys, self, dim0, dim1);
  }();
  if (records) set_history(made, *node);
  if (forward) turned_tangent(made, self, dim0, dim1);
  return made;
}

// tests/taedagen/tiny/first.py:17
Tensor inplace_or_view::turned(KeySet keys, const Tensor& self, int64_t dim0, int64_t dim1) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  if (recorded_in_parts(keys)) [[unlikely]] return table::turned_plain(keys, self, dim0, dim1);
  auto made = [&] {
    Below guard(Functionality::ADInplaceOrView);
    return table::turned_plain(keys, self, dim0, dim1);
  }();
  return as_view(self, std::move(made), [&]() { return make_replay([dim0, dim1](const Tensor& base_) {
      return ops::turned(base_, dim0, dim1); }); });
}

// tests/taedagen/tiny/first.py:27
Tensor autograd::stretch(KeySet keys, const Tensor& self, double by, std::optional<int64_t> power) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  BelowAutograd guard;
  return table::stretch_plain(keys, self, by, power);
}

}  // namespace taeda
