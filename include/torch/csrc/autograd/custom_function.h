// torch::autograd::Function: an operation with a gradient of one's own.
//
//   struct Scale : torch::autograd::Function<Scale> {
//     static torch::Tensor forward(torch::autograd::AutogradContext* ctx, torch::Tensor x, double by) {
//       ctx->saved_data["by"] = by;
//       return x * by;
//     }
//     static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
//                                                    torch::autograd::variable_list grads) {
//       return {grads[0] * ctx->saved_data["by"].toDouble(), torch::Tensor()};
//     }
//   };
//   auto y = Scale::apply(x, 3.0);
#pragma once
#include <unordered_set>

#include <ATen/core/ivalue.h>
#include <taeda/autograd/record.h>
#include <torch/csrc/autograd/variable.h>

namespace torch::autograd {

class FunctionNode;

// What forward leaves for backward.
struct TORCH_API AutogradContext {
  AutogradContext() = default;
  AutogradContext(const AutogradContext&) = delete;

  // Anything but tensors that are inputs or results, which would keep themselves alive: those are for the next.
  std::unordered_map<std::string, at::IValue> saved_data;
  void save_for_backward(variable_list to_save) { to_save_ = std::move(to_save); }
  // RuntimeError if one was written to since, or the graph was freed.
  variable_list get_saved_variables() const;
  void mark_dirty(const variable_list& inputs);
  void mark_non_differentiable(const variable_list& outputs);
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  // Whether somebody wants the gradient of the i-th tensor of forward's arguments.
  bool needs_input_grad(std::size_t i) const;

 private:
  friend class FunctionNode;
  variable_list to_save_;
  std::unordered_set<const void*> dirty_, non_differentiable_;
  bool materialize_grads_ = true;
  FunctionNode* node_ = nullptr;
};

// The node of such a call; all of it that does not depend on the function's types.
class TORCH_API FunctionNode : public Node {
 public:
  FunctionNode() { ctx.node_ = this; }
  AutogradContext ctx;

  // Takes the tensors of the arguments, in order; an argument that is none comes as false. Whether the call is
  // recorded.
  bool prepare(const variable_list& inputs, std::vector<bool> is_tensor);
  // What apply returns for what forward gave.
  variable_list finish(const variable_list& outputs, bool is_only);

  void apply(std::span<::taeda::Tensor> grads, std::span<::taeda::Tensor> grad_inputs) override;
  void release_saved() override;

 protected:
  virtual variable_list call_backward(variable_list grads) = 0;

 private:
  friend struct AutogradContext;
  bool is_input(const ::taeda::Tensor& t) const;
  at::Tensor finish_output(const at::Tensor& output, bool is_only);
  void save();
  bool records_ = false, released_ = false;
  variable_list inputs_;
  std::vector<bool> is_tensor_;
  std::vector<::taeda::autograd::SavedTensor> saved_;
};

namespace detail {

TORCH_API std::string node_name(const char* mangled);

template <class T>
class CppNode final : public FunctionNode {
 public:
  std::string_view name() const override {
    static const std::string text = node_name(typeid(T).name());
    return text;
  }

 protected:
  variable_list call_backward(variable_list grads) override { return T::backward(&ctx, std::move(grads)); }
};

// The tensors among a call's arguments.
struct Arguments {
  variable_list tensors;
  std::vector<bool> is_tensor;
  template <class A>
  void add(const A& argument) {
    if constexpr (std::is_base_of_v<::taeda::Tensor, A>) {
      tensors.push_back(argument);
      is_tensor.push_back(true);
    } else if constexpr (std::is_same_v<A, std::optional<at::Tensor>>) {
      add(argument.value_or(at::Tensor()));
    } else if constexpr (std::is_same_v<A, variable_list> || std::is_same_v<A, at::TensorList>) {
      for (const at::Tensor& t : argument) add(t);
    } else {
      is_tensor.push_back(false);
    }
  }
};

}  // namespace detail

template <class T>
struct Function {
  template <class X = T, class... Args>
  static auto apply(Args&&... args)
      -> std::decay_t<decltype(X::forward(static_cast<AutogradContext*>(nullptr), std::forward<Args>(args)...))> {
    using Result =
        std::decay_t<decltype(X::forward(static_cast<AutogradContext*>(nullptr), std::forward<Args>(args)...))>;
    auto node = ::taeda::autograd::make_node<detail::CppNode<X>>();
    detail::Arguments arguments;
    (arguments.add(std::decay_t<Args>(args)), ...);
    node->prepare(arguments.tensors, std::move(arguments.is_tensor));
    Result made = [&] {
      at::NoGradGuard no_grad;
      return X::forward(&node->ctx, std::forward<Args>(args)...);
    }();
    if constexpr (std::is_same_v<Result, variable_list>)
      return node->finish(made, made.size() == 1);
    else
      return node->finish({made}, true)[0];
  }
};

}  // namespace torch::autograd
