#include "autograd/graph_task.h"

#include <algorithm>

#include "autograd/accumulate.h"
#include "autograd/anomaly.h"
#include "autograd/arithmetic.h"

namespace taeda::autograd {

// --- NodeIndex

uint32_t NodeIndex::find_or_insert(const Node* node, uint32_t next, bool& inserted) {
  if (4 * (used_ + 1) > 3 * slots_.size()) grow();
  size_t i = start_of(node);
  while (slots_[i].node && slots_[i].node != node) i = (i + 1) & (slots_.size() - 1);
  inserted = !slots_[i].node;
  if (inserted) {
    slots_[i] = {node, next};
    ++used_;
  }
  return slots_[i].number;
}

uint32_t NodeIndex::find(const Node* node) const {
  for (size_t i = start_of(node); slots_[i].node; i = (i + 1) & (slots_.size() - 1))
    if (slots_[i].node == node) return slots_[i].number;
  return kNone;
}

void NodeIndex::grow() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (!slot.node) continue;
    size_t i = start_of(slot.node);
    while (slots_[i].node) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = slot;
  }
}

// --- before the run

namespace {
std::atomic<int64_t> g_next_task{0};

bool runs_elsewhere(const Node& node) {
  Device device = node.device();
  if (device.is_cpu()) return false;
  DeviceRunner* runner = device_runner(device.type);
  return runner && runner->has_own_thread(device);
}
}  // namespace

GraphTask::GraphTask(std::span<const Edge> roots, BackwardOptions options, std::span<const Edge> inputs)
    : options_(options), id_(g_next_task++), results_(options.accumulate ? 0 : inputs.size()) {
  records_.reserve(32);
  targets_.reserve(64);
  discover(roots);
  restricted_ = !inputs.empty();
  if (restricted_) restrict_to(inputs);
  // A pass inside another one stays in its thread: two device threads could wait for each other otherwise.
  if (current_task_id() < 0)
    shared_ = std::any_of(records_.begin(), records_.end(), [](const Record& r) { return runs_elsewhere(*r.node); });
}

uint32_t GraphTask::visit(Node* node) {
  bool inserted;
  uint32_t number = index_.find_or_insert(node, static_cast<uint32_t>(records_.size()), inserted);
  if (inserted) records_.emplace_back().node = node;
  return number;
}

// Numbers every node that can be reached and counts the gradients it will get. records_ is its own worklist.
void GraphTask::discover(std::span<const Edge> roots) {
  for (const Edge& root : roots) ++records_[visit(root.function.get())].dependencies;
  for (size_t number = 0; number < records_.size(); ++number) {
    records_[number].first_target = static_cast<uint32_t>(targets_.size());
    for (const Edge& edge : records_[number].node->next_edges()) {
      uint32_t next = NodeIndex::kNone;
      if (edge.is_valid()) ++records_[next = visit(edge.function.get())].dependencies;
      targets_.push_back(next);
    }
  }
}

void GraphTask::restrict_to(std::span<const Edge> inputs) {
  for (Record& record : records_) record.needed = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    uint32_t number = inputs[i].is_valid() ? index_.find(inputs[i].function.get()) : NodeIndex::kNone;
    if (number == NodeIndex::kNone) continue;
    Record& record = records_[number];
    record.reached = true;
    if (options_.accumulate)
      record.needed = true;  // a tensor that is no leaf has its gradient before, and the node's hooks run all the same
    else
      captures_.push_back({number, inputs[i].input_nr, i});
  }
  mark_needed();
}

// A node is needed if one of its next nodes is wanted: a depth-first walk that settles a node after its next ones.
void GraphTask::mark_needed() {
  struct Frame {
    uint32_t number;
    uint32_t edge;
  };
  std::vector<bool> seen(records_.size());
  std::vector<Frame> stack;
  for (uint32_t start = 0; start < records_.size(); ++start) {
    if (seen[start]) continue;
    seen[start] = true;
    stack.push_back({start, 0});
    while (!stack.empty()) {
      auto [number, edge] = stack.back();
      Record& record = records_[number];
      if (edge < record.node->num_outputs()) {
        ++stack.back().edge;
        uint32_t next = targets_[record.first_target + edge];
        if (next != NodeIndex::kNone && !seen[next]) {
          seen[next] = true;
          stack.push_back({next, 0});
        }
        continue;
      }
      for (size_t i = 0; i < record.node->num_outputs() && !record.needed; ++i) {
        uint32_t next = targets_[record.first_target + i];
        record.needed = next != NodeIndex::kNone && (records_[next].needed || records_[next].reached);
      }
      stack.pop_back();
    }
  }
}

// --- the run

std::vector<Tensor> GraphTask::run(std::span<const Edge> roots, std::span<const Tensor> grads) {
  if (shared_) thread_state_ = capture_thread_state();
  {
    auto guard = lock();
    for (size_t i = 0; i < roots.size(); ++i)
      deliver(index_.find(roots[i].function.get()), roots[i].input_nr, grads[i], nullptr);
  }
  uint32_t number;
  while (next_ready(number)) evaluate(number);
  for (const UsedStream& used : streams_) {
    DeviceRunner* runner = device_runner(used.device.type);
    runner->wait(used.device, used.stream, runner->current_stream(used.device));
  }
  for (size_t i = 0; i < callbacks_.size(); ++i) {
    auto callback = callbacks_[i];  // it may queue another
    callback();
  }
  return std::move(results_);
}

