// The Python tensor: who owns whom, and how an object is born and dies.
//
// Normally the object owns a reference to the impl and the impl knows the object. When Python lets go of an object that
// someone could recognise again (a subclass, attributes, weak references, hooks) while C++ still holds the impl, the
// ownership turns round: tp_deallocate brings the object back to life with the one reference that the impl now owns.
// wrap() turns it back, and so does the impl's death, upon which the object dies in the ordinary way, finaliser and
// all.
#include "python/slots.h"

#include <algorithm>

namespace taeda::python {

namespace {

TensorObject* cast(PyObject* object) { return reinterpret_cast<TensorObject*>(object); }

// --- birth

// Dead plain tensors, linked through their `dict` field; each keeps its reference to the type.
constexpr int kMaxFree = 256;
TensorObject* g_free = nullptr;
int g_free_count = 0;

[[gnu::noinline]] PyObject* allocate_slowly(PyTypeObject* type) {
  PyObject* object = type->tp_alloc(type, 0);
  if (!object) throw PythonError();
  return object;
}

void empty_free_list() {
  while (g_free) {
    TensorObject* dead = g_free;
    g_free = reinterpret_cast<TensorObject*>(dead->dict);
    PyTypeObject* type = Py_TYPE(dead);
    PyObject_GC_Del(dead);
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) Py_DECREF(type);
  }
  g_free_count = 0;
}

void attach(PyObject* object, Tensor&& tensor) {
  TensorImpl* impl = tensor.detach_ref();
  cast(object)->impl = impl;
  impl->python_object = object;
}

// --- ownership

bool is_observable(PyObject* self) {
  const TensorObject* t = cast(self);
  return Py_TYPE(self) != tensor_type || t->dict || t->weakrefs || t->backward_hooks;
}

// The impl whose death this thread is announcing to its object: one of its references is only the core's, about to go.
thread_local TensorImpl* t_dying = nullptr;

// Whether C++ will still know this object when Python has let go of it.
bool outlives_python(PyObject* self) {
  const TensorImpl* impl = cast(self)->impl;
  return impl && impl->use_count() > 1 + (impl == t_dying) && is_observable(self);
}

// Called with the object's reference count at zero.
void give_to_impl(PyObject* self) {
  TensorImpl* impl = cast(self)->impl;
  Py_SET_REFCNT(self, 1);
  if (!PyObject_GC_IsTracked(self)) PyObject_GC_Track(self);
  impl->owns_python_object = true;
  impl->release();  // last: another thread may have dropped all others meanwhile, then the object dies in here
}

// C++ lets go of the impl: the object owns it again, for the short rest of its life unless its finaliser decides else.
void on_tensor_died(TensorImpl* impl) {
  if (!Py_IsInitialized()) {  // nobody frees the object any more, but the collector's last rounds still look at it
    cast(static_cast<PyObject*>(impl->python_object))->impl = nullptr;
    return;
  }
  WithGil gil;
  Scoped dying(t_dying, impl);
  impl->owns_python_object = false;
  impl->retain();
  Py_DECREF(static_cast<PyObject*>(impl->python_object));
}

void on_decref(void* object) {
  if (!Py_IsInitialized()) return;
  WithGil gil;
  Py_DECREF(static_cast<PyObject*>(object));
}

// --- death

void clear_contents(PyObject* self) {
  clear_slots(self, tensor_base_type);
  Py_CLEAR(cast(self)->dict);
  Py_CLEAR(cast(self)->backward_hooks);
}

void release_impl(TensorObject* self) {
  if (TensorImpl* impl = std::exchange(self->impl, nullptr)) {
    impl->python_object = nullptr;
    impl->release();
  }
}

// Frees the memory of an untracked object that owns nothing any more.
void free_object(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
#ifndef Py_GIL_DISABLED
  if (type == tensor_type && g_free_count < kMaxFree) {
    cast(self)->dict = reinterpret_cast<PyObject*>(g_free);
    g_free = cast(self);
    ++g_free_count;
    return;
  }
#endif
  type->tp_free(self);
  if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) Py_DECREF(type);
}

