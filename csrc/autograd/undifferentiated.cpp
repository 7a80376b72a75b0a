#include "taeda/autograd/undifferentiated.h"

#include <algorithm>
#include <atomic>

#include "dispatch/fallbacks.h"
#include "taeda/autograd/record.h"
#include "taeda/core/warn.h"

namespace taeda::autograd {

namespace {

std::atomic<Undifferentiated> g_mode{Undifferentiated::Warn};

// Where a derivative is missing: no gradient goes on from here.
struct NoDerivative final : Node {
  NoDerivative(std::string of, bool raises) : op(std::move(of)), raises(raises) {}
  void apply(std::span<Tensor>, std::span<Tensor>) override {
    TAEDA_CHECK_KIND(Runtime, !raises, op, " has no derivative; detach() its result, or use another op");
    warn(str(op,
             " has no kernel under Autograd, so no gradient goes back through it; register one with its derivative, "
             "or one that falls through where none is meant"));
  }
  std::string_view name() const override { return raises ? "NotImplemented" : "WarnNotImplemented"; }
  const std::string op;
  const bool raises;
};

template <class F>
void each_tensor(const Value& value, F&& visit) {
  if (value.tag() == Value::Tag::Tensor) {
    visit(value.to_tensor());
  } else if (value.tag() == Value::Tag::TensorList) {
    for (const Tensor& t : value.to_tensor_list()) visit(t);
  }
}

std::vector<Tensor> tensors_of(std::span<const Value> values) {
  std::vector<Tensor> tensors;
  for (const Value& value : values) each_tensor(value, [&](const Tensor& t) { tensors.push_back(t); });
  return tensors;
}

std::span<const Value> arguments_of(const Op& op, const Stack& stack) {
  return std::span(stack).last(op.info().param_count);
}

std::vector<Tensor> written_by(const Op& op, const Stack& stack) {
  std::vector<Tensor> written;
  std::span<const Value> arguments = arguments_of(op, stack);
  for (size_t i = 0; i < arguments.size(); ++i)
    if (op.info().params[i].is_mutable)
      each_tensor(arguments[i], [&](const Tensor& t) {
        if (t.defined()) written.push_back(t);
      });
  return written;
}

void call_below(const Op& op, KeySet keys, Stack& stack) {
  op.call_boxed(keys & KeySet::below(Functionality::Autograd), stack);
}

bool is_among(const std::vector<Tensor>& list, const Tensor& t) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& other) { return other.is(t); });
}

Ref<Node> node_for(const Op& op, const std::vector<Tensor>& inputs, bool raises) {
  Ref<Node> node = make_node<NoDerivative>(op.qualified_name(), raises);
  for (const Tensor& t : inputs) collect_one(*node, t);
  return node;
}

void mark(const std::vector<Tensor>& results, const std::vector<Tensor>& but, const Ref<Node>& node) {
  for (const Tensor& t : results)
    if (t.defined() && !is_among(but, t) && is_differentiable(t.dtype()) && !requires_grad(t)) set_history(t, *node);
}

// Unlike one that is known to have no derivative, the kernel may be made of ops that record.
void call_undifferentiated(const Op& op, KeySet keys, Stack& stack) {
  const Undifferentiated mode = undifferentiated_mode();
  std::vector<Tensor> inputs;
  if (mode != Undifferentiated::Nothing && t_state.grad_mode) inputs = tensors_of(arguments_of(op, stack));
  if (!recording(TensorList(inputs))) return call_below(op, keys, stack);
  TAEDA_CHECK(mode == Undifferentiated::Warn, op.qualified_name(),
              " has no kernel under Autograd, and an argument wants a gradient");
  const size_t base = stack.size() - op.info().param_count;
  call_below(op, keys, stack);
  mark(tensors_of(std::span(stack).subspan(base)), inputs, node_for(op, inputs, false));
}

}  // namespace

Undifferentiated undifferentiated_mode() { return g_mode.load(std::memory_order_relaxed); }
void set_undifferentiated_mode(Undifferentiated mode) { g_mode.store(mode, std::memory_order_relaxed); }

void call_without_derivative(const Op& op, KeySet keys, Stack& stack) {
  const std::vector<Tensor> inputs = tensors_of(arguments_of(op, stack)), written = written_by(op, stack);
  if (!recording(TensorList(inputs))) return call_below(op, keys, stack);
  for (const Tensor& t : written) check_inplace(t, true);
  Ref<Node> node = node_for(op, inputs, true);
  const size_t base = stack.size() - op.info().param_count;
  {
    BelowAutograd guard;
    call_below(op, keys, stack);
  }
  for (const Tensor& t : written)
    if (is_differentiable(t.dtype())) rebase_history(t, *node);
  mark(tensors_of(std::span(stack).subspan(base)), inputs, node);
}

void call_counting_writes(const Op& op, KeySet keys, Stack& stack) {
  const std::vector<Tensor> written = written_by(op, stack);
  op.call_boxed(keys & KeySet::below(Functionality::ADInplaceOrView), stack);
  for (const Tensor& t : written) bump(t, op.info().name);
}

}  // namespace taeda::autograd

namespace taeda {
const Kernel undifferentiated_kernel{autograd::call_undifferentiated, "csrc/autograd/undifferentiated.cpp"};
}  // namespace taeda
