#include "python/autograd/node_object.h"

#include <unordered_map>

#include "autograd/accumulate.h"
#include "python/autograd/function.h"
#include "python/autograd/python_hooks.h"
#include "python/autograd/saved_hooks.h"
#include "taeda/autograd/engine.h"
#include "taeda/autograd/saved_tensor.h"

namespace taeda::python {
using autograd::Edge;
using autograd::Node;
namespace {

struct NodeObject {
  PyObject_HEAD
  Node* node;  // owned
  PyObject* weakrefs;
};
PyTypeObject g_type = static_type("taeda._C._autograd.Node", sizeof(NodeObject));
PyTypeObject g_saved_type = static_type("taeda._C._autograd.SavedTensor", 0);
PyTypeObject* g_metadata_type;  // a struct sequence
PyObject* g_types;              // by node name

NodeObject* cast(PyObject* self) { return reinterpret_cast<NodeObject*>(self); }
Ref<Node> share(Node* node) { return Ref<Node>(node); }

PyObject* to_str(std::string_view text) { return check(PyUnicode_FromStringAndSize(text.data(), text.size())); }

// type(fn).__name__ is the node's name, so each name has its type, made when first seen. Names of built-in nodes are
// literals: the address finds the type at once, and the text settles doubts.
PyTypeObject* type_named(std::string_view name) {
  static std::unordered_map<const char*, PyTypeObject*> by_address;
  PyTypeObject*& known = by_address[name.data()];
  if (known && known->tp_name == name) return known;
  Owned key(to_str(name));
  PyObject* type = PyDict_GetItemWithError(g_types, key.get());
  if (!type) {
    Owned made(check(PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyType_Type), "O(O){s:(),s:s}", key.get(),
                                           &g_type, "__slots__", "__module__", "taeda._C._autograd")));
    type = check(PyDict_SetDefault(g_types, key.get(), made.get()));  // another thread's, if it was quicker
  }
  return known = reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace

PyTypeObject* node_type = &g_type;

PyObject* wrap_node(const Ref<Node>& node) {
  if (!node) Py_RETURN_NONE;
  if (auto* function = dynamic_cast<FunctionNode*>(node.get()))
    return Py_NewRef(reinterpret_cast<PyObject*>(function->context));
  if (node->python_object()) return Py_NewRef(static_cast<PyObject*>(node->python_object()));
  PyTypeObject* type = type_named(node->name());
  PyObject* object = check(type->tp_alloc(type, 0));
  cast(object)->node = share(node.get()).detach();
  node->set_python_object(object);
  return object;
}

Ref<Node> to_node(PyObject* object) {
  if (PyObject_TypeCheck(object, &g_type)) return share(cast(object)->node);
  TAEDA_CHECK_TYPE(PyObject_TypeCheck(object, function_type), "must be a graph node; got ", Py_TYPE(object)->tp_name);
  FunctionNode* node = reinterpret_cast<FunctionContext*>(object)->node;
  TAEDA_CHECK(node, "this context has no node in a graph: its call was not recorded, or all its results are gone");
  return share(node);
}

PyObject* wrap_edge(const Edge& edge) {
  Owned node(wrap_node(edge.function));
  return check(Py_BuildValue("(OI)", node.get(), edge.input_nr));
}

int traverse_node(const Ref<Node>& node, visitproc visit, void* arg) {
  if (node->use_count() != 1) return 0;
  if (auto* function = dynamic_cast<FunctionNode*>(node.get())) Py_VISIT(function->context);
  return node->hooks() ? traverse_hooks(*node->hooks(), visit, arg) : 0;
}

namespace {

// --- what all nodes answer; `self` may be a Function's context

PyObject* name(PyObject* self, PyObject*) {
  return guarded("Node.name", [&] {
    Ref<Node> node = to_node(self);
    bool adds = dynamic_cast<autograd::AccumulateGrad*>(node.get());
    return to_str(adds ? "torch::autograd::AccumulateGrad" : node->name());
  });
}

PyObject* next_functions(PyObject* self, void*) {
  return guarded("Node.next_functions", [&] {
    Ref<Node> node = to_node(self);
    Owned tuple(check(PyTuple_New(node->num_outputs())));
    for (size_t i = 0; i < node->num_outputs(); ++i) PyTuple_SET_ITEM(tuple.get(), i, wrap_edge(node->next_edge(i)));
    return tuple.release();
  });
}

PyObject* sequence_nr(PyObject* self, PyObject*) {
  return guarded("Node._sequence_nr", [&] { return PyLong_FromUnsignedLongLong(to_node(self)->sequence_nr()); });
}

PyObject* register_hook(PyObject* self, PyObject* hook) {
  return guarded("Node.register_hook", [&] { return register_post_hook(*to_node(self), hook); });
}
PyObject* register_prehook(PyObject* self, PyObject* hook) {
  return guarded("Node.register_prehook", [&] { return register_pre_hook(*to_node(self), hook); });
}

PyObject* metadata(PyObject* self, void*) {
  return guarded("Node.metadata", [&] {
    Ref<Node> node = to_node(self);
    if (!node->attachment()) {
      Owned dict(check(PyDict_New()));
      node->set_attachment(make_ref<HeldObject>(dict.get()));
    }
    return Py_NewRef(static_cast<HeldObject*>(node->attachment().get())->object);
  });
}

PyObject* requires_grad(PyObject*, void*) { Py_RETURN_TRUE; }

PyObject* input_metadata(PyObject* self, void*) {
  return guarded("Node._input_metadata", [&] {
    Ref<Node> node = to_node(self);
    Owned tuple(check(PyTuple_New(node->num_inputs())));
    for (size_t i = 0; i < node->num_inputs(); ++i) {
      const autograd::InputMetadata& from = node->metadata(i);
      if (!from.is_defined()) {
        PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(Py_None));
        continue;
      }
      PyObject* item = check(PyStructSequence_New(g_metadata_type));
      PyTuple_SET_ITEM(tuple.get(), i, item);
      PyStructSequence_SET_ITEM(item, 0, check(wrap(from.dtype)));
      PyStructSequence_SET_ITEM(item, 1, check(wrap(from.device)));
      PyStructSequence_SET_ITEM(item, 2, check(wrap_size(from.shape())));
    }
    return tuple.release();
  });
}

// fn(*grads): runs the node alone.
PyObject* call(PyObject* self, PyObject* args, PyObject*) {
  return guarded("Node.__call__", [&]() -> PyObject* {
    Ref<Node> node = to_node(self);
    TAEDA_CHECK_TYPE(PyTuple_GET_SIZE(args) == static_cast<Py_ssize_t>(node->num_inputs()), "takes ",
                     node->num_inputs(), " gradients; got ", PyTuple_GET_SIZE(args));
    std::vector<Tensor> grads(node->num_inputs()), results(node->num_outputs());
    for (size_t i = 0; i < grads.size(); ++i) {
      PyObject* grad = PyTuple_GET_ITEM(args, i);
      TAEDA_CHECK_TYPE(grad == Py_None || is_tensor(grad), "takes tensors or None; got ", Py_TYPE(grad)->tp_name);
      if (grad != Py_None) grads[i] = unwrap(grad);
    }
    {
      NoGil unlocked;
      node->apply(grads, results);
    }
    return results.size() == 1 ? wrap(std::move(results[0])) : wrap_gradients(results);
  });
}

// --- built-in nodes only

// One tensor that a node saved, for register_hooks and data.
struct SavedObject {
  PyObject_HEAD
  Node* node;  // owned: the saved tensor lives in it
  autograd::SavedTensor* saved;
};

}  // namespace

