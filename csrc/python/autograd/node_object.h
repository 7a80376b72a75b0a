// Graph nodes seen from Python: t.grad_fn and fn.next_functions.
#pragma once
#include "python/exceptions.h"
#include "python/types.h"
#include "taeda/autograd/node.h"

namespace taeda::python {

extern PyTypeObject* node_type;  // the base of all built-in nodes' types
extern PyMethodDef node_methods[];
extern PyGetSetDef node_getset[];

// A new reference: the object this node has already, the context of a Python Function, or a new object of a type that
// bears the node's name; None for no node.
PyObject* wrap_node(const Ref<autograd::Node>& node);
// TypeError if it is none, RuntimeError for a Function's context whose node is gone.
Ref<autograd::Node> to_node(PyObject* object);
PyObject* wrap_saved(autograd::Node& node, const autograd::SavedTensor& saved);  // which lives in the node
PyObject* wrap_edge(const autograd::Edge& edge);                                 // (node, input_nr)

// Visits what the node, if nobody else has it, keeps alive.
int traverse_node(const Ref<autograd::Node>& node, visitproc visit, void* arg);

}  // namespace taeda::python
