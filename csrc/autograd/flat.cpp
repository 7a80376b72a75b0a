#include "autograd/flat.h"

namespace taeda::autograd {

namespace {

// Input 0 is the gradient as it was made, input 1 what it is zero for.
struct TieBackward0 final : Node {
  std::string_view name() const override { return "TieBackward0"; }
  void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override {
    if (!grads[0].defined()) return;
    if (needed(1)) grad_inputs[1] = metadata(0).zeros();
    if (needed(0)) grad_inputs[0] = grads[0];
  }
};

}  // namespace

void tie_to_input(const Node& node, size_t i, Tensor& gradient) {
  if (!t_state.grad_mode || !gradient.defined() || !node.next_edge(i).is_valid()) return;
  if (gradient.keys().has(Functionality::Python)) return;  // its class records for itself
  Ref<TieBackward0> tie = make_node<TieBackward0>();
  tie->add_next_edge(requires_grad(gradient) ? gradient_edge(gradient) : Edge());
  tie->add_next_edge(node.next_edge(i));
  Tensor tied(gradient->shallow_copy());
  set_history(tied, *tie);
  if (t_state.forward_grad) copy_tangents(gradient, tied);
  gradient = tied;
}

}  // namespace taeda::autograd
