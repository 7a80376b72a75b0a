#include "taeda/autograd/record.h"

namespace taeda::autograd {

void collect_one(Node& node, const Tensor& t) { node.add_next_edge(wants_grad(t) ? gradient_edge(t) : Edge()); }

void collect_one(Node& node, TensorList list) {
  for (const Tensor& t : list) collect_one(node, t);
}

void set_history(const Tensor& result, Node& node) {
  if (!result.defined() || !is_differentiable(result.dtype())) {
    node.add_undefined_metadata();
    return;
  }
  set_gradient_edge(result, Edge(Ref<Node>(&node), node.add_metadata(result)));
}

void set_history(std::span<const Tensor> results, Node& node) {
  for (const Tensor& result : results) set_history(result, node);
}

void check_inplace_recorded(const Tensor& self) {
  if (!self.defined()) return;
  AutogradMeta* meta = meta_of(self);
  if (meta && meta->view) {
    check_view_writable(self, false);
    const Tensor& base = meta->view->base;
    TAEDA_CHECK(!(requires_grad(base) && is_leaf(base)),
                "a view of a leaf that requires grad cannot be written to in place: do it under no_grad(), or on a "
                "view of a clone");
  }
  TAEDA_CHECK(!(requires_grad(self) && is_leaf(self)),
              "a leaf that requires grad cannot be written to in place: do it under no_grad(), or on a clone");
  TAEDA_CHECK(!self->is_inference(),
              "a tensor made in inference mode cannot be written to in place where the call is recorded: clone() it");
}

void rebase_history(const Tensor& self, Node& node) {
  if (!self.defined() || !is_differentiable(self.dtype())) {
    node.add_undefined_metadata();
    return;
  }
  AutogradMeta* meta = meta_of(self);
  if (meta && meta->view)
    rebase_view(self, Ref<Node>(&node));
  else
    set_gradient_edge(self, Edge(Ref<Node>(&node), node.add_metadata(self)));
}

void rebase_history(TensorList list, Node& node) {
  for (const Tensor& t : list) {
    TAEDA_CHECK(
        !t.defined() || !meta_of(t) || !meta_of(t)->view,
        "a call that writes to several tensors cannot be recorded where one is a view: write to them one by one");
    rebase_history(t, node);
  }
}

void bump(const Tensor& t, const char* op) {
  if (!t.defined()) return;
  if (t->is_inference()) {
    TAEDA_CHECK(t_state.inference_mode, op,
                " wrote to a tensor made in inference mode, which does not count writes; outside of inference mode "
                "write to a clone() of it");
    return;
  }
  const Ref<VersionCounter>& versions = t->shared_versions();
  versions->value.fetch_add(1, std::memory_order_relaxed);
  versions->writer.store(op, std::memory_order_relaxed);
}

void bump(TensorList list, const char* op) {
  for (const Tensor& t : list) bump(t, op);
}

void fail_out(const char* function) {
  TAEDA_FAIL(Runtime, function,
             "(): calls with out= are not differentiable, but an argument requires grad: leave out= "
             "away, or detach() the arguments");
}

void NotDifferentiable::apply(std::span<Tensor>, std::span<Tensor>) {
  TAEDA_FAIL(Runtime, "the derivative of ", op_, " is not defined");
}

}  // namespace taeda::autograd
