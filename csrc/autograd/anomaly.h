// Anomaly mode: nodes remember where the forward call stood, and gradients are searched for NaN.
#pragma once
#include "taeda/autograd/node.h"

namespace taeda::autograd {

// How the host language records and shows call stacks; null in a pure C++ program.
struct AnomalyHooks {
  Ref<RefCounted> (*capture)() = nullptr;  // the stack of the call that is being recorded
  // Shows where the node was recorded; `parent` is the node whose backward recorded it, if any.
  void (*show)(const RefCounted* record, std::string_view node_name, bool is_parent) = nullptr;
};
TAEDA_API extern AnomalyHooks anomaly_hooks;

struct AnomalyMode {
  bool enabled = false;
  bool check_nan = true;
};
TAEDA_API AnomalyMode anomaly_mode();
TAEDA_API void set_anomaly_mode(AnomalyMode mode);

namespace detail {
extern std::atomic<bool> anomaly_enabled;
void record_forward(Node& node);
}  // namespace detail

// Shows the stacks of the node and of those that recorded it during a backward pass.
void report_anomaly(const Node& node);
// RuntimeError that names the node if a gradient holds a NaN.
void check_finite(const Node& node, std::span<const Tensor> grad_inputs);

}  // namespace taeda::autograd
