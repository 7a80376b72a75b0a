#include "taeda/autograd/engine.h"

#include <deque>
#include <map>
#include <thread>
#include <unordered_set>

#include "autograd/accumulate.h"
#include "autograd/anomaly.h"
#include "autograd/graph_task.h"
#include "dispatch/profiler.h"
#include "taeda/core/fork.h"

namespace taeda::autograd {
namespace {

// What this thread is running; a pass inside a node stacks on top of the one it interrupts.
struct Current {
  GraphTask* task = nullptr;
  uint32_t number = 0;
  Node* node = nullptr;
  int depth = 0;
};
thread_local Current t_current TAEDA_TLS;

// Each nested pass costs a few frames of this stack and of the interpreter's: beyond this the rest goes to a new one.
constexpr int kMaxDepth = 60;

[[noreturn]] void rethrow_with_name(const Node& node) {
  if (detail::anomaly_enabled) report_anomaly(node);
  try {
    throw;
  } catch (const Error& error) {
    throw Error(error.kind(), str(node.name(), ": ", error.what()));
  }
}

class DeviceScope {
 public:
  explicit DeviceScope(const Node& node) {
    if (node.device().is_cpu()) return;
    runner_ = device_runner(node.device().type);
    if (runner_) token_ = runner_->enter(node.device(), node.stream());
  }
  ~DeviceScope() {
    if (runner_) runner_->leave(token_);
  }
  DeviceScope(const DeviceScope&) = delete;
  bool is_active() const { return runner_ != nullptr; }

 private:
  DeviceRunner* runner_ = nullptr;
  void* token_ = nullptr;
};

// The node's event, while the thread is profiled.
class ProfiledNode {
 public:
  explicit ProfiledNode(const Node& node)
      : event_(is_profiled() ? begin_event(std::string(node.name()), ProfileKind::Backward,
                                           static_cast<int64_t>(node.sequence_nr()))
                             : 0) {}
  ~ProfiledNode() {
    if (event_) end_event(event_);
  }
  ProfiledNode(const ProfiledNode&) = delete;

