// What the Python objects need from layers that lie above the core. The extension's start-up fills the table before any
// Python code runs; the defaults serve a core without ops.
#pragma once
#include "python/object.h"

namespace taeda::python {

struct Hooks {
  Tensor (*to_device)(const Tensor&, Device) = nullptr;  // the same tensor when it is there already
  Tensor (*resolve)(const Tensor&) = nullptr;            // conjugate and negative bits carried out
  Tensor (*clone)(const Tensor&) = nullptr;
  Tensor (*detach)(const Tensor&) = nullptr;
  Tensor (*alias)(const Tensor&) = nullptr;  // differentiable
  bool (*requires_grad)(const Tensor&) = nullptr;
  void (*set_requires_grad)(const Tensor&, bool) = nullptr;  // RuntimeError for an integral tensor
  // Visits the Python objects that only this tensor's graph keeps alive.
  int (*autograd_traverse)(TensorImpl*, visitproc, void*) = nullptr;
  // Tensor(...): the legacy constructor, also of subclasses.
  PyObject* (*tensor_new)(PyTypeObject*, PyObject* args, PyObject* kwargs) = nullptr;
};
extern Hooks hooks;

}  // namespace taeda::python
