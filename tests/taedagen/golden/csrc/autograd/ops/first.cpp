// Made by taedagen from tests/taedagen/tiny/first.py.
#include "api/values.h"
#include "autograd/ops/first.h"
#include "autograd/record.h"
#include "autograd/numbers.h"
#include "dispatch/ops/first.h"
#include "dispatch/call.h"

namespace taeda {
extern template struct Boxing<Tensor(const Tensor&)>;
extern template struct Caller<Tensor(const Tensor&)>;
extern template struct Boxing<Tensor(const Tensor&, double, std::optional<int64_t>)>;
extern template struct Caller<Tensor(const Tensor&, double, std::optional<int64_t>)>;
extern template struct Boxing<Tensor(const Tensor&, int64_t, int64_t)>;
extern template struct Caller<Tensor(const Tensor&, int64_t, int64_t)>;
extern template struct Boxing<void(const Tensor&)>;
extern template struct Caller<void(const Tensor&)>;
extern template struct Boxing<void(const Tensor&, const Tensor&)>;
extern template struct Caller<void(const Tensor&, const Tensor&)>;
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
}  // namespace

namespace autograd {
namespace {
void twice_tangent([[maybe_unused]] const Tensor& made, [[maybe_unused]] const Tensor& self) {
  for (EachLevel level; level.next();) {
    Diagonal jacobian(made, level);
    if (has_tangent(self, level))
      jacobian.add(self, [&]([[maybe_unused]] const Tensor& grad) -> Tensor {
        return ops::twice(grad);
      });
    give_tangent(made, jacobian.sum(), level);
  }
}
}  // namespace
// tests/taedagen/tiny/first.py:6
Tensor twice(KeySet keys, const Tensor& self) {
  keys = keys & KeySet::below(Functionality::ADInplaceOrView);
  const bool forward = has_tangents(self);
  if (!recording(self)) [[likely]] {
    if (!forward) [[likely]] return Caller<Tensor(const Tensor&)>::call(table::first[table::twice_plain], keys, self);
    auto made = [&] {
      BelowAutograd guard;
      return Caller<Tensor(const Tensor&)>::call(table::first[table::twice_plain], keys, self);
    }();
    twice_tangent(made, self);
    return made;
  }
  auto node = make_node<TwiceBackward0>();
  collect(*node, self);
  auto made = [&] {
    BelowAutograd guard;
    return Caller<Tensor(const Tensor&)>::call(table::first[table::twice_plain], keys, self);
  }();
  set_history(made, node);
  if (forward) [[unlikely]] twice_tangent(made, self);
  return made;
}
}  // namespace autograd

namespace autograd {
namespace {
void twice__tangent([[maybe_unused]] const Tensor& before, [[maybe_unused]] const Tensor& self) {
  for (EachLevel level; level.next();) {
    Diagonal jacobian(self, level);
    if (has_tangent(self, level))
      jacobian.add(self, [&]([[maybe_unused]] const Tensor& grad) -> Tensor {
        return ops::twice(grad);
      });
    write_tangent(self, jacobian.sum(), level);
  }
}
}  // namespace
// tests/taedagen/tiny/first.py:6
void twice_(KeySet keys, const Tensor& self) {
  keys = keys & KeySet::below(Functionality::Autograd);
  const bool forward = has_tangents(self);
  if (!recording(self)) [[likely]] {
    if (!forward) [[likely]] return Caller<void(const Tensor&)>::call(table::first[table::twice__plain], keys, self);
    {
      Below guard(Functionality::Autograd);
      Caller<void(const Tensor&)>::call(table::first[table::twice__plain], keys, self);
    }
    twice__tangent({}, self);
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
  if (forward) [[unlikely]] twice__tangent({}, self);
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
namespace {
void turned_tangent([[maybe_unused]] const Tensor& made, [[maybe_unused]] const Tensor& self, [[maybe_unused]] int64_t dim0, [[maybe_unused]] int64_t dim1) {
  for (EachLevel level; level.next();) {
    if (has_tangent(self, level))
      give_tangent(made, ops::turned(laid_out_tangent(self, level), dim0, dim1), level);
  }
}
}  // namespace
// tests/taedagen/tiny/first.py:17
Tensor turned(KeySet keys, const Tensor& self, int64_t dim0, int64_t dim1) {
  keys = keys & KeySet::below(Functionality::Autograd);
  const bool forward = has_tangents(self);
  if (!recording(self)) [[likely]] {
    if (!forward) [[likely]] return Caller<Tensor(const Tensor&, int64_t, int64_t)>::call(table::first[table::turned_plain], keys, self, dim0, dim1);
    auto made = [&] {
      Below guard(Functionality::Autograd);
      return Caller<Tensor(const Tensor&, int64_t, int64_t)>::call(table::first[table::turned_plain], keys, self, dim0, dim1);
    }();
    turned_tangent(made, self, dim0, dim1);
    return made;
  }
  auto node = make_node<TurnedBackward0>();
  collect(*node, self);
  node->dim0_ = dim0;
  node->dim1_ = dim1;
  auto made = [&] {
    Below guard(Functionality::Autograd);
    return Caller<Tensor(const Tensor&, int64_t, int64_t)>::call(table::first[table::turned_plain], keys, self, dim0, dim1);
  }();
  set_history(made, node);
  if (forward) [[unlikely]] turned_tangent(made, self, dim0, dim1);
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
