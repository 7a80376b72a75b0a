#include "autograd/anomaly.h"

#include "autograd/arithmetic.h"
#include "taeda/autograd/engine.h"

namespace taeda::autograd {

AnomalyHooks anomaly_hooks;
std::atomic<bool> detail::anomaly_enabled{false};

namespace {

std::atomic<bool> g_check_nan{true};

// The stack of a forward call and the node whose backward was running then, as with create_graph.
struct Record final : RefCounted {
  Ref<RefCounted> stack;
  Ref<Node> parent;
};

}  // namespace

AnomalyMode anomaly_mode() { return {detail::anomaly_enabled.load(), g_check_nan.load()}; }

void set_anomaly_mode(AnomalyMode mode) {
  detail::anomaly_enabled = mode.enabled;
  g_check_nan = mode.check_nan;
}

void detail::record_forward(Node& node) {
  Ref<Record> record = make_ref<Record>();
  if (anomaly_hooks.capture) record->stack = anomaly_hooks.capture();
  record->parent = current_node();
  node.set_anomaly_record(std::move(record));
}

void report_anomaly(const Node& node) {
  if (!anomaly_hooks.show) return;
  const Node* current = &node;
  for (bool is_parent = false; current; is_parent = true) {
    auto* record = static_cast<const Record*>(current->anomaly_record().get());
    anomaly_hooks.show(record ? record->stack.get() : nullptr, current->name(), is_parent);
    current = record ? record->parent.get() : nullptr;
  }
}

void check_finite(const Node& node, std::span<const Tensor> grad_inputs) {
  for (size_t i = 0; i < grad_inputs.size(); ++i)
    TAEDA_CHECK(!grad_inputs[i].defined() || !arithmetic::has_nan(grad_inputs[i]), "the gradient that ", node.name(),
                " computed for its input ", i, " has NaN values");
}

}  // namespace taeda::autograd