bool GraphTask::next_ready(uint32_t& number) {
  auto guard = lock();
  while (ready_.empty() || error_) {
    // Also after an error, the nodes that still run elsewhere use this task.
    if (in_flight_ == 0) {
      if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
      return false;
    }
    changed_.wait(guard);
  }
  std::pop_heap(ready_.begin(), ready_.end());
  number = ready_.back().number;
  ready_.pop_back();
  return true;
}

void GraphTask::schedule(uint32_t number) {
  Node& node = *records_[number].node;
  if (shared_ && runs_elsewhere(node)) {
    ++in_flight_;
    post_to_device_thread(node.device(), Ref<GraphTask>(this), number);
    return;
  }
  ready_.push_back({node.sequence_nr(), number});
  std::push_heap(ready_.begin(), ready_.end());
}

namespace {
// Whether nobody else can see `t` change.
bool is_sole_owner(const Tensor& t) {
  return t->use_count() == 1 && t->storage() && t->storage()->use_count() == 1 && !t->storage()->is_copy_on_write() &&
         t->is_non_overlapping_and_dense() && !t->is_lazy();
}

// A plain tensor has no room for one of a class with rules of its own, such as a batch.
bool has_room(const Tensor& t, const Tensor& added) {
  return is_sole_owner(t) && (!added.keys().has(Functionality::Python) || t.keys().has(Functionality::Python));
}

void add_into(Tensor& sum, Tensor&& grad) {
  if (t_state.grad_mode || sum.dtype() != grad.dtype())
    sum = arithmetic::add(sum, grad);
  else if (has_room(sum, grad))
    arithmetic::add_in_place(sum, grad);
  else if (has_room(grad, sum))
    arithmetic::add_in_place(grad, sum), sum = std::move(grad);
  else
    sum = arithmetic::add(sum, grad);
}
}  // namespace

void GraphTask::deliver(uint32_t number, uint32_t input_nr, Tensor grad, const Node* sender) {
  Record& record = records_[number];
  if (restricted_ && !record.needed && !record.reached) return;
  if (record.grads.empty()) record.grads.resize(record.node->num_inputs());
  if (grad.defined()) {
    if (!record.node->device().is_cpu() && sender && sender->stream() != record.node->stream()) [[unlikely]] {
      if (DeviceRunner* runner = device_runner(record.node->device().type))
        runner->wait(record.node->device(), sender->stream(), record.node->stream());
    }
    Tensor& slot = record.grads[input_nr];
    if (slot.defined())
      add_into(slot, std::move(grad));
    else
      slot = std::move(grad);
  }
  if (--record.dependencies == 0) schedule(number);
}

bool GraphTask::returns_leaf(const Node& node) const {
  return !options_.accumulate && reaches(node) && dynamic_cast<const AccumulateGrad*>(&node);
}

void GraphTask::capture(uint32_t number, std::span<const Tensor> grads) {
  auto guard = lock();
  for (const Capture& c : captures_)
    if (c.number == number) results_[c.result] = grads[c.input_nr];
}

void GraphTask::note_stream(const Node& node) {
  auto guard = lock();
  Device device = node.device();
  for (const UsedStream& used : streams_)
    if (used.device == device && used.stream == node.stream()) return;
  streams_.push_back({device, node.stream()});
}

void GraphTask::run_hooks_and_apply(Node& node, std::span<Tensor> grads, std::span<Tensor> grad_inputs) {
  if (Node::Hooks* hooks = node.hooks()) [[unlikely]] {
    auto pre = hooks->pre;
    for (auto& hook : pre) hook->run(grads);
  }
  Node::Hooks* hooks = node.hooks();
  std::vector<Tensor> seen;  // post hooks see the gradients, which apply may have moved from
  if (hooks && !hooks->post.empty()) [[unlikely]]
    seen.assign(grads.begin(), grads.end());
  if (node.locks_apply()) {
    std::lock_guard guard(node.lock());
    node.apply(grads, grad_inputs);
    if (!options_.keep_graph) node.release_saved();
  } else {
    node.apply(grads, grad_inputs);
    if (!options_.keep_graph) node.release_saved();
  }
  hooks = node.hooks();  // unpacking may have registered some, for which the gradients are gone
  if (hooks && !hooks->post.empty()) [[unlikely]] {
    seen.resize(grads.size());
    auto post = hooks->post;
    for (auto& hook : post) hook->run(grad_inputs, seen);
  }
}

void GraphTask::evaluate_for_worker(uint32_t number) {
  std::exception_ptr error;
  try {
    ThreadStateScope scope(thread_state_);
    Scoped grad_mode(t_state.grad_mode, options_.create_graph);
    evaluate(number);
  } catch (...) {
    error = std::current_exception();
  }
  std::lock_guard guard(mutex_);
  if (error && !error_) error_ = error;
  --in_flight_;
  changed_.notify_all();
}

}  // namespace taeda::autograd