PyObject* wrap_saved(Node& node, const autograd::SavedTensor& saved) {
  auto* object = reinterpret_cast<SavedObject*>(check(g_saved_type.tp_alloc(&g_saved_type, 0)));
  object->node = share(&node).detach();
  object->saved = const_cast<autograd::SavedTensor*>(&saved);
  return reinterpret_cast<PyObject*>(object);
}

namespace {

constexpr std::string_view kSaved = "_saved_", kRaw = "_raw_saved_";

// What PyTorch calls a saved value: sizes of arguments may be symbols.
std::string public_name(std::string_view name) {
  constexpr std::string_view kSizes = "_sizes";
  if (!name.ends_with(kSizes)) return std::string(name);
  return str(name.substr(0, name.size() - kSizes.size()), "_sym", kSizes);
}

// Finds one value among those a node saved.
struct Finder final : autograd::SavedVisitor {
  Node& node;
  std::string_view wanted;
  bool raw;
  Owned found;
  Finder(Node& n, std::string_view name, bool r) : node(n), wanted(name), raw(r) {}

  PyObject* shown(const autograd::SavedTensor& saved) {
    return raw ? wrap_saved(node, saved) : check(wrap(saved.unpack(&node, true)));
  }
  void tensor(const char* name, const autograd::SavedTensor& saved) override {
    if (name == wanted) found = Owned(shown(saved));
  }
  void tensors(const char* name, std::span<const autograd::SavedTensor> saved) override {
    if (name != wanted) return;
    Owned tuple(check(PyTuple_New(saved.size())));
    for (size_t i = 0; i < saved.size(); ++i) PyTuple_SET_ITEM(tuple.get(), i, shown(saved[i]));
    found = std::move(tuple);
  }
  void value(const char* name, const Value& value) override {
    if (raw || public_name(name) != wanted) return;
    found = Owned(check(wrap(value)));
    if (PyList_Check(found.get())) found = Owned(check(PyList_AsTuple(found.get())));
  }
};

// The attributes under which a node's saved values are found.
struct Names final : autograd::SavedVisitor {
  PyObject* list;
  explicit Names(PyObject* l) : list(l) {}

