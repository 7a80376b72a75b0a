// Differentiable functions written in Python: the context that forward and backward share, and its node.
#pragma once
#include <string>
#include <vector>

#include "python/exceptions.h"
#include "taeda/autograd/saved_tensor.h"

namespace taeda::python {

struct FunctionNode;

// An instance of _C._FunctionBase: the `ctx` of a call, and the grad_fn of its results. The node owns it; it knows the
// node for as long as that lives.
struct FunctionContext {
  PyObject_HEAD
  PyObject* dict;
  PyObject* weakrefs;
  PyObject* needs_input_grad;
  PyObject* to_save;
  PyObject* non_differentiable;
  PyObject* dirty_tensors;
  PyObject* saved_for_forward;
  FunctionNode* node;
  bool materialize_grads;
  bool materialize_non_diff_grads;
  bool in_jvp;  // saved_tensors are those for forward mode
};
extern PyTypeObject* function_type;

struct FunctionNode final : autograd::Node {
  FunctionContext* context;  // owned
  std::vector<autograd::SavedTensor> saved;
  std::vector<bool> is_tensor_input;
  std::vector<size_t> without_gradient;  // the results that are tensors and have none
  std::string node_name;
  bool released = false;

  explicit FunctionNode(FunctionContext* ctx);
  ~FunctionNode() override;
  void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override;
  std::string_view name() const override { return node_name; }
  void release_saved() override;
  bool locks_apply() const override { return false; }  // the interpreter's lock serves, and backward may nest
};

// The call itself: _FunctionBase.apply.
PyObject* apply_function(PyObject* cls, PyObject* const* args, Py_ssize_t count);
PyObject* saved_tensors(FunctionContext& context, bool raw);

}  // namespace taeda::python
