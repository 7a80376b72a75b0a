// Who owns whom between a storage and its Python object, as between a tensor and its own (tensor_object.cpp): the impl
// knows its one object, which forgets itself there when it dies. An object that someone could recognise again (a
// subclass, attributes, weak references) is kept by the impl while C++ uses that.
#include "python/slots.h"
#include "python/storage_object.h"

namespace taeda::python {

namespace {
StorageObject* cast(PyObject* object) { return reinterpret_cast<StorageObject*>(object); }

// The impl whose death this thread is announcing to its object: one of its references is only the core's, about to go.
thread_local StorageImpl* t_dying = nullptr;

bool outlives_python(PyObject* self) {
  const StorageObject* object = cast(self);
  const StorageImpl* impl = object->storage.get();
  bool observable = Py_TYPE(self) != &storage_type || object->dict || object->weakrefs;
  return impl && observable && impl->use_count() > 1 + (impl == t_dying);
}

void on_storage_died(StorageImpl* impl) {
  if (!Py_IsInitialized()) {  // as of tensors: the collector's last rounds still look at the object
    cast(static_cast<PyObject*>(impl->python_object))->storage.detach();
    return;
  }
  WithGil gil;
  Scoped dying(t_dying, impl);
  impl->owns_python_object = false;
  impl->retain();  // for the object, which does not count its reference while the impl owns it
  Py_DECREF(static_cast<PyObject*>(impl->python_object));
}

// Called with the object's reference count at zero.
void give_to_impl(PyObject* self) {
  Py_SET_REFCNT(self, 1);
  if (!PyObject_GC_IsTracked(self)) PyObject_GC_Track(self);
  cast(self)->storage->owns_python_object = true;
  cast(self)->storage->release();  // last: another thread may have dropped all others meanwhile
}

// Whether the finaliser brought the object back.
bool finalised_to_life(PyObject* self) {
  if (!Py_TYPE(self)->tp_finalize) return false;
  PyObject_GC_Track(self);
  if (PyObject_CallFinalizerFromDealloc(self) < 0) return true;
  if (outlives_python(self)) return give_to_impl(self), true;
  PyObject_GC_UnTrack(self);
  return false;
}

void deallocate(PyObject* self) {
  if (outlives_python(self)) return give_to_impl(self);
  PyObject_GC_UnTrack(self);
  Py_TRASHCAN_BEGIN(self, deallocate);
  if (!finalised_to_life(self)) {
    StorageObject* object = cast(self);
    if (object->storage) object->storage->python_object = nullptr;
    if (object->weakrefs) PyObject_ClearWeakRefs(self);
    clear_slots(self, &storage_base_type);
    Py_CLEAR(object->dict);
    object->storage.~Ref();
    PyTypeObject* type = Py_TYPE(self);
    type->tp_free(self);
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) Py_DECREF(type);
  }
  Py_TRASHCAN_END;
}

// What C++ refers to is invisible to the collector, so an object that C++ keeps alive hides what it refers to.
int traverse(PyObject* self, visitproc visit, void* arg) {
  if (outlives_python(self)) return 0;
  if (Py_TYPE(self)->tp_flags & Py_TPFLAGS_HEAPTYPE) Py_VISIT(Py_TYPE(self));
  Py_VISIT(cast(self)->dict);
  return visit_slots(self, &storage_base_type, visit, arg);
}

int clear(PyObject* self) {
  if (outlives_python(self)) return 0;
  clear_slots(self, &storage_base_type);
  Py_CLEAR(cast(self)->dict);
  return 0;
}

// The metaclass, which gives every subclass the life cycle above: CPython's own deallocator of Python classes clears
// weak references and slots before it asks the base, too late to bring the object back.
PyObject* new_class(PyTypeObject* meta, PyObject* args, PyObject* kwargs) {
  PyObject* cls = PyType_Type.tp_new(meta, args, kwargs);
  if (!cls || !PyType_Check(cls)) return cls;
  PyTypeObject* type = reinterpret_cast<PyTypeObject*>(cls);
  if (!PyType_IsSubtype(type, &storage_base_type)) return cls;
  type->tp_dealloc = deallocate;
  type->tp_traverse = traverse;
  type->tp_clear = clear;
  return cls;
}

PyTypeObject g_meta_type = static_type("taeda._C._StorageMeta", 0);
}  // namespace

PyTypeObject storage_base_type = static_type("taeda._C.StorageBase", sizeof(StorageObject), &g_meta_type);
PyTypeObject storage_type = static_type("taeda.UntypedStorage", sizeof(StorageObject), &g_meta_type);

int init_storage_life(PyObject* module) {
  g_meta_type.tp_base = &PyType_Type;
  g_meta_type.tp_new = new_class;
  g_meta_type.tp_flags |= Py_TPFLAGS_BASETYPE;
  if (PyType_Ready(&g_meta_type) < 0) return -1;
  PyTypeObject& base = storage_base_type;
  base.tp_flags |= Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  base.tp_dealloc = deallocate;
  base.tp_traverse = traverse;
  base.tp_clear = clear;
  base.tp_free = PyObject_GC_Del;
  base.tp_dictoffset = offsetof(StorageObject, dict);
  base.tp_weaklistoffset = offsetof(StorageObject, weakrefs);
  python_hooks.storage_died = on_storage_died;
  return add_type(module, base);
}

}  // namespace taeda::python