void deallocate(PyObject* self);

// CPython's own deallocator of Python classes clears weak references and slots before it asks the base, too late to
// bring the object back; so the whole job is done here, for every subclass.
[[gnu::noinline]] void deallocate_slowly(PyObject* self) {
  if (outlives_python(self)) return give_to_impl(self);
  PyObject_GC_UnTrack(self);
  Py_TRASHCAN_BEGIN(self, deallocate);
  bool alive = false;
  if (Py_TYPE(self)->tp_finalize) {
    PyObject_GC_Track(self);
    alive = PyObject_CallFinalizerFromDealloc(self) < 0;
    if (!alive && outlives_python(self)) {  // the finaliser gave the tensor to C++
      give_to_impl(self);
      alive = true;
    }
    if (!alive) PyObject_GC_UnTrack(self);
  }
  if (!alive) {
    // From here on nobody may find this object through the impl: weak references' callbacks run Python code.
    if (cast(self)->impl) cast(self)->impl->python_object = nullptr;
    if (cast(self)->weakrefs) PyObject_ClearWeakRefs(self);
    clear_contents(self);
    if (TensorImpl* impl = std::exchange(cast(self)->impl, nullptr)) impl->release();
    free_object(self);
  }
  Py_TRASHCAN_END;
}

void deallocate(PyObject* self) {
  if (is_observable(self)) [[unlikely]]
    return deallocate_slowly(self);
  PyObject_GC_UnTrack(self);
  release_impl(cast(self));
  free_object(self);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  // References that C++ holds are invisible to the collector. An object that C++ would keep alive is therefore a root,
  // which is said by hiding what it refers to.
  if (outlives_python(self)) return 0;
  TensorObject* t = cast(self);
  if (Py_TYPE(self)->tp_flags & Py_TPFLAGS_HEAPTYPE) Py_VISIT(Py_TYPE(self));
  Py_VISIT(t->dict);
  Py_VISIT(t->backward_hooks);
  if (int stop = visit_slots(self, tensor_base_type, visit, arg)) return stop;
  if (t->impl && t->impl->use_count() == 1 && t->impl->autograd_meta() && hooks.autograd_traverse)
    return hooks.autograd_traverse(t->impl, visit, arg);
  return 0;
}

int clear(PyObject* self) {
  if (!outlives_python(self)) clear_contents(self);
  return 0;
}

// --- the metaclass, which gives every subclass the life cycle above
PyObject* new_class(PyTypeObject* meta, PyObject* args, PyObject* kwargs) {
  PyObject* cls = PyType_Type.tp_new(meta, args, kwargs);
  if (!cls) return nullptr;
  PyTypeObject* type = reinterpret_cast<PyTypeObject*>(cls);
  if (PyType_Check(cls) && PyType_IsSubtype(type, tensor_base_type)) {
    if (tensor_type && !PyType_IsSubtype(type, tensor_type)) {
      PyErr_Format(PyExc_RuntimeError, "%s: TensorBase is not for direct use; derive from taeda.Tensor", type->tp_name);
      Py_DECREF(cls);
      return nullptr;
    }
    type->tp_dealloc = deallocate;
    type->tp_traverse = traverse;
    type->tp_clear = clear;
  }
  return cls;
}

PyTypeObject g_meta_type = static_type("taeda._C._TensorMeta", 0);
PyTypeObject g_base_type = static_type("taeda._C.TensorBase", sizeof(TensorObject), &g_meta_type);

PyObject* new_tensor_object(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded("Tensor", [&]() -> PyObject* {
    TAEDA_CHECK(type != tensor_base_type, "TensorBase is not for direct use; call taeda.Tensor or a subclass of it");
    if (hooks.tensor_new) return hooks.tensor_new(type, args, kwargs);
    TAEDA_CHECK_TYPE(PyTuple_GET_SIZE(args) == 0 && (!kwargs || PyDict_GET_SIZE(kwargs) == 0), "takes no arguments");
    return wrap_as(type, new_tensor(std::initializer_list<int64_t>{0}, default_dtype()));
  });
}

