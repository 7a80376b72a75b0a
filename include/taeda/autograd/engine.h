// Runs the graph backwards.
#pragma once
#include <functional>
#include <vector>

#include "taeda/autograd/device_runner.h"
#include "taeda/autograd/node.h"

namespace taeda::autograd {

struct BackwardOptions {
  bool keep_graph = false;    // saved tensors stay, so that the graph can be run again
  bool create_graph = false;  // gradients are recorded
  bool accumulate = true;     // into leaves' .grad; otherwise the gradients at `inputs` are returned
};

// From the gradients of `roots` to those of `inputs`, or of all leaves if there are none. Nodes run once all their
// gradients have arrived, later recorded ones first, in the calling thread unless their device has its own. May be
// called from within a node (also deeply), and from several threads over one graph.
TAEDA_API std::vector<Tensor> run_backward(std::span<const Edge> roots, std::span<const Tensor> grads,
                                           BackwardOptions options, std::span<const Edge> inputs = {});

// Whether the graph ends in other leaves than these, too.
TAEDA_API bool leads_elsewhere(std::span<const Edge> roots, std::span<const Tensor> leaves);

// --- asked from within a backward pass
TAEDA_API void queue_callback(std::function<void()> callback);  // runs after the pass; RuntimeError outside one
TAEDA_API Ref<Node> current_node();                             // null outside
TAEDA_API int64_t current_task_id();                            // -1 outside
TAEDA_API bool will_run(const Node& node);                      // the running pass reaches the node
// Whether no pass that runs in this thread is one for given inputs only: a pass for all leaves may start inside.
TAEDA_API bool covers_all_leaves();
// Whether the running pass goes on through output i of `node`; true outside of one.
bool is_output_needed(const Node& node, size_t i);

// Thread-local state of other parts that a thread which works for a backward pass must take over.
struct ThreadStatePart {
  Ref<RefCounted> (*capture)();
  Ref<RefCounted> (*exchange)(Ref<RefCounted>);  // puts a captured state in force, gives what was
};
TAEDA_API void add_thread_state_part(ThreadStatePart part);

// All of this thread's state that calls depend on.
TAEDA_API Ref<RefCounted> capture_thread_state();
TAEDA_API Ref<RefCounted> exchange_thread_state(const Ref<RefCounted>& state);  // puts it in force, gives what was
class ThreadStateScope {
 public:
  explicit ThreadStateScope(const Ref<RefCounted>& state) : before_(exchange_thread_state(state)) {}
  ~ThreadStateScope() { exchange_thread_state(before_); }
  ThreadStateScope(const ThreadStateScope&) = delete;

 private:
  Ref<RefCounted> before_;
};

}  // namespace taeda::autograd