  void add(std::string_view prefix, std::string_view name) {
    Owned text(check(to_str(str(prefix, name))));
    if (PyList_Append(list, text.get()) < 0) throw PythonError();
  }
  void tensor(const char* name, const autograd::SavedTensor&) override {
    add(kSaved, name);
    add(kRaw, name);
  }
  void tensors(const char* name, std::span<const autograd::SavedTensor>) override {
    add(kSaved, name);
    add(kRaw, name);
  }
  void value(const char* name, const Value&) override { add(kSaved, public_name(name)); }
};

PyObject* dir(PyObject* self, PyObject*) {
  return guarded("Node.__dir__", [&] {
    Owned plain(check(PyObject_CallMethod(reinterpret_cast<PyObject*>(&PyBaseObject_Type), "__dir__", "O", self)));
    Owned list(check(PySequence_List(plain.get())));
    Ref<Node> node = to_node(self);
    Names names(list.get());
    node->visit_saved(names);
    return list.release();
  });
}

PyObject* getattro(PyObject* self, PyObject* attribute) {
  Py_ssize_t length;
  const char* text = PyUnicode_AsUTF8AndSize(attribute, &length);
  if (!text) return nullptr;
  std::string_view name(text, length);
  bool raw = name.starts_with(kRaw);
  if (!raw && !name.starts_with(kSaved)) return PyObject_GenericGetAttr(self, attribute);
  return guarded(text, [&] {
    Ref<Node> node = to_node(self);
    Finder finder(*node, name.substr(raw ? kRaw.size() : kSaved.size()), raw);
    node->visit_saved(finder);
    return finder.found ? finder.found.release() : PyObject_GenericGetAttr(self, attribute);
  });
}

PyObject* variable(PyObject* self, void*) {
  if (auto* node = dynamic_cast<autograd::AccumulateGrad*>(cast(self)->node)) return wrap(node->variable());
  PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute 'variable'", Py_TYPE(self)->tp_name);
  return nullptr;
}

PyObject* repr(PyObject* self) { return PyUnicode_FromFormat("<%s object at %p>", Py_TYPE(self)->tp_name, self); }

// A node's type is visited by CPython's own function, which asks this one: visited twice, it would be collected while
// it is in use.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Node* node = cast(self)->node;
  return node && node->use_count() == 1 && node->hooks() ? traverse_hooks(*node->hooks(), visit, arg) : 0;
}

int clear(PyObject* self) {
  if (Node* node = std::exchange(cast(self)->node, nullptr)) {
    node->set_python_object(nullptr);
    node->release();
  }
  return 0;
}

void deallocate(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (cast(self)->weakrefs) PyObject_ClearWeakRefs(self);
  clear(self);
  Py_TYPE(self)->tp_free(self);
}

// --- SavedTensor

SavedObject* cast_saved(PyObject* self) { return reinterpret_cast<SavedObject*>(self); }

PyObject* saved_register_hooks(PyObject* self, PyObject* args) {
  PyObject *pack, *unpack;
  if (!PyArg_ParseTuple(args, "OO:register_hooks", &pack, &unpack)) return nullptr;
  return guarded("SavedTensor.register_hooks", [&] {
    cast_saved(self)->saved->register_hooks(make_saved_tensor_hooks(pack, unpack));
    return Py_NewRef(Py_None);
  });
}

