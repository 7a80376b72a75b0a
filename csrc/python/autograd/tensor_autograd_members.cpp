// What a tensor says about its place in the graph.
#include "autograd/accumulate.h"
#include "autograd/arithmetic.h"
#include "python/autograd/init.h"
#include "python/autograd/node_object.h"
#include "python/autograd/python_hooks.h"
#include "python/member.h"
#include "python/symbols.h"
#include "taeda/autograd/engine.h"
#include "taeda/autograd/meta.h"
#include "taeda/autograd/view.h"
#include "taeda/core/warn.h"

namespace taeda::python {
namespace {

PyObject* to_python(bool value) { return Py_NewRef(value ? Py_True : Py_False); }

PyObject* get_grad(const Tensor& t) { return t->autograd_meta() ? wrap(autograd::grad(t)) : Py_NewRef(Py_None); }
PyObject* get_public_grad(const Tensor& t) {
  PyObject* grad = get_grad(t);
  if (grad == Py_None && !autograd::is_leaf(t) && !autograd::retains_grad(t))
    warn(
        "backward() gives .grad to leaves only, and this tensor is the result of a call; to have its gradient, call "
        "retain_grad() on it before");
  return grad;
}
PyObject* get_grad_dtype(const Tensor& t) {
  std::optional<DType> dtype = autograd::grad_dtype(t);
  return dtype ? wrap(*dtype) : Py_NewRef(Py_None);
}
PyObject* get_requires_grad(const Tensor& t) { return to_python(autograd::requires_grad(t)); }
PyObject* get_is_leaf(const Tensor& t) { return to_python(autograd::is_leaf(t)); }
PyObject* get_grad_fn(const Tensor& t) { return wrap_node(autograd::grad_fn(t)); }
PyObject* get_output_nr(const Tensor& t) { return PyLong_FromLong(autograd::output_nr(t)); }
PyObject* get_retains_grad(const Tensor& t) { return to_python(autograd::retains_grad(t)); }
PyObject* get_base(const Tensor& t) { return wrap(autograd::base_of(t)); }
PyObject* get_data(const Tensor& t) {
  return wrap(t.keys().has(Functionality::Python) ? hooks.detach(t) : autograd::variable_data(t));
}
PyObject* get_version(const Tensor& t) {
  TAEDA_CHECK(!t->is_inference(), "tensors made in inference mode do not count versions");
  return PyLong_FromUnsignedLong(t->version());
}
PyObject* get_name(const Tensor& t) {
  autograd::AutogradMeta* meta = autograd::meta_of(t);
  return meta && meta->rare && !meta->rare->name.empty() ? PyUnicode_FromString(meta->rare->name.c_str())
                                                         : Py_NewRef(Py_None);
}
// A tensor without gradients keeps a table that it was given, and calls nothing in it.
PyObject* get_hooks(PyObject* self, void*) {
  bool calls = autograd::requires_grad(unwrap(self));
  PyObject* dict = calls ? find_tensor_hooks(unwrap(self)) : reinterpret_cast<TensorObject*>(self)->backward_hooks;
  return Py_NewRef(dict ? dict : Py_None);
}
PyObject* get_accumulate_hooks(const Tensor& t) { return Py_NewRef(find_accumulate_hooks(t)); }

template <class Body>
int guarded_set(const char* name, Body&& body) {
  PyObject* done = guarded(name, [&] {
    body();
    return Py_None;
  });
  return done ? 0 : -1;
}

int set_grad_dtype(PyObject* self, PyObject* value, void*) {
  return guarded_set("Tensor.grad_dtype", [&] {
    TAEDA_CHECK(value && (value == Py_None || is_dtype(value)), "must be a dtype or None; got ",
                value ? Py_TYPE(value)->tp_name : "nothing");
    autograd::set_grad_dtype(unwrap(self), value == Py_None ? std::nullopt : std::optional(to_dtype(value)));
  });
}
int set_grad(PyObject* self, PyObject* value, void*) {
  return guarded_set("Tensor.grad", [&] {
    TAEDA_CHECK_TYPE(!value || value == Py_None || is_tensor(value), "a gradient must be a tensor or None; got ",
                     Py_TYPE(value)->tp_name);
    autograd::set_grad(unwrap(self), value && value != Py_None ? unwrap(value) : Tensor());
  });
}

int set_requires_grad(PyObject* self, PyObject* value, void*) {
  return guarded_set("Tensor.requires_grad", [&] {
    TAEDA_CHECK(value && PyBool_Check(value), "requires_grad must be True or False");
    TAEDA_CHECK(autograd::is_leaf(unwrap(self)),
                "requires_grad can be set on leaf tensors only; this one was computed by ",
                autograd::grad_fn(unwrap(self))->name(), ": use detach() for a tensor outside the graph");
    autograd::set_requires_grad(unwrap(self), value == Py_True);
  });
}

int set_data(PyObject* self, PyObject* value, void*) {
  return guarded_set("Tensor.data", [&] {
    TAEDA_CHECK(value, "data cannot be deleted");
    TAEDA_CHECK_TYPE(is_tensor(value), "data must be a tensor; got ", Py_TYPE(value)->tp_name);
    refuse_in_transforms("data is set", "write to the tensor with copy_()");
    autograd::set_data(unwrap(self), unwrap(value));
  });
}

int set_grad_fn(PyObject* self, PyObject* value, void*) {
  return guarded_set("Tensor._grad_fn", [&] {
    TAEDA_CHECK(value, "cannot be deleted");
    TAEDA_CHECK_TYPE(value == Py_None, "can be set to None only; got ", Py_TYPE(value)->tp_name);
    autograd::detach_in_place(unwrap(self));
  });
}

// Takes the whole table: copying and unpickling a tensor carry its hooks over.
int set_hooks(PyObject* self, PyObject* value, void*) {
  return guarded_set("Tensor._backward_hooks", [&] {
    TAEDA_CHECK(value, "cannot be deleted");
    if (!autograd::requires_grad(unwrap(self))) {
      Py_XSETREF(reinterpret_cast<TensorObject*>(self)->backward_hooks, value == Py_None ? nullptr : Py_NewRef(value));
      return;
    }
    TAEDA_CHECK_TYPE(value == Py_None || PyDict_Check(value), "takes a dict or None; got ", Py_TYPE(value)->tp_name);
    Owned none(value == Py_None ? new_hook_dict() : nullptr);
    set_tensor_hooks(self, none ? none.get() : value);
  });
}

PyObject* is_view(PyObject* self) { return to_python(autograd::base_of(unwrap(self)).defined()); }
PyObject* is_inference(PyObject* self) { return to_python(unwrap(self)->is_inference()); }
PyObject* retain_grad(PyObject* self) {
  refuse_in_transforms("it is called", "return the tensor as auxiliary output, or differentiate by it with func.vjp");
  autograd::retain_grad(unwrap(self));
  return Py_NewRef(Py_None);
}
PyObject* detach_in_place(PyObject* self) {
  if (size_recorders > 0) [[unlikely]]
    tell_detached(self);
  autograd::detach_in_place(unwrap(self));
  return Py_NewRef(self);
}

PyObject* requires_grad_in_place(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  constexpr const char* kNames[] = {"requires_grad"};
  PyObject* value;
  read_arguments(kNames, 0, args, count, names, &value);
  refuse_in_transforms("it is called", "the transform says what is differentiated; func.grad and its kin nest");
  autograd::set_requires_grad(unwrap(self), to_flag(value, true));
  return Py_NewRef(self);
}

PyObject* hook_argument(PyObject* const* args, Py_ssize_t count, PyObject* names) {
  constexpr const char* kNames[] = {"hook"};
  PyObject* hook;
  read_arguments(kNames, 1, args, count, names, &hook);
  return hook;
}
PyObject* register_hook(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return register_tensor_hook(self, hook_argument(args, count, names));
}
PyObject* register_post_accumulate_grad_hook(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return register_accumulate_hook(self, hook_argument(args, count, names));
}

// loss.backward() as most programs call it.
bool backward_quickly(const Tensor& t, bool keep_graph, bool create_graph) {
  if (t.numel() != 1 || !is_floating(t.dtype()) || !autograd::requires_grad(t)) return false;
  autograd::Edge root = autograd::gradient_edge(t);
  if (!root.is_valid()) return false;
  NoGil unlocked;
  Tensor one = autograd::arithmetic::ones_like(t);
  autograd::run_backward({&root, 1}, {&one, 1}, {.keep_graph = keep_graph, .create_graph = create_graph});
  return true;
}

PyObject* backward(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  constexpr const char* kNames[] = {"gradient", "retain_graph", "create_graph", "inputs"};
  PyObject* given[4];
  read_arguments(kNames, 0, args, count, names, given);
  auto is_absent = [](PyObject* object) { return !object || object == Py_None; };
  bool create_graph = to_flag(given[2], false), keep_graph = to_flag(given[1], create_graph);
  if (is_absent(given[0]) && is_absent(given[3]) && !create_graph && backward_quickly(unwrap(self), keep_graph, false))
    return Py_NewRef(Py_None);
  for (PyObject*& object : given)
    if (!object) object = Py_None;
  Owned module(check(PyImport_ImportModule("taeda.autograd")));
  Owned function(check(PyObject_GetAttrString(module.get(), "backward")));
  PyObject* all[] = {self, given[0], given[1], create_graph ? Py_True : Py_False, given[3]};
  static PyObject* keywords = PyTuple_Pack(1, Owned(PyUnicode_FromString("inputs")).get());
  return check(PyObject_Vectorcall(function.get(), all, 4, keywords));
}

template <PyObject* (*body)(const Tensor&), Text name>
constexpr PyGetSetDef property(setter set, const char* doc) {
  return {name.chars, getter<body, name>, set, doc, nullptr};
}

}  // namespace

PyMethodDef autograd_methods[] = {
    method<is_view, "_is_view">(
        "_is_view($self)\n--\n\nWhether writes to this tensor count as writes to another, of which it shows a part."),
    method<is_inference, "is_inference">("is_inference($self)\n--\n\nWhether the tensor was made in inference mode."),
    method<retain_grad, "retain_grad">(
        "retain_grad($self)\n--\n\nKeeps the gradient of a tensor that is not a leaf in .grad."),
    method<detach_in_place, "detach_">(
        "detach_($self)\n--\n\nCuts this tensor out of the graph. RuntimeError for views."),
    method<requires_grad_in_place, "requires_grad_">(
        "requires_grad_($self, requires_grad=True)\n--\n\nSets requires_grad and returns the tensor."),
    method<register_hook, "register_hook">("register_hook($self, hook)\n--\n\nCalls hook(grad) with each gradient of "
                                           "this tensor; a tensor that it returns replaces it. Returns a handle."),
    method<register_post_accumulate_grad_hook, "register_post_accumulate_grad_hook">(
        "register_post_accumulate_grad_hook($self, hook)\n--\n\nCalls hook(tensor) each time after .grad of this leaf "
        "was accumulated. Returns a handle."),
    method<backward, "backward">(
        "backward($self, gradient=None, retain_graph=None, create_graph=False, inputs=None)\n--\n\nComputes the "
        "gradients of this "
        "tensor and adds them to the leaves' .grad. `gradient` has the tensor's shape; it may be left out for one "
        "element. See taeda.autograd.backward."),
    {},
};

PyGetSetDef autograd_getset[] = {
    property<get_public_grad, "grad">(set_grad,
                                      "The accumulated gradient: None until a backward pass reaches the tensor."),
    property<get_grad_dtype, "grad_dtype">(
        set_grad_dtype,
        "What the gradient of a leaf is cast to, its own dtype unless set; None: any is taken as it is."),
    property<get_grad, "_grad">(set_grad, nullptr),
    property<get_requires_grad, "requires_grad">(set_requires_grad, "Whether calls on this tensor are recorded."),
    property<get_is_leaf, "is_leaf">(nullptr, "Whether no recorded call made this tensor."),
    property<get_grad_fn, "grad_fn">(nullptr, "The graph node of the call that made this tensor; None for leaves."),
    property<get_grad_fn, "_grad_fn">(set_grad_fn, nullptr),
    property<get_output_nr, "output_nr">(nullptr, "Which result of grad_fn's call this is."),
    property<get_version, "_version">(nullptr, "How often the memory was written to in place."),
    property<get_retains_grad, "retains_grad">(nullptr,
                                               "Whether retain_grad() was called on a tensor that is not a leaf."),
    property<get_base, "_base">(nullptr, "The tensor of which this is a view, or None."),
    property<get_data, "data">(set_data,
                               "The same memory outside the graph. Writes to it are not noticed by autograd."),
    property<get_name, "name">(nullptr, nullptr),
    {"_backward_hooks", get_hooks, set_hooks, nullptr, nullptr},
    property<get_accumulate_hooks, "_post_accumulate_grad_hooks">(nullptr, nullptr),
    {},
};

}  // namespace taeda::python
