// The way from Python into the backward engine.
#include "taeda/autograd/engine.h"
#include "autograd/arithmetic.h"
#include "autograd/graph_task.h"
#include "python/autograd/function.h"
#include "python/autograd/init.h"
#include "python/autograd/node_object.h"
#include "python/autograd/python_hooks.h"
#include "taeda/autograd/meta.h"

namespace taeda::python {
namespace {

Owned as_sequence(PyObject* object, const char* name) {
  TAEDA_CHECK_TYPE(PyTuple_Check(object) || PyList_Check(object), name, " must be a tuple or a list; got ",
                   Py_TYPE(object)->tp_name);
  return Owned(check(PySequence_Tuple(object)));
}

// The edge of a tensor, or of a GradientEdge (node, output number).
autograd::Edge to_edge(PyObject* object) {
  if (is_tensor(object)) return autograd::gradient_edge(unwrap(object));
  TAEDA_CHECK_TYPE(PyTuple_Check(object) && PyTuple_GET_SIZE(object) >= 2, "takes tensors and GradientEdges; got ",
                   Py_TYPE(object)->tp_name);
  int64_t nr = to_int(PyTuple_GET_ITEM(object, 1), "output_nr");
  return autograd::Edge(to_node(PyTuple_GET_ITEM(object, 0)), static_cast<uint32_t>(nr));
}

struct Pass {
  std::vector<autograd::Edge> roots, inputs;
  std::vector<Tensor> grads;

  void read_roots(PyObject* tensors, PyObject* grad_tensors) {
    Owned outputs = as_sequence(tensors, "tensors"), gradients = as_sequence(grad_tensors, "grad_tensors");
    Py_ssize_t count = PyTuple_GET_SIZE(outputs.get());
    TAEDA_CHECK(PyTuple_GET_SIZE(gradients.get()) == count, "got ", count, " tensors and ",
                PyTuple_GET_SIZE(gradients.get()), " gradients");
    for (Py_ssize_t i = 0; i < count; ++i) {
      autograd::Edge edge = to_edge(PyTuple_GET_ITEM(outputs.get(), i));
      TAEDA_CHECK(edge.is_valid(), "element ", i,
                  " of the tensors does not require grad and was not computed from one that does");
      PyObject* grad = PyTuple_GET_ITEM(gradients.get(), i);
      TAEDA_CHECK_TYPE(is_tensor(grad) || grad == Py_None, "gradients must be tensors; got ", Py_TYPE(grad)->tp_name);
      PyObject* output = PyTuple_GET_ITEM(outputs.get(), i);
      TAEDA_CHECK(grad != Py_None || is_tensor(output), "no gradient was given for element ", i, ", a GradientEdge");
      grads.push_back(grad == Py_None ? autograd::arithmetic::ones_like(unwrap(output)) : unwrap(grad));
      autograd::validate_gradient(edge, grads.back(), "the caller");
      roots.push_back(std::move(edge));
    }
  }

  void read_inputs(PyObject* object, bool accumulate) {
    Owned given = as_sequence(object, "inputs");
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given.get()); ++i) {
      PyObject* input = PyTuple_GET_ITEM(given.get(), i);
      if (is_tensor(input)) {
        const Tensor& t = unwrap(input);
        TAEDA_CHECK(autograd::requires_grad(t), "input ", i, " does not require grad");
        if (accumulate) autograd::retain_grad(t);
      }
      inputs.push_back(to_edge(input));
    }
  }
};

PyObject* run_backward(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("autograd.backward", [&] {
    constexpr const char* kNames[] = {"tensors", "grad_tensors",      "keep_graph",     "create_graph",
                                      "inputs",  "allow_unreachable", "accumulate_grad"};
    PyObject* given[7];
    read_arguments(kNames, 4, args, count, names, given);
    bool has_inputs = given[4] && PyObject_Length(given[4]) > 0;
    bool allow_unreachable = to_flag(given[5], false), accumulate = to_flag(given[6], !has_inputs);
    autograd::BackwardOptions options{
        .keep_graph = to_flag(given[2], false), .create_graph = to_flag(given[3], false), .accumulate = accumulate};
    Pass pass;
    pass.read_roots(given[0], given[1]);
    if (has_inputs) pass.read_inputs(given[4], accumulate);
    std::vector<Tensor> results;
    {
      NoGil unlocked;
      results = autograd::run_backward(pass.roots, pass.grads, options, pass.inputs);
    }
    if (!allow_unreachable)
      for (size_t i = 0; i < results.size(); ++i)
        TAEDA_CHECK(results[i].defined(), "input ", i,
                    " was not used to compute the outputs: pass allow_unused=True to "
                    "get None for it");
    return wrap_gradients(results);
  });
}

PyObject* leads_elsewhere(PyObject*, PyObject* args) {
  PyObject *outputs, *inputs;
  if (!PyArg_ParseTuple(args, "OO", &outputs, &inputs)) return nullptr;
  return guarded("_leads_elsewhere", [&] {
    std::vector<Tensor> leaves;
    std::vector<autograd::Edge> roots;
    Owned ends = as_sequence(inputs, "leaves"), starts = as_sequence(outputs, "outputs");
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(ends.get()); ++i)
      leaves.push_back(unwrap(PyTuple_GET_ITEM(ends.get(), i)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(starts.get()); ++i)
      roots.push_back(to_edge(PyTuple_GET_ITEM(starts.get(), i)));
    return PyBool_FromLong(autograd::leads_elsewhere(roots, leaves));
  });
}

PyObject* queue_callback(PyObject*, PyObject* callable) {
  return guarded("queue_callback", [&] {
    TAEDA_CHECK_TYPE(PyCallable_Check(callable), "takes a callable; got ", Py_TYPE(callable)->tp_name);
    autograd::queue_callback([held = make_ref<HeldObject>(callable)] {
      WithGil locked;
      call_python([&] { return PyObject_CallNoArgs(held->object); });
    });
    return Py_NewRef(Py_None);
  });
}

