// The backward graph: a node per recorded call, edges from each node to the nodes of its inputs.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "taeda/autograd/hooks.h"
#include "taeda/autograd/inline_vector.h"
#include "taeda/autograd/node_pool.h"
#include "taeda/core/tensor.h"
#include "taeda/dispatch/value.h"

namespace taeda::autograd {

class Node;
class SavedTensor;

// Where a gradient goes: the `input_nr`-th incoming gradient of `function`. Invalid where none is wanted.
struct Edge {
  Ref<Node> function;
  uint32_t input_nr = 0;
  Edge() = default;
  Edge(Ref<Node> to, uint32_t nr) : function(std::move(to)), input_nr(nr) {}
  bool is_valid() const { return static_cast<bool>(function); }
};

// What the gradient of one forward result must look like. Whoever sends a gradient here has it reduced to `sizes`
// and cast to `dtype` (validate_gradient), so that no derivative needs to undo broadcasting or promotion.
struct InputMetadata {
  InlineVector<int64_t, 4> sizes;
  DType dtype = DType::Undefined;  // Undefined: this result has no gradient
  Device device;
  Layout layout = Layout::Strided;
  bool is_irregular = false;  // a tensor whose geometry is virtual or whose calls Python handles: sizes are not checked
  bool keeps_dtype = false;   // gradients of any dtype are taken as they are

  InputMetadata() = default;
  explicit InputMetadata(const Tensor& result);
  IntList shape() const { return {sizes.data(), sizes.size()}; }
  bool is_defined() const { return dtype != DType::Undefined; }
  bool matches(const Tensor& gradient) const;
  Tensor zeros() const;
};

// Told every value that a node saved, under the name that its declaration gave it.
struct SavedVisitor {
  virtual ~SavedVisitor() = default;
  virtual void tensor(const char* name, const SavedTensor& saved) = 0;
  virtual void tensors(const char* name, std::span<const SavedTensor> saved) = 0;
  virtual void value(const char* name, const Value& value) = 0;
};

class TAEDA_API Node : public RefCounted {
 public:
  Node();
  explicit Node(uint64_t sequence_nr);
  ~Node() override;

  // grads[i] is the gradient of the i-th result, undefined if nothing flowed there; it may be moved from. Writes the
  // gradient of each input to grad_inputs[i], which starts undefined and stays so for zero. Only the entries for
  // which needed(i) holds are read.
  virtual void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) = 0;
  virtual std::string_view name() const = 0;
  // Lets go of what was saved; a later apply that needs it raises.
  virtual void release_saved() {}
  virtual void visit_saved(SavedVisitor&) {}
  // Hooks on the tensor this node made (at an output_nr), run before any other; leaves keep theirs with the tensor.
  virtual void run_tensor_hooks(std::span<Tensor> grads);
  // Serialises apply and release_saved between threads that share the graph. A node that may start a backward over
  // its own graph answers false and locks for itself.
  virtual bool locks_apply() const { return true; }

  uint64_t sequence_nr() const { return sequence_nr_; }
  size_t num_inputs() const { return metadata_.size(); }     // gradients that come in: results of the forward call
  size_t num_outputs() const { return next_edges_.size(); }  // gradients that go out: tensor arguments
  std::span<const Edge> next_edges() const { return next_edges_; }
  const Edge& next_edge(size_t i) const { return next_edges_[i]; }
  void add_next_edge(Edge edge);
  void set_next_edge(size_t i, Edge edge);
  std::span<const InputMetadata> metadata() const { return metadata_; }
  const InputMetadata& metadata(size_t i) const { return metadata_[i]; }
  // Announces one more result of the forward call; gives its output_nr.
  uint32_t add_metadata(const Tensor& result);
  uint32_t add_undefined_metadata();
  void set_metadata(size_t i, const Tensor& result);
  // The dtype that gradients for result i are cast to; none: they keep their own.
  void set_gradient_dtype(size_t i, std::optional<DType> dtype);
  Device device() const { return metadata_.empty() ? Device() : metadata_[0].device; }
  void* stream() const;

  // Whether input i (counted over all tensor arguments, lists expanded) wants a gradient: while recording.
  bool should_compute(size_t i) const { return next_edges_[i].is_valid(); }
  bool should_compute(size_t begin, size_t count) const;
  // As should_compute, and the running backward pass leads to somebody who asked for it: inside apply.
  bool needed(size_t i) const;
  bool needed(size_t begin, size_t count) const;

  // --- hooks, in the order in which a backward pass runs them
  struct Hooks {
    std::vector<std::pair<uint32_t, Ref<TensorHook>>> tensor;  // by output_nr
    std::vector<std::pair<uint32_t, Ref<TensorHook>>> retain;  // retain_grad: after the tensor hooks
    std::vector<Ref<PreHook>> pre;
    std::vector<Ref<PostHook>> post;
  };
  Hooks* hooks() const { return extras_ ? hooks_of_extras() : nullptr; }
  Hooks& make_hooks();

  // --- for the layers above
  // Borrowed: the Python object that stands for this node, which clears it when it dies. Guarded by the GIL.
  void* python_object() const;
  void set_python_object(void* object);
  const Ref<RefCounted>& anomaly_record() const;
  void set_anomaly_record(Ref<RefCounted> record);
  // What the host language keeps with the node for as long as it lives.
  Ref<RefCounted> attachment() const;
  void set_attachment(Ref<RefCounted> attachment);
  SpinLock& lock() { return lock_; }
  // The node that runs this one inside itself (an in-place call on a view); null for the rest.
  Node* outer() const;
  void set_outer(Node* outer);

  static void* operator new(size_t bytes) { return pool_allocate(bytes); }
  static void operator delete(void* block, size_t bytes) { pool_free(block, bytes); }

 protected:
  // Without recursion, however long the chain of nodes that dies with this one.
  void on_last_release() noexcept override;

 private:
  struct Extras;  // what few nodes need, in node.cpp
  Extras& extras();
  Hooks* hooks_of_extras() const;

  SpinLock lock_;
  union {
    uint64_t sequence_nr_;  // rises with each call of a thread; backward runs higher ones first
    Node* next_dying_;
  };
  InlineVector<Edge, 2> next_edges_;
  InlineVector<InputMetadata, 1> metadata_;
  std::unique_ptr<Extras> extras_;
};

// The number that the next node recorded in this thread gets; -1 while nothing is recorded.
TAEDA_API int64_t next_sequence_nr();

template <class T, class... Args>
Ref<T> make_node(Args&&... args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

// Brings a gradient into the form that edge.function expects: reduces it to the size, casts it, takes the real part.
// `sender` is named in the RuntimeError for a gradient whose shape cannot be reduced.
TAEDA_API void validate_gradient(const Edge& edge, Tensor& gradient, std::string_view sender);

}  // namespace taeda::autograd