 private:
  uint64_t event_;
};

}  // namespace

void GraphTask::evaluate(uint32_t number) {
  Record& record = records_[number];
  Node& node = *record.node;
  InlineVector<Tensor, 1> grads = std::move(record.grads);
  InlineVector<Tensor, 2> grad_inputs;
  Current outer = std::exchange(t_current, {this, number, &node, t_current.depth});
  struct Restore {
    Current& outer;
    ~Restore() { t_current = outer; }
  } restore{outer};
  ProfiledNode event(node);
  try {
    DeviceScope device(node);
    if (device.is_active()) note_stream(node);
    node.run_tensor_hooks(grads);
    if (record.reached) capture(number, grads);
    if (!record.needed) return;
    grad_inputs.resize(node.num_outputs());
    run_hooks_and_apply(node, grads, grad_inputs);
    if (detail::anomaly_enabled && anomaly_mode().check_nan) check_finite(node, grad_inputs);
    for (size_t i = 0; i < grad_inputs.size(); ++i)
      if (node.next_edge(i).is_valid()) validate_gradient(node.next_edge(i), grad_inputs[i], node.name());
  } catch (...) {
    rethrow_with_name(node);
  }
  grads.clear();
  auto guard = lock();
  for (size_t i = 0; i < grad_inputs.size(); ++i) {
    uint32_t next = targets_[record.first_target + i];
    if (next != NodeIndex::kNone) deliver(next, node.next_edge(i).input_nr, std::move(grad_inputs[i]), &node);
  }
}

namespace {

std::vector<Tensor> run_here(std::span<const Edge> roots, std::span<const Tensor> grads, BackwardOptions options,
                             std::span<const Edge> inputs, bool all_leaves) {
  Scoped grad_mode(t_state.grad_mode, options.create_graph);
  Ref<GraphTask> task = make_ref<GraphTask>(roots, options, inputs);
  task->covers_all_leaves = all_leaves && inputs.empty();
  Current outer = std::exchange(t_current, {task.get(), 0, nullptr, t_current.depth + 1});
  struct Restore {
    Current& outer;
    ~Restore() { t_current = outer; }
  } restore{outer};
  return task->run(roots, grads);
}

std::vector<Tensor> run_on_new_stack(std::span<const Edge> roots, std::span<const Tensor> grads,
                                     BackwardOptions options, std::span<const Edge> inputs) {
  std::vector<Tensor> results;
  std::exception_ptr error;
  Ref<RefCounted> state = capture_thread_state();
  std::thread([&, all_leaves = covers_all_leaves()] {
    try {
      ThreadStateScope scope(state);
      results = run_here(roots, grads, options, inputs, all_leaves);
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  if (error) std::rethrow_exception(error);
  return results;
}

}  // namespace

std::vector<Tensor> run_backward(std::span<const Edge> roots, std::span<const Tensor> grads, BackwardOptions options,
                                 std::span<const Edge> inputs) {
  if (t_current.depth >= kMaxDepth) return run_on_new_stack(roots, grads, options, inputs);
  return run_here(roots, grads, options, inputs, covers_all_leaves());
}

bool leads_elsewhere(std::span<const Edge> roots, std::span<const Tensor> leaves) {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> waiting;
  auto visit = [&](const Edge& edge) {
    if (edge.is_valid() && seen.insert(edge.function.get()).second) waiting.push_back(edge.function.get());
  };
  for (const Tensor& leaf : leaves)
    if (Ref<Node> end = find_accumulator(leaf)) seen.insert(end.get());
  for (const Edge& root : roots) visit(root);
  while (!waiting.empty()) {
    const Node& node = *waiting.back();
    waiting.pop_back();
    if (dynamic_cast<const AccumulateGrad*>(&node)) return true;
    for (const Edge& edge : node.next_edges()) visit(edge);
  }
  return false;
}

void queue_callback(std::function<void()> callback) {
  TAEDA_CHECK(t_current.task, "a callback can be queued only while a backward pass runs");
  t_current.task->queue_callback(std::move(callback));
}

Ref<Node> current_node() { return Ref<Node>(t_current.node); }

GraphTask* current_task() { return t_current.task; }

int64_t current_task_id() { return t_current.task ? t_current.task->id() : -1; }

bool will_run(const Node& node) { return t_current.task && t_current.task->reaches(node); }

bool covers_all_leaves() { return !t_current.task || t_current.task->covers_all_leaves; }

bool is_output_needed(const Node& node, size_t i) {
  const Current& now = t_current;
  if (!now.task || !now.node || (now.node != &node && now.node != node.outer())) return true;
  return now.task->is_needed(now.number, i);
}

// --- threads of devices

namespace {

std::atomic<DeviceRunner*> g_runners[kDeviceTypes];

// Lives as long as the process: a thread that waits for work must not see its queue go.
struct Worker {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::pair<Ref<GraphTask>, uint32_t>> queue;

  void post(Ref<GraphTask> task, uint32_t number) {
    {
      std::lock_guard guard(mutex);
      queue.emplace_back(std::move(task), number);
    }
    changed.notify_one();
  }
  [[noreturn]] void work() {
    for (;;) {
      std::unique_lock guard(mutex);
      changed.wait(guard, [this] { return !queue.empty(); });
      auto [task, number] = std::move(queue.front());
      queue.pop_front();
      guard.unlock();
      task->evaluate_for_worker(number);
    }
  }
};

Mutex g_workers_mutex;
auto& g_workers = *new std::map<std::pair<DeviceType, int>, Worker*>;  // never destroyed: threads may outlive it

// A forked child has none of these threads; it starts its own when it needs them. What they held is lost.
void forget_workers() { g_workers.clear(); }

Worker& worker_of(Device device) {
  [[maybe_unused]] static const bool g_registered = [] {
    at_fork({nullptr, nullptr, forget_workers});
    return true;
  }();
  Lock guard(g_workers_mutex);
  Worker*& worker = g_workers[{device.type, device.index}];
  if (!worker) {
    worker = new Worker;
    std::thread([worker] { worker->work(); }).detach();
  }
  return *worker;
}

}  // namespace

void post_to_device_thread(Device device, Ref<GraphTask> task, uint32_t number) {
  worker_of(device).post(std::move(task), number);
}

DeviceRunner* device_runner(DeviceType type) {
  return is_name_alone(type) ? nullptr : g_runners[static_cast<int>(type)].load(std::memory_order_acquire);
}

void set_device_runner(DeviceType type, DeviceRunner* runner) {
  TAEDA_CHECK(!is_name_alone(type), "a runner for '", device_type_name(type), "', which is a name alone");
  g_runners[static_cast<int>(type)].store(runner, std::memory_order_release);
}

// --- thread state

namespace {

struct ThreadParts {
  Mutex mutex;
  std::vector<ThreadStatePart> parts;
};
ThreadParts& thread_parts() {
  static ThreadParts& parts = *new ThreadParts;  // never destroyed: threads may outlive static objects
  return parts;
}
std::vector<ThreadStatePart> parts_now() {
  Lock guard(thread_parts().mutex);
  return thread_parts().parts;
}

struct CapturedState final : RefCounted {
  ThreadState core;
  std::vector<std::pair<ThreadStatePart, Ref<RefCounted>>> parts;
};

}  // namespace

void add_thread_state_part(ThreadStatePart part) {
  Lock guard(thread_parts().mutex);
  thread_parts().parts.push_back(part);
}

Ref<RefCounted> capture_thread_state() {
  Ref<CapturedState> state = make_ref<CapturedState>();
  state->core = t_state;
  for (const ThreadStatePart& part : parts_now()) state->parts.emplace_back(part, part.capture());
  return state;
}

Ref<RefCounted> exchange_thread_state(const Ref<RefCounted>& state) {
  auto* wanted = static_cast<CapturedState*>(state.get());
  Ref<CapturedState> before = make_ref<CapturedState>();
  before->core = std::exchange(t_state, wanted->core);
  for (auto& [part, captured] : wanted->parts) before->parts.emplace_back(part, part.exchange(captured));
  return before;
}

}  // namespace taeda::autograd