PyObject* gradient_edge(PyObject*, PyObject* object) {
  return guarded("get_gradient_edge", [&] {
    TAEDA_CHECK_TYPE(is_tensor(object), "takes a tensor; got ", Py_TYPE(object)->tp_name);
    TAEDA_CHECK(autograd::requires_grad(unwrap(object)),
                "the tensor does not require grad, so no gradient flows to it");
    return wrap_edge(autograd::gradient_edge(unwrap(object)));
  });
}

PyObject* current_node(PyObject*, PyObject*) {
  return guarded("_current_autograd_node", [] { return wrap_node(autograd::current_node()); });
}
PyObject* is_checkpoint_valid(PyObject*, PyObject*) { return PyBool_FromLong(autograd::covers_all_leaves()); }
PyObject* keeps_graph(PyObject*, PyObject*) {
  autograd::GraphTask* task = autograd::current_task();
  return PyBool_FromLong(!task || task->keeps_graph());
}
PyObject* current_task(PyObject*, PyObject*) { return PyLong_FromLongLong(autograd::current_task_id()); }

// Tells a tensor's node apart without keeping it alive: its address, and its number since addresses are used again.
PyObject* node_token(PyObject*, PyObject* object) {
  return guarded("_node_token", [&] {
    TAEDA_CHECK_TYPE(is_tensor(object), "takes a tensor; got ", Py_TYPE(object)->tp_name);
    const Ref<autograd::Node>& node = autograd::grad_fn(unwrap(object));
    TAEDA_CHECK(node, "the tensor is a leaf");
    return check(Py_BuildValue("(KK)", reinterpret_cast<unsigned long long>(node.get()),
                               static_cast<unsigned long long>(node->sequence_nr())));
  });
}
PyObject* is_token_reached_now(PyObject*, PyObject* token) {
  unsigned long long address, sequence_nr;
  if (!PyArg_ParseTuple(token, "KK", &address, &sequence_nr)) return nullptr;
  auto* node = reinterpret_cast<const autograd::Node*>(address);  // looked at only if the pass holds it
  return PyBool_FromLong(autograd::will_run(*node) && node->sequence_nr() == sequence_nr);
}

// Whether the running pass brings a gradient to the tensor.
PyObject* is_reached_now(PyObject*, PyObject* object) {
  return guarded("_is_reached_now", [&] {
    TAEDA_CHECK_TYPE(is_tensor(object), "takes a tensor; got ", Py_TYPE(object)->tp_name);
    Ref<autograd::Node> node = autograd::grad_fn(unwrap(object));
    if (!node) node = autograd::find_accumulator(unwrap(object));
    return PyBool_FromLong(node && autograd::will_run(*node));
  });
}

// The node itself, for those who hold it.
PyObject* will_execute(PyObject*, PyObject* object) {
  return guarded("_will_engine_execute_node", [&] {
    bool is_node = PyObject_TypeCheck(object, node_type) || PyObject_TypeCheck(object, function_type);
    TAEDA_CHECK(is_node, "takes a node of the graph; got ", Py_TYPE(object)->tp_name);
    autograd::GraphTask* task = autograd::current_task();
    TAEDA_CHECK(task, "is for hooks: no backward pass is running");
    Ref<autograd::Node> node = to_node(object);
    TAEDA_CHECK(!task->returns_leaf(*node), "autograd.grad returns the gradient of this leaf: its node does not run");
    return PyBool_FromLong(autograd::will_run(*node));
  });
}

PyMethodDef functions[] = {
    {"run_backward", as_method(&run_backward), METH_FASTCALL | METH_KEYWORDS,
     "run_backward(tensors, grad_tensors, keep_graph, create_graph, inputs=(), allow_unreachable=False, "
     "accumulate_grad=None)\n--\n\nrun_backward(tensors, grad_tensors, keep_graph, create_graph, inputs=(), "
     "allow_unreachable=False, "
     "accumulate_grad=...)\n\nOne backward pass. Without inputs, or with accumulate_grad, gradients go to .grad; "
     "otherwise those of the inputs are returned."},
    {"_leads_elsewhere", leads_elsewhere, METH_VARARGS,
     "_leads_elsewhere(outputs, leaves)\n\nWhether the outputs depend on other leaves, too."},
    {"queue_callback", queue_callback, METH_O,
     "queue_callback(callback)\n--\n\nCalls the function once after the running backward pass."},
    {"get_gradient_edge", gradient_edge, METH_O,
     "get_gradient_edge(tensor)\n--\n\nWhere the gradients of a tensor go: (node, input number)."},
    {"_current_autograd_node", current_node, METH_NOARGS, "The node that runs now, or None."},
    {"_is_checkpoint_valid", is_checkpoint_valid, METH_NOARGS,
     "False within a backward pass for given inputs only, whose nodes must not start one for all leaves."},
    {"_is_reached_now", is_reached_now, METH_O, nullptr},
    {"_node_token", node_token, METH_O, nullptr},
    {"_is_token_reached_now", is_token_reached_now, METH_O, nullptr},
    {"_will_engine_execute_node", will_execute, METH_O, "Whether the running backward pass runs the node."},
    {"_get_current_graph_task_keep_graph", keeps_graph, METH_NOARGS,
     "Whether the running backward pass keeps what the graph saved; True outside of one."},
    {"_current_graph_task_id", current_task, METH_NOARGS, "The number of the running backward pass, or -1."},
    {},
};

}  // namespace

int init_engine(PyObject* module) { return PyModule_AddFunctions(module, functions); }

}  // namespace taeda::python
