// Differentiable views: tensors over another's memory whose in-place changes belong to the other's history.
#pragma once
#include <memory>

#include "taeda/autograd/meta.h"

namespace taeda::autograd {

// Makes a view again over another base (after the base's history changed, or for a gradient).
struct Replay : RefCounted {
  virtual Tensor run(const Tensor& base) const = 0;
};
template <class F>
Ref<Replay> make_replay(F function) {
  struct Callable final : Replay {
    F call;
    explicit Callable(F f) : call(std::move(f)) {}
    Tensor run(const Tensor& base) const override { return call(base); }
  };
  return make_ref<Callable>(std::move(function));
}

struct ViewInfo {
  Tensor base;           // never itself a view
  Ref<Replay> replay;    // null: as_strided with the view's own geometry
  uint32_t version = 0;  // of the shared counter when grad_fn was last right
  Creation creation = Creation::DEFAULT;
  static void* operator new(size_t bytes) { return pool_allocate(bytes); }
  static void operator delete(void* block, size_t bytes) { pool_free(block, bytes); }
};

// Whether as_strided cannot repeat the view: another dtype or layout, lazy conjugation, a tensor that is not plain.
TAEDA_API bool needs_replay(const Tensor& base, const Tensor& view);
TAEDA_API void mark_view(const Tensor& base, const Tensor& view, Ref<Replay> replay, Creation creation);
// The tag that a view made now by an op with one result (or several) carries.
inline Creation creation_now(bool multiple_outputs = false) {
  if (t_state.inference_mode) return Creation::INFERENCE_MODE;
  if (!t_state.grad_mode) return Creation::NO_GRAD_MODE;
  return multiple_outputs ? Creation::MULTI_OUTPUT_NODE : Creation::DEFAULT;
}

// The base of a differentiable view; undefined for other tensors.
TAEDA_API Tensor base_of(const Tensor& t);
// RuntimeError if an in-place call on this view cannot be recorded. `indirect`: the base or a sibling was written to.
TAEDA_API void check_view_writable(const Tensor& view, bool indirect);
// Makes `node` the history of the part of the base that `view` shows.
TAEDA_API void rebase_view(const Tensor& view, Ref<Node> node);
// The written view as the node of an in-place call saved it: `data`, with the history that rebase_view gave it.
Tensor result_of_copy(const Tensor& data, Node& copy);
// The view replayed over a tensor shaped as the base.
TAEDA_API Tensor replay_view(const Tensor& view, const Tensor& base);

}  // namespace taeda::autograd
