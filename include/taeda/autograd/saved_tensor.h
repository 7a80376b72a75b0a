// A tensor kept for the backward pass.
#pragma once
#include <vector>

#include "taeda/autograd/node.h"

namespace taeda::autograd {

// Pack and unpack hooks, in force for tensors saved while the pair is on top of the thread's stack.
struct SavedTensorHooks : RefCounted {
  virtual Ref<RefCounted> pack(const Tensor& tensor) = 0;
  virtual Tensor unpack(const Ref<RefCounted>& packed) = 0;
};

// Remembers the version at which the tensor was saved, and raises if it was written to before it is used. A node's
// own result is saved without the reference from result to node, which would keep both alive for good.
class TAEDA_API SavedTensor {
 public:
  void save(const Tensor& tensor, bool is_output = false);  // once; an undefined tensor unpacks as undefined

  // `owner` is the node that saved it. RuntimeError when written to since, or when released. A saved result gets its
  // history back only `with_history`, as nothing reads it otherwise.
  Tensor unpack(Node* owner, bool with_history = t_state.grad_mode) const;
  void reset();

  // Packs this one tensor now; RuntimeError if it is packed or released.
  void register_hooks(Ref<SavedTensorHooks> hooks);

 private:
  void pack(Ref<SavedTensorHooks> hooks);
  Tensor unpack_packed(Node* owner) const;
  void check_version(const Node* owner) const;

  Tensor tensor_;
  Ref<RefCounted> packed_;  // what the hooks made of it
  uint32_t version_ = 0;
  uint32_t output_nr_ = 0;
  bool is_output_ = false;
  bool released_ = false;
};

TAEDA_API void save_list(std::vector<SavedTensor>& saved, TensorList tensors, bool is_output = false);
TAEDA_API std::vector<Tensor> unpack_list(std::span<const SavedTensor> saved, Node* owner);
inline void reset_list(std::span<SavedTensor> saved) {
  for (SavedTensor& s : saved) s.reset();
}

// The thread's stack of hooks. While disabled, pushing raises RuntimeError with the given message.
TAEDA_API void push_saved_tensor_hooks(Ref<SavedTensorHooks> hooks);
TAEDA_API void pop_saved_tensor_hooks();
TAEDA_API const std::string* saved_tensor_hooks_disabled();
TAEDA_API void disable_saved_tensor_hooks(std::string message);
TAEDA_API void enable_saved_tensor_hooks();
// Neither runs nor keeps hooks for the scope: a hook's own calls must not be packed.
class TAEDA_API WithoutSavedTensorHooks {
 public:
  WithoutSavedTensorHooks();
  ~WithoutSavedTensorHooks();

 private:
  std::vector<Ref<SavedTensorHooks>> saved_;
};

}  // namespace taeda::autograd
