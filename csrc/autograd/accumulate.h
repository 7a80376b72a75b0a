// The node at the end of the graph: adds the gradient of a leaf to its .grad.
#pragma once
#include "taeda/autograd/meta.h"

namespace taeda::autograd {

class TAEDA_API AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor variable);
  void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override;
  std::string_view name() const override { return "AccumulateGrad"; }
  void run_tensor_hooks(std::span<Tensor> grads) override;
  bool locks_apply() const override { return false; }
  const Tensor& variable() const { return variable_; }

 protected:
  void on_last_release() noexcept override;

 private:
  Tensor variable_;
};

// Adds `gradient` to t.grad. Without a graph of gradients it is taken over where nobody else sees it, or added in
// place; with one (grad mode) the sum is a new tensor.
// `holders` is how many hold it at best. Callers see to it that only one thread does so at a time.
TAEDA_API void accumulate_into(const Tensor& t, Tensor gradient, int64_t holders = 1);

}  // namespace taeda::autograd
