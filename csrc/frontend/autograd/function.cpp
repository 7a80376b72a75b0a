// What torch::autograd::Function does that does not depend on the function's types.
#include <torch/csrc/autograd/custom_function.h>

#include <cxxabi.h>

#include <algorithm>

#include <taeda/autograd/engine.h>

namespace torch::autograd {

variable_list AutogradContext::get_saved_variables() const {
  TORCH_CHECK(!node_->released_, "the saved tensors of ", std::string(node_->name()),
              " were released by a first backward pass: pass retain_graph to it");
  variable_list tensors;
  for (const ::taeda::autograd::SavedTensor& saved : node_->saved_) tensors.emplace_back(saved.unpack(node_, true));
  return tensors;
}

void AutogradContext::mark_dirty(const variable_list& inputs) {
  dirty_.clear();
  for (const Variable& t : inputs) dirty_.insert(t.impl());
}

void AutogradContext::mark_non_differentiable(const variable_list& outputs) {
  non_differentiable_.clear();
  for (const Variable& t : outputs) non_differentiable_.insert(t.impl());
}

bool AutogradContext::needs_input_grad(std::size_t i) const {
  if (i >= node_->num_outputs()) return false;
  return ::taeda::autograd::current_node() ? node_->needed(i) : node_->should_compute(i);
}

bool FunctionNode::prepare(const variable_list& inputs, std::vector<bool> is_tensor) {
  inputs_ = inputs;
  is_tensor_ = std::move(is_tensor);
  const ::taeda::ThreadState& state = ::taeda::t_state;
  records_ = state.grad_mode && !state.inference_mode &&
             std::ranges::any_of(inputs, [](const Variable& t) { return ::taeda::autograd::wants_grad(t); });
  if (records_)
    for (const Variable& t : inputs) ::taeda::autograd::collect_one(*this, t);
  return records_;
}

namespace detail {
std::string node_name(const char* mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = std::string("CppNode<") + (text ? text : mangled) + ">";
  std::free(text);
  return name;
}
}  // namespace detail

bool FunctionNode::is_input(const ::taeda::Tensor& t) const {
  return std::ranges::any_of(inputs_, [&](const Variable& input) { return input.is(t); });
}

at::Tensor FunctionNode::finish_output(const at::Tensor& output, bool is_only) {
  if (!output.defined()) {
    if (records_) add_undefined_metadata();
    return output;
  }
  bool differentiable = records_ && ::taeda::is_differentiable(output.impl()->dtype()) &&
                        !ctx.non_differentiable_.contains(output.impl());
  if (ctx.dirty_.contains(output.impl())) {
    TORCH_CHECK(is_input(output), "mark_dirty() takes inputs of forward that it wrote to and returns; one is no input");
    if (!output.is_inference()) ::taeda::autograd::bump(output, "a Function that marked it dirty");
    if (differentiable) {
      ::taeda::autograd::check_inplace(output, true);
      TORCH_CHECK(is_only || !output.is_view(),
                  "a Function that writes to a view must return it alone: write to a clone");
      ::taeda::autograd::rebase_history(output, *this);
    } else if (records_) {
      add_metadata(output);
    }
    return output;
  }
  // An input, or something else with a history, is returned as another tensor: its own history must stay.
  at::Tensor made = output;
  if (is_input(output) || (output.impl()->has_grad_flag() && !output.is_view())) {
    made = ::taeda::autograd::detach(output);
    if (!output.is_inference())
      ::taeda::autograd::mark_view(output, made, nullptr, ::taeda::autograd::Creation::IN_CUSTOM_FUNCTION);
  }
  if (auto* meta = ::taeda::autograd::meta_of(made); meta && meta->view && records_)
    meta->view->creation = ::taeda::autograd::Creation::IN_CUSTOM_FUNCTION;
  if (differentiable)
    ::taeda::autograd::set_history(made, *this);
  else if (records_)
    add_metadata(made);
  return made;
}

variable_list FunctionNode::finish(const variable_list& outputs, bool is_only) {
  variable_list made;
  made.reserve(outputs.size());
  for (const at::Tensor& output : outputs) made.push_back(finish_output(output, is_only));
  // A result that was replaced by an alias and is saved, too, is saved as the result it became.
  for (at::Tensor& saved : ctx.to_save_)
    for (size_t i = 0; i < outputs.size(); ++i)
      if (saved.defined() && saved.is(outputs[i]) && !is_input(saved)) saved = made[i];
  if (records_) save();
  ctx.to_save_.clear();
  inputs_.clear();
  return made;
}

void FunctionNode::save() {
  saved_.reserve(ctx.to_save_.size());
  for (const at::Tensor& t : ctx.to_save_) {
    bool own = t.defined() && t.impl()->has_grad_flag() && ::taeda::autograd::grad_fn(t).get() == this;
    saved_.emplace_back().save(t, own);
  }
}

void FunctionNode::apply(std::span<::taeda::Tensor> grads, std::span<::taeda::Tensor> grad_inputs) {
  variable_list given;
  given.reserve(grads.size());
  for (size_t i = 0; i < grads.size(); ++i) {
    bool zeros = !grads[i].defined() && ctx.materialize_grads_ && metadata(i).is_defined();
    given.emplace_back(zeros ? metadata(i).zeros() : std::move(grads[i]));
  }
  variable_list results = call_backward(std::move(given));
  size_t wanted = is_tensor_.size(), edge = 0;
  while (results.size() > wanted && !results.back().defined()) results.pop_back();
  TORCH_CHECK(results.size() == wanted, std::string(name()), ": backward returned ", results.size(), " gradients for ",
              wanted, " inputs of forward");
  for (size_t i = 0; i < wanted; ++i) {
    if (is_tensor_[i])
      grad_inputs[edge++] = std::move(results[i]);
    else
      TORCH_CHECK(!results[i].defined(), std::string(name()), ": backward returned a gradient for input ", i,
                  ", which is no tensor: return an undefined tensor there");
  }
}

void FunctionNode::release_saved() {
  for (::taeda::autograd::SavedTensor& saved : saved_) saved.reset();
  released_ = true;
}

}  // namespace torch::autograd