Py_hash_t hash(PyObject* self) { return _Py_HashPointer(self); }

// --- the tables that the type is made of
std::vector<PyMethodDef>& methods() {
  static std::vector<PyMethodDef> table;
  return table;
}
std::vector<PyGetSetDef>& getset() {
  static std::vector<PyGetSetDef> table{
      {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr}};
  return table;
}

// PyType_Ready keeps the first of two equal names; the newest shall win.
template <class Def>
void finish_table(std::vector<Def>& table) {
  std::reverse(table.begin(), table.end());
  table.push_back(Def{});
}

void fill_base_type() {
  PyTypeObject& t = g_base_type;
  t.tp_flags |= Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  t.tp_dealloc = deallocate;
  t.tp_traverse = traverse;
  t.tp_clear = clear;
  t.tp_dictoffset = offsetof(TensorObject, dict);
  t.tp_weaklistoffset = offsetof(TensorObject, weakrefs);
  t.tp_new = new_tensor_object;
  t.tp_free = PyObject_GC_Del;
  if (!t.tp_hash) t.tp_hash = hash;
  t.tp_as_number = &tensor_number;
  t.tp_as_sequence = &tensor_sequence;
  t.tp_as_mapping = &tensor_mapping;
  t.tp_as_buffer = &tensor_buffer;
  t.tp_methods = methods().data();
  t.tp_getset = getset().data();
}

PyObject* set_tensor_type(PyObject*, PyObject* cls) {
  return guarded("_C._set_tensor_type", [&]() -> PyObject* {
    PyTypeObject* type = check_tensor_class(cls);
    TAEDA_CHECK_TYPE(type->tp_basicsize == sizeof(TensorObject), "the class must not define __slots__");
    empty_free_list();
    Py_INCREF(cls);
    if (tensor_type != tensor_base_type) Py_DECREF(tensor_type);
    tensor_type = type;
    return Py_NewRef(Py_None);
  });
}

void check_sole_holder(PyObject* object, bool accumulated) {
  TAEDA_CHECK_TYPE(PyObject_TypeCheck(object, tensor_base_type), "takes two tensors; got ", Py_TYPE(object)->tp_name);
  const TensorObject* t = cast(object);
  TAEDA_CHECK(!t->weakrefs, "a tensor that weak references know cannot be swapped");
  const int64_t of_graph = accumulated;  // the node that accumulates its gradient holds it, too
  TAEDA_CHECK(t->impl && t->impl->use_count() == 1 + of_graph,
              "a tensor that a view, a graph or another part of the program holds cannot be swapped");
}

PyObject* swap_tensors(PyObject*, PyObject* args) {
  PyObject *a, *b;
  int a_accumulated = 0, b_accumulated = 0;
  if (!PyArg_ParseTuple(args, "OOpp", &a, &b, &a_accumulated, &b_accumulated)) return nullptr;
  return guarded("utils.swap_tensors", [&] {
    check_sole_holder(a, a_accumulated);
    check_sole_holder(b, b_accumulated);
    std::swap(cast(a)->impl, cast(b)->impl);
    std::swap(cast(a)->dict, cast(b)->dict);
    std::swap(cast(a)->backward_hooks, cast(b)->backward_hooks);
    for (PyObject* object : {a, b}) cast(object)->impl->python_object = object;
    return Py_NewRef(Py_None);
  });
}

