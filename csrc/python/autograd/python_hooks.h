// Python callables as hooks: each C++ hook stands for a dict that handles remove entries from.
#pragma once
#include "python/exceptions.h"
#include "taeda/autograd/hooks.h"
#include "taeda/autograd/node.h"

namespace taeda::python {

// What the four kinds share: an OrderedDict of callables.
class HookDict {
 public:
  explicit HookDict(PyObject* dict) : dict_(Py_NewRef(dict)) {}
  ~HookDict();
  HookDict(const HookDict&) = delete;
  PyObject* dict() const { return dict_; }
  void set_dict(PyObject* dict) { Py_SETREF(dict_, Py_NewRef(dict)); }
  // The callables of now, safe against changes while they run.
  std::vector<Owned> callables() const;

 private:
  PyObject* dict_;
};

struct PythonTensorHook final : autograd::TensorHook, HookDict {
  using HookDict::HookDict;
  Tensor run(const Tensor& grad) override;
};
struct PythonPreHook final : autograd::PreHook, HookDict {
  using HookDict::HookDict;
  void run(std::span<Tensor> grads) override;
};
struct PythonPostHook final : autograd::PostHook, HookDict {
  using HookDict::HookDict;
  void run(std::span<Tensor> grad_inputs, std::span<const Tensor> grads) override;
};
struct PythonAccumulateHook final : autograd::AccumulateHook, HookDict {
  using HookDict::HookDict;
  void run(const Tensor& leaf) override;
};

// Puts `callable` into the dict; a new RemovableHandle.
PyObject* add_to_hooks(PyObject* dict, PyObject* callable);
PyObject* new_hook_dict();

// The dict of a tensor's hooks, as its node or meta holds it; null if none.
PyObject* find_tensor_hooks(const Tensor& t);
PyObject* find_accumulate_hooks(const Tensor& t);  // None if none
// From now on the hooks are those in `dict`.
void set_tensor_hooks(PyObject* self, PyObject* dict);
// register_hook, register_post_accumulate_grad_hook.
PyObject* register_tensor_hook(PyObject* self, PyObject* callable);
PyObject* register_accumulate_hook(PyObject* self, PyObject* callable);
PyObject* register_pre_hook(autograd::Node& node, PyObject* callable);
PyObject* register_post_hook(autograd::Node& node, PyObject* callable);

PyObject* wrap_gradients(std::span<const Tensor> grads);  // a tuple; None where undefined

int traverse_hooks(const autograd::Node::Hooks& hooks, visitproc visit, void* arg);
// TensorBase's: what the tensor's graph alone keeps alive.
int traverse_autograd(TensorImpl* impl, visitproc visit, void* arg);

}  // namespace taeda::python