PyObject* saved_data(PyObject* self, void*) {
  return guarded("SavedTensor.data",
                 [&] { return wrap(cast_saved(self)->saved->unpack(cast_saved(self)->node, true)); });
}

void saved_deallocate(PyObject* self) {
  cast_saved(self)->node->release();
  Py_TYPE(self)->tp_free(self);
}

PyObject* saved_new(PyTypeObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_RuntimeError, "taeda.autograd.SavedTensor: nodes of the graph make them, programs do not");
  return nullptr;
}

PyMethodDef saved_methods[] = {
    {"register_hooks", saved_register_hooks, METH_VARARGS,
     "Packs this saved tensor with the first callable; the second one unpacks it."},
    {},
};
PyGetSetDef saved_getset[] = {{"data", saved_data, nullptr, "The tensor, unpacked.", nullptr}, {}};

PyGetSetDef own_getset[] = {{"variable", variable, nullptr, "The leaf that AccumulateGrad adds to.", nullptr}, {}};

int add_metadata_type() {
  static PyStructSequence_Field fields[] = {
      {"dtype", nullptr}, {"device", nullptr}, {"shape", nullptr}, {nullptr, nullptr}};
  static PyStructSequence_Desc description{"taeda._C._autograd._InputMetadata", "What a gradient must look like.",
                                           fields, 3};
  g_metadata_type = PyStructSequence_NewType(&description);
  return g_metadata_type ? 0 : -1;
}

}  // namespace

PyMethodDef node_methods[] = {
    {"__dir__", dir, METH_NOARGS, "The names, also those of saved values."},
    {"name", name, METH_NOARGS, "name($self)\n--\n\nThe node's name, e.g. 'AddBackward0'."},
    {"_sequence_nr", sequence_nr, METH_NOARGS, "The place in the order in which this thread recorded nodes."},
    {"register_hook", register_hook, METH_O,
     "register_hook($self, fn)\n--\n\nCalls hook(grad_inputs, grad_outputs) after the node ran; a tuple that it "
     "returns replaces grad_inputs. Returns "
     "a handle."},
    {"register_prehook", register_prehook, METH_O,
     "register_prehook($self, fn)\n--\n\nCalls hook(grad_outputs) before the node runs; a tuple that it returns "
     "replaces them. Returns a handle."},
    {},
};
PyGetSetDef node_getset[] = {
    {"next_functions", next_functions, nullptr,
     "One (node, input number) for each tensor argument; (None, 0) where no gradient goes.", nullptr},
    {"metadata", metadata, nullptr, "A dict for the user's own notes.", nullptr},
    {"requires_grad", requires_grad, nullptr, nullptr, nullptr},
    {"_input_metadata", input_metadata, nullptr, "dtype, device and shape of each incoming gradient.", nullptr},
    {},
};

int init_nodes(PyObject* module) {
  g_types = PyDict_New();
  static std::vector<PyGetSetDef> getset;
  for (PyGetSetDef* d = node_getset; d->name; ++d) getset.push_back(*d);
  for (PyGetSetDef& d : own_getset) getset.push_back(d);
  g_type.tp_flags |= Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  g_type.tp_doc = "A node of the backward graph.";
  g_type.tp_dealloc = deallocate;
  g_type.tp_traverse = traverse;
  g_type.tp_clear = clear;
  g_type.tp_weaklistoffset = offsetof(NodeObject, weakrefs);
  g_type.tp_methods = node_methods;
  g_type.tp_getset = getset.data();
  g_type.tp_getattro = getattro;
  g_type.tp_call = call;
  g_type.tp_repr = repr;
  g_saved_type.tp_basicsize = sizeof(SavedObject);
  g_saved_type.tp_dealloc = saved_deallocate;
  g_saved_type.tp_methods = saved_methods;
  g_saved_type.tp_getset = saved_getset;
  g_saved_type.tp_new = saved_new;
  g_saved_type.tp_doc = "SavedTensor()\n--\n\nA tensor that a node of the graph keeps; programs make none.";
  if (!g_types || add_type(module, g_type) < 0 || add_type(module, g_saved_type) < 0 || add_metadata_type() < 0)
    return -1;
  return 0;
}

}  // namespace taeda::python
