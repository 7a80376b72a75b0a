// What autograd keeps with a tensor.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "taeda/autograd/node.h"

namespace taeda::autograd {

class AccumulateGrad;
struct ViewInfo;

// How a view came to be, as far as in-place calls on it cannot be differentiated; PyTorch's words, as C++ programs have
// them as torch::autograd::CreationMeta.
enum class Creation : uint8_t { DEFAULT, IN_CUSTOM_FUNCTION, MULTI_OUTPUT_NODE, NO_GRAD_MODE, INFERENCE_MODE };

// The parts few tensors need.
struct RareMeta {
  std::string name;
  std::shared_ptr<const void> dimension_names;  // what C++ programs name them: at::Dimname
  std::vector<Ref<TensorHook>> hooks;           // of a leaf; other tensors' hooks are with their node
  std::vector<Ref<AccumulateHook>> accumulate_hooks;
  std::vector<Tensor> tangents;  // by level, see forward.h
  Ref<TensorHook> retain_hook;   // this tensor's entry in its node's retain list
  // What the gradient of a leaf is cast to, where it is not the leaf's own dtype; the inner one empty: nothing.
  std::optional<std::optional<DType>> grad_dtype;
};

struct TAEDA_API AutogradMeta final : AutogradMetaBase {
  Tensor grad;
  Ref<Node> grad_fn;                      // null for leaves; of a view possibly out of date, see grad_fn()
  AccumulateGrad* accumulator = nullptr;  // weak, guarded by lock
  std::unique_ptr<ViewInfo> view;         // set for differentiable views
  std::unique_ptr<RareMeta> rare;
  uint32_t output_nr = 0;
  bool requires_grad = false;  // of a leaf
  bool retains_grad = false;
  SpinLock lock;

  AutogradMeta();
  ~AutogradMeta() override;
  RareMeta& make_rare();
  bool has_bw_view() const { return view != nullptr; }
  Creation get_creation_meta() const;  // of a differentiable view
  static void* operator new(size_t bytes) { return pool_allocate(bytes); }
  static void operator delete(void* block, size_t bytes) { pool_free(block, bytes); }
};

inline AutogradMeta* meta_of(const Tensor& t) { return static_cast<AutogradMeta*>(t->autograd_meta()); }
TAEDA_API AutogradMeta& make_meta(const Tensor& t);

// --- questions; all take defined tensors
TAEDA_API bool view_requires_grad(const Tensor& t);  // out of line: asks the base too
inline bool requires_grad(const Tensor& t) { return t->has_grad_flag() || (t->is_view() && view_requires_grad(t)); }
// The node that made t, brought up to date for views whose base was written to. Null for leaves.
TAEDA_API const Ref<Node>& grad_fn(const Tensor& t);
inline bool is_leaf(const Tensor& t) { return !grad_fn(t); }
TAEDA_API uint32_t output_nr(const Tensor& t);
// Where gradients of t go; invalid if it wants none.
TAEDA_API Edge gradient_edge(const Tensor& t);
TAEDA_API Ref<Node> accumulator(const Tensor& leaf);       // made if need be
TAEDA_API Ref<Node> find_accumulator(const Tensor& leaf);  // null if no graph uses the leaf

// --- changes
// RuntimeError for non-leaves that shall lose it and for dtypes that have no gradient.
TAEDA_API void set_requires_grad(const Tensor& t, bool value);
TAEDA_API void set_gradient_edge(const Tensor& t, Edge edge);
// The accumulated gradient; undefined if none. The setter checks type, device, size and dtype.
TAEDA_API Tensor grad(const Tensor& t);
TAEDA_API void set_grad(const Tensor& t, Tensor grad);
// The dtype that the gradient of a leaf is cast to and must have; none: it may have any. RuntimeError for other tensors
// and where the leaf holds a gradient of another dtype.
TAEDA_API std::optional<DType> grad_dtype(const Tensor& leaf);
TAEDA_API void set_grad_dtype(const Tensor& leaf, std::optional<DType> dtype);
// Keeps the gradient of a tensor that is not a leaf in its .grad.
TAEDA_API void retain_grad(const Tensor& t);
TAEDA_API bool retains_grad(const Tensor& t);
// RuntimeError unless t requires grad.
TAEDA_API void add_hook(const Tensor& t, Ref<TensorHook> hook);
TAEDA_API void add_accumulate_hook(const Tensor& leaf, Ref<AccumulateHook> hook);

// A tensor over the same memory, outside the graph, that shares the version counter.
TAEDA_API Tensor detach(const Tensor& t);
// Cuts t out of the graph; RuntimeError for views.
TAEDA_API void detach_in_place(const Tensor& t);
// As detach, with versions of its own: what .data gives.
TAEDA_API Tensor variable_data(const Tensor& t);
// t.data = other.
TAEDA_API void set_data(const Tensor& t, const Tensor& other);

void forget_tangents(AutogradMeta* meta);  // of a tensor that goes, see forward.h

}  // namespace taeda::autograd
