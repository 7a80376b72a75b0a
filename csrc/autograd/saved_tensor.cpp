#include "taeda/autograd/saved_tensor.h"

#include "taeda/autograd/engine.h"
#include "taeda/autograd/forward.h"
#include "taeda/autograd/view.h"

namespace taeda::autograd {
namespace {

struct HookStack {
  std::vector<Ref<SavedTensorHooks>> hooks;
  std::optional<std::string> disabled;
  int set_aside = 0;  // scopes in which hooks that the program entered do not show
};
thread_local bool t_has_hooks TAEDA_TLS = false;
HookStack& hook_stack() {
  thread_local HookStack stack;
  return stack;
}

struct CapturedStack final : RefCounted {
  HookStack stack;
};
Ref<RefCounted> capture_stack() {
  Ref<CapturedStack> captured = make_ref<CapturedStack>();
  captured->stack = hook_stack();
  return captured;
}
Ref<RefCounted> exchange_stack(Ref<RefCounted> wanted) {
  Ref<CapturedStack> before = make_ref<CapturedStack>();
  before->stack = std::exchange(hook_stack(), static_cast<CapturedStack*>(wanted.get())->stack);
  t_has_hooks = !hook_stack().hooks.empty();
  return before;
}
[[maybe_unused]] const bool g_hooks_registered = (add_thread_state_part({capture_stack, exchange_stack}), true);

// A result of `owner` as it was, over the saved data.
Tensor as_result(const Tensor& data, Node* owner, uint32_t output_nr) {
  if (Node* outer = owner->outer()) {
    Tensor result = result_of_copy(data, *outer);
    if (t_state.forward_grad) copy_tangents(data, result);
    return result;
  }
  Tensor result = variable_data(data);
  result->share_versions_of(*data.impl());
  set_gradient_edge(result, Edge(Ref<Node>(owner), output_nr));
  if (t_state.forward_grad) copy_tangents(data, result);
  return result;
}

struct Packed final : RefCounted {
  Ref<SavedTensorHooks> hooks;
  Ref<RefCounted> object;
  Edge edge;  // of an input; a result's is the node that saved it
};

}  // namespace

void SavedTensor::save(const Tensor& tensor, bool is_output) {
  if (!tensor.defined()) return;
  TAEDA_CHECK(!tensor->is_inference(),
              "a tensor made in inference mode cannot be saved for backward: clone() it outside of inference mode");
  is_output_ = is_output && tensor->needs_autograd();
  version_ = tensor->version();
  if (is_output_) {
    output_nr_ = meta_of(tensor)->output_nr;
    tensor_ = detach(tensor);
    if (t_state.forward_grad) copy_tangents(tensor, tensor_);
  } else {
    tensor_ = tensor;
  }
  if (t_has_hooks) [[unlikely]]
    pack(hook_stack().hooks.back());
}

void SavedTensor::pack(Ref<SavedTensorHooks> hooks) {
  Ref<Packed> packed = make_ref<Packed>();
  if (!is_output_) packed->edge = gradient_edge(tensor_);
  WithoutSavedTensorHooks off;
  Scoped grad_mode(t_state.grad_mode, false);
  packed->object = hooks->pack(is_output_ || !tensor_->has_grad_flag() ? tensor_ : detach(tensor_));
  TAEDA_CHECK(tensor_->version() == version_, "a pack hook wrote to the tensor that it was to pack");
  packed->hooks = std::move(hooks);
  packed_ = std::move(packed);
  tensor_.reset();
}

void SavedTensor::register_hooks(Ref<SavedTensorHooks> hooks) {
  TAEDA_CHECK(!packed_, "hooks were already registered for this saved tensor");
  TAEDA_CHECK(!released_, "the saved tensor was released: register hooks before backward runs");
  TAEDA_CHECK(tensor_.defined(), "None was saved, which no hooks can pack");
  pack(std::move(hooks));
}

void SavedTensor::reset() {
  if (!tensor_.defined() && !packed_) return;
  tensor_.reset();
  packed_.reset();
  released_ = true;
}

void SavedTensor::check_version(const Node* owner) const {
  uint32_t now = tensor_->version();
  if (now == version_) [[likely]]
    return;
  const Ref<VersionCounter>& versions = tensor_->shared_versions();
  const char* writer = versions->writer.load(std::memory_order_relaxed);
  TAEDA_FAIL(Runtime, "a ", tensor_.dtype(), " tensor of shape ", tensor_.sizes(), ", ",
             is_output_ ? "the result " : "an input ", "of the call that ", owner ? owner->name() : "a node",
             " differentiates, was changed in place after it was saved (version ", version_, ", now ", now, "; ",
             writer ? str("last written by ", writer) : std::string("the writer is unknown"),
             "): change a clone of it, or write out of place");
}

Tensor SavedTensor::unpack(Node* owner, bool with_history) const {
  TAEDA_CHECK(!released_, "the first backward() released what ", owner ? owner->name() : "this graph",
              " had saved; pass retain_graph=True to it to go through the graph again");
  if (packed_) return unpack_packed(owner);
  if (!tensor_.defined()) return {};
  check_version(owner);
  return is_output_ && with_history && owner ? as_result(tensor_, owner, output_nr_) : tensor_;
}

Tensor SavedTensor::unpack_packed(Node* owner) const {
  const auto& packed = static_cast<const Packed&>(*packed_);
  Tensor data;
  {
    WithoutSavedTensorHooks off;
    data = packed.hooks->unpack(packed.object);
  }
  if (is_output_ && owner) return as_result(data, owner, output_nr_);
  if (!packed.edge.is_valid()) return data;
  Tensor input = detach(data);
  set_gradient_edge(input, packed.edge);
  return input;
}

void save_list(std::vector<SavedTensor>& saved, TensorList tensors, bool is_output) {
  saved.reserve(tensors.size());
  for (const Tensor& t : tensors) saved.emplace_back().save(t, is_output);
}

std::vector<Tensor> unpack_list(std::span<const SavedTensor> saved, Node* owner) {
  std::vector<Tensor> tensors;
  tensors.reserve(saved.size());
  for (const SavedTensor& s : saved) tensors.push_back(s.unpack(owner));
  return tensors;
}

void push_saved_tensor_hooks(Ref<SavedTensorHooks> hooks) {
  HookStack& stack = hook_stack();
  TAEDA_CHECK(!stack.disabled, *stack.disabled);
  stack.hooks.push_back(std::move(hooks));
  t_has_hooks = true;
}

void pop_saved_tensor_hooks() {
  HookStack& stack = hook_stack();
  if (stack.hooks.empty() && stack.set_aside > 0) return;  // a hook that leaves its own scope while it runs
  TAEDA_CHECK(!stack.hooks.empty(), "there are no saved-tensor hooks to take away");
  stack.hooks.pop_back();
  t_has_hooks = !stack.hooks.empty();
}

const std::string* saved_tensor_hooks_disabled() {
  HookStack& stack = hook_stack();
  return stack.disabled ? &*stack.disabled : nullptr;
}

void disable_saved_tensor_hooks(std::string message) {
  TAEDA_CHECK(!t_has_hooks, message);
  hook_stack().disabled = std::move(message);
}

void enable_saved_tensor_hooks() { hook_stack().disabled.reset(); }

WithoutSavedTensorHooks::WithoutSavedTensorHooks() {
  ++hook_stack().set_aside;
  if (t_has_hooks) saved_.swap(hook_stack().hooks);
  t_has_hooks = false;
}

WithoutSavedTensorHooks::~WithoutSavedTensorHooks() {
  HookStack& stack = hook_stack();
  --stack.set_aside;
  if (saved_.empty()) return;
  saved_.swap(stack.hooks);
  t_has_hooks = true;
}

}  // namespace taeda::autograd
