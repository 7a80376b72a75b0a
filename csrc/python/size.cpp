// taeda.Size: a tuple of ints. `tensor.shape` makes one, so its memory is kept on free lists by length, and as ints
// cannot be part of a cycle the collector tracks it only if there is a symbol among them.
#include "python/symbols.h"
#include "python/types.h"

namespace taeda::python {

namespace {
constexpr Py_ssize_t kMaxLength = 8;  // longer ones are not kept
constexpr int kMaxFree = 64;

PyTypeObject g_type = static_type("taeda.Size", 0);
struct FreeList {
  PyObject* objects[kMaxFree];
  int count;
} g_free[kMaxLength + 1];

// Called by tuple's deallocator, with the items gone.
void free_size(void* memory) {
  PyObject* self = static_cast<PyObject*>(memory);
#ifndef Py_GIL_DISABLED
  if (Py_TYPE(self) == &g_type && PyTuple_GET_SIZE(self) <= kMaxLength) {
    FreeList& list = g_free[PyTuple_GET_SIZE(self)];
    if (list.count < kMaxFree) {
      list.objects[list.count++] = self;
      return;
    }
  }
#endif
  PyObject_GC_Del(memory);
}

PyObject* allocate(Py_ssize_t length) {
  if (length <= kMaxLength && g_free[length].count > 0) [[likely]] {
    PyObject* self = g_free[length].objects[--g_free[length].count];
    _Py_NewReference(self);
    return self;
  }
  PyObject* self = check(PyType_GenericAlloc(&g_type, length));
  PyObject_GC_UnTrack(self);
  return self;
}

void track_symbols(PyObject* self) {
  bool is_plain = true;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) is_plain &= PyLong_CheckExact(PyTuple_GET_ITEM(self, i));
  if (is_plain == PyObject_GC_IsTracked(self)) is_plain ? PyObject_GC_UnTrack(self) : PyObject_GC_Track(self);
}

// Takes over a plain tuple, or passes null on.
PyObject* from_tuple(PyObject* tuple) {
  if (!tuple) return nullptr;
  Owned owned(tuple);
  return guarded("Size", [&] {
    PyObject* self = allocate(PyTuple_GET_SIZE(tuple));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i)
      PyTuple_SET_ITEM(self, i, Py_NewRef(PyTuple_GET_ITEM(tuple, i)));
    track_symbols(self);
    return self;
  });
}

PyObject* to_exact_int(PyObject* item, Py_ssize_t position) {
  if (PyLong_CheckExact(item) || is_symbol(item)) return Py_NewRef(item);
  TAEDA_CHECK_TYPE(PyIndex_Check(item), "takes an iterable of ints; item ", position, " is a ", Py_TYPE(item)->tp_name);
  PyObject* number = check(PyNumber_Index(item));
  return PyLong_CheckExact(number) ? number : PyLong_FromLongLong(to_int(Owned(number).get(), "item"));
}

PyObject* new_size(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded("Size", [&] {
    Owned self(check(PyTuple_Type.tp_new(type, args, kwargs)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self.get()); ++i) {
      PyObject* item = PyTuple_GET_ITEM(self.get(), i);
      PyTuple_SET_ITEM(self.get(), i, to_exact_int(item, i));
      Py_DECREF(item);
    }
    if (type == &g_type) track_symbols(self.get());
    return self.release();
  });
}

PyObject* repr(PyObject* self) {
  return guarded("Size", [&] {
    std::string text = "torch.Size([";
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) {
      Owned item(check(PyObject_Str(PyTuple_GET_ITEM(self, i))));
      text += str(i ? ", " : "", to_text(item.get(), "item"));
    }
    return PyUnicode_FromString((text + "])").c_str());
  });
}

PyObject* concat(PyObject* a, PyObject* b) { return from_tuple(PyTuple_Type.tp_as_sequence->sq_concat(a, b)); }
PyObject* repeat(PyObject* self, Py_ssize_t times) {
  // tuple gives the same object back for one repetition of an exact tuple only, so the result is always new
  return from_tuple(PyTuple_Type.tp_as_sequence->sq_repeat(self, times));
}
PyObject* subscript(PyObject* self, PyObject* key) {
  PyObject* result = PyTuple_Type.tp_as_mapping->mp_subscript(self, key);
  return PySlice_Check(key) ? from_tuple(result) : result;
}

