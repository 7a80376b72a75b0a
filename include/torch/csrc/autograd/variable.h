// What autograd keeps with a tensor, as C++ programs ask for it.
#pragma once
#include <ATen/Functions.h>
#include <taeda/autograd/meta.h>

namespace torch::autograd {

using Variable = at::Tensor;
using variable_list = std::vector<Variable>;
using tensor_list = std::vector<at::Tensor>;
// What lies behind x.unsafeGetTensorImpl()->autograd_meta(); of any tensor, has_bw_view() tells views.
using ::taeda::autograd::AutogradMeta;
using DifferentiableViewMeta = AutogradMeta;
using CreationMeta = ::taeda::autograd::Creation;
using at::AutoFwGradMode, at::AutoGradMode, at::GradMode, at::InferenceMode, at::TensorList;

inline Variable make_variable(at::Tensor data, bool requires_grad = false) {
  Variable made = data.detach();
  made.set_requires_grad(requires_grad);
  return made;
}

// The sum of gradients of `outputs` with respect to `inputs`; of those that are not reached, undefined tensors where
// allow_unused, and a RuntimeError otherwise.
TORCH_API variable_list grad(const variable_list& outputs, const variable_list& inputs,
                             const variable_list& grad_outputs = {}, std::optional<bool> retain_graph = std::nullopt,
                             bool create_graph = false, bool allow_unused = false);
// Adds gradients to the .grad of leaves, of all or of `inputs`.
TORCH_API void backward(const variable_list& tensors, const variable_list& grad_tensors = {},
                        std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                        const variable_list& inputs = {});

namespace forward_ad {
TORCH_API uint64_t enter_dual_level();
TORCH_API void exit_dual_level(uint64_t level);
}  // namespace forward_ad

// Questions of layers below.
namespace impl {
inline std::shared_ptr<Node> grad_accumulator(const Variable& v) {
  auto node = ::taeda::autograd::accumulator(v);
  return {node.get(), [node](Node*) {}};
}
inline void set_version_counter(const Variable& v, const at::Tensor& of) { v.impl()->share_versions_of(*of.impl()); }
inline void bump_version(const Variable& v) { v.impl()->bump_version(); }
}  // namespace impl

template <class... Ts>
bool any_variable_requires_grad(const Ts&... tensors) {
  return (tensors.requires_grad() || ...);
}
inline bool any_variable_requires_grad(const variable_list& tensors) {
  for (const Variable& t : tensors)
    if (t.defined() && t.requires_grad()) return true;
  return false;
}

}  // namespace torch::autograd