const Storage& storage_under(PyObject* tensor) {
  TAEDA_CHECK_TYPE(is_tensor(tensor), "takes a Tensor; got ", Py_TYPE(tensor)->tp_name);
  TAEDA_CHECK(unwrap(tensor)->storage(), "this tensor has no storage");
  return unwrap(tensor)->storage();
}
PyObject* is_cow_tensor(PyObject*, PyObject* tensor) {
  return guarded("_is_cow_tensor", [&] { return PyBool_FromLong(storage_under(tensor)->is_copy_on_write()); });
}
PyObject* storage_address(PyObject*, PyObject* tensor) {
  return guarded("_storage_address", [&] { return PyLong_FromVoidPtr(storage_under(tensor).get()); });
}
PyObject* data_address(PyObject*, PyObject* tensor) {
  return guarded("_data_address", [&] { return storage_under(tensor), PyLong_FromVoidPtr(unwrap(tensor)->data()); });
}

PyMethodDef g_functions[] = {
    {"_set_tensor_type", set_tensor_type, METH_O,
     "_set_tensor_type(cls)\n--\n\nThe class of the tensors that operators return."},
    {"_swap_tensors", swap_tensors, METH_VARARGS, nullptr},
    {"_is_cow_tensor", is_cow_tensor, METH_O,
     "_is_cow_tensor(tensor)\n--\n\nWhether its bytes are also those of a lazy clone."},
    {"_storage_address", storage_address, METH_O, "_storage_address(tensor)\n--\n\nWhere the storage itself is."},
    {"_data_address", data_address, METH_O, "_data_address(tensor)\n--\n\nThe first element's address, for reading."},
    {}};

}  // namespace

PyTypeObject* tensor_base_type = &g_base_type;
PyTypeObject* tensor_type = &g_base_type;
PySequenceMethods tensor_sequence{};

PyObject* wrap(Tensor&& tensor) {
  TensorImpl* impl = tensor.impl();
  if (!impl) return Py_NewRef(Py_None);
  if (PyObject* object = static_cast<PyObject*>(impl->python_object)) {
    if (!impl->owns_python_object) return Py_NewRef(object);
    impl->owns_python_object = false;
    tensor.detach_ref();  // becomes the object's
    return object;
  }
  PyObject* object;
  if (g_free) [[likely]] {
    TensorObject* fresh = g_free;
    g_free = reinterpret_cast<TensorObject*>(fresh->dict);
    --g_free_count;
    fresh->dict = nullptr;
    object = reinterpret_cast<PyObject*>(fresh);
    _Py_NewReference(object);
    PyObject_GC_Track(object);
  } else {
    object = allocate_slowly(tensor_type);
  }
  attach(object, std::move(tensor));
  return object;
}

PyObject* wrap_as(PyTypeObject* type, Tensor tensor) {
  TAEDA_CHECK(tensor.defined(), "an undefined tensor cannot become a ", type->tp_name);
  TAEDA_CHECK(!tensor->python_object, "the tensor has a Python object already, of type ",
              Py_TYPE(static_cast<PyObject*>(tensor->python_object))->tp_name, "; pass an alias of it");
  PyObject* object = allocate_slowly(type);
  attach(object, std::move(tensor));
  return object;
}

void add_tensor_methods(const PyMethodDef* defs) {
  for (; defs->ml_name; ++defs) methods().push_back(*defs);
}
void add_tensor_getset(const PyGetSetDef* defs) {
  for (; defs->name; ++defs) getset().push_back(*defs);
}

int init_tensor_type(PyObject* module) {
  g_meta_type.tp_flags |= Py_TPFLAGS_BASETYPE;
  g_meta_type.tp_base = &PyType_Type;
  g_meta_type.tp_new = new_class;
  if (PyType_Ready(&g_meta_type) < 0) return -1;

  finish_table(methods());
  finish_table(getset());
  fill_base_type();
  if (PyType_Ready(&g_base_type) < 0) return -1;

  python_hooks.tensor_died = on_tensor_died;
  python_hooks.decref = on_decref;
  if (PyModule_AddObjectRef(module, "_TensorMeta", reinterpret_cast<PyObject*>(&g_meta_type)) < 0) return -1;
  if (PyModule_AddObjectRef(module, "TensorBase", reinterpret_cast<PyObject*>(&g_base_type)) < 0) return -1;
  return PyModule_AddFunctions(module, g_functions);
}

}  // namespace taeda::python
