// One backward pass: the nodes it reaches, what each still waits for, and the gradients that arrived.
#pragma once
#include <condition_variable>
#include <exception>
#include <mutex>
#include <vector>

#include "taeda/autograd/engine.h"

namespace taeda::autograd {

// From node to record number: open addressing, as it is filled once and never shrinks.
class NodeIndex {
 public:
  NodeIndex() : slots_(kFirst) {}
  // The node's number; `inserted` if it is a new one, which is `next`.
  uint32_t find_or_insert(const Node* node, uint32_t next, bool& inserted);
  uint32_t find(const Node* node) const;  // kNone if absent
  static constexpr uint32_t kNone = UINT32_MAX;

 private:
  static constexpr size_t kFirst = 64;
  struct Slot {
    const Node* node = nullptr;
    uint32_t number = 0;
  };
  size_t start_of(const Node* node) const {
    return (reinterpret_cast<uintptr_t>(node) >> 6) * 0x9e3779b97f4a7c15u >> 32 & (slots_.size() - 1);
  }
  void grow();
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

class GraphTask : public RefCounted {
 public:
  GraphTask(std::span<const Edge> roots, BackwardOptions options, std::span<const Edge> inputs);

  std::vector<Tensor> run(std::span<const Edge> roots, std::span<const Tensor> grads);
  // Runs the node whose turn it is; its gradients go on to the next nodes. An error ends the pass.
  void evaluate(uint32_t number);
  void evaluate_for_worker(uint32_t number);

  bool is_needed(uint32_t number, size_t output) const {
    if (!restricted_) return true;
    const Record& next = records_[targets_[records_[number].first_target + output]];
    return next.needed | next.reached;
  }
  bool reaches(const Node& node) const {
    uint32_t number = index_.find(&node);
    return number != NodeIndex::kNone && (records_[number].needed || records_[number].reached);
  }
  // Gradients of inputs that are leaves are returned before the leaf's node would run.
  TAEDA_API bool returns_leaf(const Node& node) const;
  bool keeps_graph() const { return options_.keep_graph; }
  int64_t id() const { return id_; }
  bool covers_all_leaves = true;  // neither this pass nor one that it runs in is for given inputs only
  void queue_callback(std::function<void()> callback) {
    auto guard = lock();
    callbacks_.push_back(std::move(callback));
  }

 private:
  struct Record {
    Node* node = nullptr;
    uint32_t dependencies = 0;
    uint32_t first_target = 0;  // in targets_, one per next edge
    bool needed = true;         // apply runs
    bool reached = false;       // somebody asked for a gradient that arrives here
    InlineVector<Tensor, 1> grads;
  };
  struct Capture {
    uint32_t number;
    uint32_t input_nr;
    size_t result;
  };
  struct Ready {
    uint64_t sequence_nr;
    uint32_t number;
    bool operator<(const Ready& other) const { return sequence_nr < other.sequence_nr; }
  };
  struct UsedStream {
    Device device;
    void* stream;
  };

  uint32_t visit(Node* node);
  void discover(std::span<const Edge> roots);
  void restrict_to(std::span<const Edge> inputs);
  void mark_needed();
  void deliver(uint32_t number, uint32_t input_nr, Tensor grad, const Node* sender);
  void schedule(uint32_t number);
  void run_hooks_and_apply(Node& node, std::span<Tensor> grads, std::span<Tensor> grad_inputs);
  void capture(uint32_t number, std::span<const Tensor> grads);
  void note_stream(const Node& node);
  std::unique_lock<std::mutex> lock() {
    return shared_ ? std::unique_lock<std::mutex>(mutex_) : std::unique_lock<std::mutex>();
  }
  bool next_ready(uint32_t& number);

  BackwardOptions options_;
  int64_t id_;
  bool restricted_ = false;
  bool shared_ = false;  // some nodes run in threads of their devices
  NodeIndex index_;
  std::vector<Record> records_;
  std::vector<uint32_t> targets_;
  std::vector<Capture> captures_;
  std::vector<Tensor> results_;
  std::vector<Ready> ready_;  // a heap
  std::vector<std::function<void()>> callbacks_;
  std::vector<UsedStream> streams_;

  // Used when shared_ only.
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t in_flight_ = 0;
  std::exception_ptr error_;
  Ref<RefCounted> thread_state_;
};

TAEDA_API GraphTask* current_task();  // the pass that this thread is running, or null

// Hands a node to the thread of its device.
void post_to_device_thread(Device device, Ref<GraphTask> task, uint32_t number);

}  // namespace taeda::autograd
