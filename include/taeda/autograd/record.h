// What the generated autograd layer calls. A declaration
//
//   mul.Tensor(Tensor self, Tensor other) -> Tensor,  backward: {"self": grad * other, "other": grad * self}
//
// becomes
//
//   struct MulBackward0 final : Node {
//     SavedTensor self_, other_;                        // std::vector<SavedTensor> for Tensor[]; plain members else
//     void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override {
//       const Tensor& grad = grads[0];
//       if (!grad.defined()) return;                    // several results: made with metadata(i).zeros() where read
//       if (needed(0)) grad_inputs[0] = ops::mul(grad, other_.unpack(this));
//       if (needed(1)) grad_inputs[1] = ops::mul(grad, self_.unpack(this));
//     }
//     std::string_view name() const override { return "MulBackward0"; }
//     void release_saved() override { self_.reset(); other_.reset(); }
//     void visit_saved(SavedVisitor& v) override { v.tensor("self", self_); v.tensor("other", other_); }
//   };
//
//   Tensor autograd::mul(KeySet keys, const Tensor& self, const Tensor& other) {
//     const bool records = recording(self, other), forward = has_tangents(self, other);
//     if ((!records && !forward) || recorded_in_parts(keys)) [[likely]] return <below Autograd>;
//     Ref<MulBackward0> node;
//     if (records) {
//       node = make_node<MulBackward0>();
//       collect(*node, self, other);                    // edge i = tensor argument i, lists expanded
//       if (node->should_compute(1)) node->self_.save(self);
//       if (node->should_compute(0)) node->other_.save(other);
//     }
//     auto made = [&] { BelowAutograd guard; return <below Autograd>; }();
//     if (records) set_history(made, *node);             // then: node->result_.save(made, true);
//     if (forward) mul_tangent(made, self, other);
//     return made;
//   }
//
// In place:   check_inplace(self, true) first; the node saves a clone of self where the derivative reads it;
//             then rebase_history(self, *node) and save(self, true) where it reads the result.
// out=:       check_out("add", out) in front of collecting nothing: out= calls are not differentiable.
// Views:      the Autograd function as above (redispatching with only Autograd skipped); the ADInplaceOrView function
//               return as_view(self, <below>, [&] { return make_replay([dim](const Tensor& base) {…}); });
// Writers:    the ADInplaceOrView function: <below>; bump(self, "mul_");
//
// Gradients need no reduction to the input's shape or dtype: the engine does it on every edge (validate_gradient).
#pragma once
#include <tuple>

#include "taeda/autograd/forward.h"
#include "taeda/autograd/saved_tensor.h"
#include "taeda/autograd/view.h"

namespace taeda::autograd {

// --- does a call record?
inline bool wants_grad(const Tensor& t) { return t.defined() && t->needs_autograd() && requires_grad(t); }
inline bool wants_grad(TensorList list) {
  for (const Tensor& t : list)
    if (wants_grad(t)) return true;
  return false;
}
template <class... Args>
bool recording(const Args&... args) {
  return t_state.grad_mode && (wants_grad(args) || ...);
}

// Kernels for these kinds of data are made of other ops, which record; so a call on them does not.
constexpr KeySet kRecordedInParts = KeySet(Functionality::Sparse) | KeySet(Functionality::SparseCsr);
inline bool recorded_in_parts(KeySet keys) { return !(keys & kRecordedInParts).empty(); }

// --- edges
TAEDA_API void collect_one(Node& node, const Tensor& t);
TAEDA_API void collect_one(Node& node, TensorList list);
template <class... Args>
void collect(Node& node, const Args&... args) {
  (collect_one(node, args), ...);
}

// --- results. Each call announces one more result; skip_output keeps the count for one without a gradient. Integer
// and undefined results have none by themselves.
TAEDA_API void set_history(const Tensor& result, Node& node);
TAEDA_API void set_history(std::span<const Tensor> results, Node& node);
inline void skip_output(Node& node) { node.add_undefined_metadata(); }
template <class... Ts>
void set_history(const std::tuple<Ts...>& results, Node& node) {
  std::apply([&](const Ts&... parts) { (set_history(parts, node), ...); }, results);
}

// --- in-place
TAEDA_API void check_inplace_recorded(const Tensor& self);
// RuntimeError for leaves that require grad, their views, and views that cannot be rebased.
inline void check_inplace(const Tensor& self, bool recorded) {
  if (recorded) check_inplace_recorded(self);
}
inline void check_inplace(TensorList list, bool recorded) {
  if (recorded)
    for (const Tensor& t : list) check_inplace_recorded(t);
}
TAEDA_API void rebase_history(const Tensor& self, Node& node);
TAEDA_API void rebase_history(TensorList list, Node& node);
// Counts a write; `op` (a string that lives forever) is named if a saved tensor turns out to be stale.
TAEDA_API void bump(const Tensor& t, const char* op);
TAEDA_API void bump(TensorList list, const char* op);

// --- out=
[[noreturn]] TAEDA_API void fail_out(const char* function);
// RuntimeError when an argument of an out= call wants a gradient, NotImplementedError when one has a tangent.
template <class... Args>
void check_out(const char* function, const Args&... args) {
  if (recording(args...)) [[unlikely]]
    fail_out(function);
  if (has_tangents(args...)) [[unlikely]]
    fail_forward(function);
}

// --- views
template <class MakeReplay>
Tensor as_view(const Tensor& base, Tensor view, MakeReplay&& make_replay) {
  if (view->is_inference()) return view;
  Ref<Replay> replay;
  if (needs_replay(base, view)) [[unlikely]]
    replay = make_replay();
  mark_view(base, view, std::move(replay), creation_now());
  return view;
}
// Several results: make_replay(i) repeats the i-th.
template <class MakeReplay>
std::vector<Tensor> as_views(const Tensor& base, std::vector<Tensor> views, MakeReplay&& make_replay) {
  for (size_t i = 0; i < views.size(); ++i) {
    if (views[i]->is_inference()) continue;
    Ref<Replay> replay;
    if (needs_replay(base, views[i])) [[unlikely]]
      replay = make_replay(i);
    mark_view(base, views[i], std::move(replay), creation_now(true));
  }
  return views;
}

// A node for an op without a derivative: backward through it raises and names the op.
struct TAEDA_API NotDifferentiable final : Node {
  explicit NotDifferentiable(const char* op) : op_(op) {}
  void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override;
  std::string_view name() const override { return "NotDifferentiable"; }

 private:
  const char* op_;
};

}  // namespace taeda::autograd