// A plain tuple on the left also gives a Size; a tuple has no number slots, so ours are asked first.
PyObject* add(PyObject* a, PyObject* b) {
  if (!PyTuple_Check(a)) return Py_NewRef(Py_NotImplemented);
  if (PyTuple_Check(b)) return concat(a, b);
  PyErr_Format(PyExc_TypeError, "taeda.Size: only a tuple can be added to a Size; got %s", Py_TYPE(b)->tp_name);
  return nullptr;
}

// With symbols the product is one.
PyObject* product(PyObject* self) {
  Owned count(check(PyLong_FromLong(1)));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i)
    count = Owned(check(PyNumber_Multiply(count.get(), PyTuple_GET_ITEM(self, i))));
  return count.release();
}

PyObject* numel(PyObject* self, PyObject*) {
  return guarded("Size.numel", [&] {
    if (Py_TYPE(self) == &g_type && PyObject_GC_IsTracked(self)) return product(self);
    int64_t count = 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) {
      int64_t size = to_int(PyTuple_GET_ITEM(self, i), "size");
      TAEDA_CHECK_KIND(Overflow, !__builtin_mul_overflow(count, size, &count), "the product does not fit 64 bits");
    }
    return PyLong_FromLongLong(count);
  });
}
PyObject* reduce(PyObject* self, PyObject*) {
  return guarded("Size", [&] { return Py_BuildValue("O(N)", Py_TYPE(self), check(PySequence_Tuple(self))); });
}

PyNumberMethods g_number{};
PySequenceMethods g_sequence{};
PyMappingMethods g_mapping{};
PyMethodDef g_methods[] = {
    {"numel", numel, METH_NOARGS, "numel($self)\n--\n\nThe number of elements: the product of the sizes."},
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {}};
}  // namespace

PyTypeObject* size_type = &g_type;

PyObject* wrap_size(IntList sizes) {
  PyObject* self = allocate(static_cast<Py_ssize_t>(sizes.size()));
  for (size_t i = 0; i < sizes.size(); ++i) {
    PyObject* item = PyLong_FromLongLong(sizes[i]);
    if (!item) {
      Py_DECREF(self);
      throw PythonError();
    }
    PyTuple_SET_ITEM(self, static_cast<Py_ssize_t>(i), item);
  }
  return self;
}

PyObject* recorded_shape(const Tensor& tensor) {
  std::vector<Owned> items;  // a recorder may raise, or read sizes itself
  for (int64_t value : tensor.sizes())
    items.emplace_back(recorded_size(tensor, "size", static_cast<int64_t>(items.size()), value));
  PyObject* self = allocate(static_cast<Py_ssize_t>(items.size()));
  for (size_t i = 0; i < items.size(); ++i) PyTuple_SET_ITEM(self, static_cast<Py_ssize_t>(i), items[i].release());
  track_symbols(self);
  return self;
}

int init_size(PyObject* module) {
  g_number.nb_add = add;
  g_sequence.sq_concat = concat;
  g_sequence.sq_repeat = repeat;
  g_mapping.mp_subscript = subscript;
  g_type.tp_doc = "Size(sizes=())\n--\n\nThe sizes of a tensor's dimensions: a tuple of ints.";
  g_type.tp_base = &PyTuple_Type;
  g_type.tp_flags |= Py_TPFLAGS_BASETYPE | Py_TPFLAGS_TUPLE_SUBCLASS | Py_TPFLAGS_HAVE_GC;
  g_type.tp_traverse = PyTuple_Type.tp_traverse;
  g_type.tp_new = new_size;
  g_type.tp_free = free_size;
  g_type.tp_repr = repr;
  g_type.tp_as_number = &g_number;
  g_type.tp_as_sequence = &g_sequence;
  g_type.tp_as_mapping = &g_mapping;
  g_type.tp_methods = g_methods;
  return add_type(module, g_type);
}

}  // namespace taeda::python
