#include "python/storage_object.h"
#include "python/items.h"

#include <algorithm>
#include <cstring>

namespace taeda::python {

namespace {

void drop_owner(void* owner) { python_hooks.decref(owner); }

void check_has_bytes(const StorageImpl& storage) {
  TAEDA_CHECK_KIND(NotImplemented, storage.device().is_cpu(), "the bytes of a storage on ", storage.device(),
                   " cannot be read or written here; copy it with cpu() first");
}
const uint8_t* checked_bytes(PyObject* self) {
  check_has_bytes(*storage_of(self));
  return bytes_of(self);
}
uint8_t* checked_writable_bytes(PyObject* self) {
  check_has_bytes(*storage_of(self));
  return writable_bytes_of(self);
}
Py_ssize_t length(PyObject* self) { return static_cast<Py_ssize_t>(storage_of(self)->nbytes()); }

// --- construction
uint8_t to_byte(PyObject* number) {
  Owned value(check(PyNumber_Index(number)));
  unsigned long long bits = PyLong_AsUnsignedLongLongMask(value.get());
  if (bits == ~0ull && PyErr_Occurred()) throw PythonError();
  return static_cast<uint8_t>(bits);
}

void fill_from_sequence(StorageImpl& storage, PyObject* items) {
  check_has_bytes(storage);
  uint8_t* out = static_cast<uint8_t*>(storage.data());
  Py_ssize_t n = static_cast<Py_ssize_t>(storage.nbytes());
  for (Py_ssize_t i = 0; i < n; ++i) out[i] = to_byte(item_at(items, i).get());
}

Storage from_object(PyObject* source, Device device) {
  if (!source) return new_storage(0, device);
  if (PyIndex_Check(source)) {
    int64_t nbytes = to_int(source, "size");
    TAEDA_CHECK(nbytes >= 0, "'size' must not be negative; got ", nbytes);
    return new_storage(static_cast<size_t>(nbytes), device);
  }
  Owned items(PySequence_Fast(source, ""));
  if (!items) PyErr_Clear();
  TAEDA_CHECK_TYPE(items, "takes a size in bytes or a sequence of byte values; got ", Py_TYPE(source)->tp_name);
  Storage storage = new_storage(static_cast<size_t>(PySequence_Fast_GET_SIZE(items.get())), device);
  if (storage->device().type != DeviceType::Meta) fill_from_sequence(*storage, items.get());
  return storage;
}

PyObject* new_storage_from_python(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded("UntypedStorage", [&] {
    TAEDA_CHECK(type != &storage_base_type, "StorageBase is not for direct use; call taeda.UntypedStorage");
    bool by_size = kwargs && PyDict_GetItemString(kwargs, "size");
    const char* const names[] = {by_size ? "size" : "sequence", "device"};
    PyObject* given[2];
    read_arguments(names, 0, args, kwargs, given, 1);
    Device device = given[1] && given[1] != Py_None ? to_device(given[1]) : Device{};
    return new_storage_object(type, from_object(given[0], device));
  });
}

// --- facts
PyObject* nbytes(PyObject* self, PyObject*) { return PyLong_FromSsize_t(length(self)); }
PyObject* data_ptr(PyObject* self, PyObject*) {
  return guarded("UntypedStorage.data_ptr",
                 [&] { return PyLong_FromVoidPtr(length(self) ? writable_bytes_of(self) : nullptr); });
}
PyObject* element_size(PyObject*, PyObject*) { return PyLong_FromLong(1); }
PyObject* resizable(PyObject* self, PyObject*) { return PyBool_FromLong(storage_of(self)->resizable()); }
PyObject* is_pinned(PyObject*, PyObject*) { return Py_NewRef(Py_False); }
PyObject* nothing(PyObject*, PyObject*) { return Py_NewRef(Py_None); }
PyObject* identity(PyObject* self, PyObject*) { return Py_NewRef(self); }
PyObject* get_device_index(PyObject* self, PyObject*) { return PyLong_FromLong(storage_of(self)->device().index); }
PyObject* get_device(PyObject* self, void*) {
  return guarded("UntypedStorage.device", [&] { return wrap(storage_of(self)->device()); });
}
PyObject* get_is_cuda(PyObject* self, void*) {
  return PyBool_FromLong(storage_of(self)->device().type == DeviceType::CUDA);
}
PyObject* get_cdata(PyObject* self, void*) { return PyLong_FromVoidPtr(storage_of(self).get()); }
PyObject* get_filename(PyObject* self, void*) {
  return guarded("UntypedStorage.filename", [&] {
    std::string path = mapped_path(*storage_of(self));
    return path.empty() ? Py_NewRef(Py_None) : check(PyUnicode_DecodeFSDefault(path.c_str()));
  });
}

PyObject* type_name(PyObject*, PyObject*) { return PyUnicode_FromString("torch.storage.UntypedStorage"); }

PyObject* repr(PyObject* self) {
  return guarded("UntypedStorage", [&] {
    constexpr Py_ssize_t kShown = 500;  // at each end
    std::string text;
    Py_ssize_t count = length(self);
    if (!storage_of(self)->device().is_cpu())
      text += "...\n";
    else
      for (Py_ssize_t i = 0; i < count; ++i) {
        if (count > 2 * kShown && i == kShown) {
          text += " ...\n";
          i = count - kShown;
        }
        text += str(" ", static_cast<int>(bytes_of(self)[i]), "\n");
      }
    text += str("[torch.storage.UntypedStorage(device=", storage_of(self)->device(), ") of size ", count, "]");
    return PyUnicode_FromString(text.c_str());
  });
}

// --- elements
Py_ssize_t checked_index(PyObject* self, Py_ssize_t index) {
  Py_ssize_t count = length(self), wrapped = index < 0 ? index + count : index;
  TAEDA_CHECK_INDEX(wrapped >= 0 && wrapped < count, "the index ", index, " is out of range for ", count, " bytes");
  return wrapped;
}

struct Range {
  Py_ssize_t start, count;
};
Range to_range(PyObject* self, PyObject* slice) {
  Py_ssize_t start, stop, step;
  check(PySlice_Unpack(slice, &start, &stop, &step));
  TAEDA_CHECK(step == 1, "a slice of a storage must have step 1; got ", step);
  Py_ssize_t count = PySlice_AdjustIndices(length(self), &start, &stop, step);
  return {start, count};
}

PyObject* item(PyObject* self, Py_ssize_t index) {  // for iteration, where the end is an IndexError
  return guarded("UntypedStorage", [&] { return PyLong_FromLong(checked_bytes(self)[checked_index(self, index)]); });
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded("UntypedStorage.__getitem__", [&] {
    if (!PySlice_Check(key)) return PyLong_FromLong(checked_bytes(self)[checked_index(self, to_int(key, "index"))]);
    uint8_t* bytes = checked_writable_bytes(self);
    Range range = to_range(self, key);
    // A window on the same memory: it holds the storage that it looks into, whose bytes must stay where they are.
    storage_of(self)->set_resizable(false);
    Storage window = storage_over(bytes + range.start, static_cast<size_t>(range.count), self);
    return new_storage_object(&storage_type, std::move(window));
  });
}

int assign(PyObject* self, PyObject* key, PyObject* value) {
  PyObject* done = guarded("UntypedStorage.__setitem__", [&] {
    TAEDA_CHECK_TYPE(value, "bytes of a storage cannot be deleted");
    uint8_t* bytes = checked_writable_bytes(self);
    if (PySlice_Check(key)) {
      Range range = to_range(self, key);
      std::fill_n(bytes + range.start, range.count, to_byte(value));
    } else {
      bytes[checked_index(self, to_int(key, "index"))] = to_byte(value);
    }
    return Py_NewRef(Py_None);
  });
  Py_XDECREF(done);
  return done ? 0 : -1;
}

PyObject* tolist(PyObject* self, PyObject*) {
  return guarded("UntypedStorage.tolist", [&] {
    const uint8_t* bytes = checked_bytes(self);
    PyObject* list = check(PyList_New(length(self)));
    for (Py_ssize_t i = 0; i < length(self); ++i) PyList_SET_ITEM(list, i, PyLong_FromLong(bytes[i]));
    return list;
  });
}

PyObject* fill(PyObject* self, PyObject* value) {
  return guarded("UntypedStorage.fill_", [&] {
    uint8_t* bytes = checked_writable_bytes(self);
    std::fill_n(bytes, length(self), to_byte(value));
    return Py_NewRef(self);
  });
}

// --- whole storages
Tensor as_bytes(const Storage& storage) {
  const int64_t sizes[] = {static_cast<int64_t>(storage->nbytes())}, strides[] = {1};
  return from_storage(storage, DType::UInt8, sizes, strides, 0);
}

Storage copied_to(const Storage& from, Device device) {
  if (from->device().is_cpu() && device.is_cpu()) {
    Storage copy = new_storage(from->nbytes(), device);
    if (from->nbytes()) std::memcpy(copy->data(), from->data(), from->nbytes());
    return copy;
  }
  if (device.type == DeviceType::Meta) return new_storage(from->nbytes(), device);
  TAEDA_CHECK(hooks.to_device, "cannot copy from ", from->device(), " to ", device);
  return hooks.to_device(as_bytes(from), device)->storage();
}

PyObject* moved_to(PyObject* self, Device device) {
  const Storage& storage = storage_of(self);
  bool there = storage->device().type == device.type && (device.index < 0 || device == storage->device());
  return there ? Py_NewRef(self) : new_storage_object(&storage_type, copied_to(storage, device));
}
PyObject* cpu(PyObject* self, PyObject*) {
  return guarded("UntypedStorage.cpu", [&] { return moved_to(self, Device{}); });
}
PyObject* to(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("UntypedStorage.to", [&] {
    constexpr const char* kNames[] = {"device", "non_blocking"};
    PyObject* given[2];
    read_arguments(kNames, 1, args, count, names, given);
    return moved_to(self, to_device(given[0]));
  });
}

PyObject* clone(PyObject* self, PyObject*) {
  return guarded("UntypedStorage.clone", [&] {
    const Storage& storage = storage_of(self);
    return new_storage_object(&storage_type, copied_to(storage, storage->device()));
  });
}

PyObject* copy_from(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("UntypedStorage.copy_", [&] {
    constexpr const char* kNames[] = {"source", "non_blocking"};
    PyObject* given[2];
    read_arguments(kNames, 1, args, count, names, given);
    Storage source = to_storage(given[0]);
    const Storage& target = storage_of(self);
    TAEDA_CHECK(source->nbytes() == target->nbytes(), "the source holds ", source->nbytes(), " bytes, this storage ",
                target->nbytes());
    check_has_bytes(*target);
    target->materialize();
    if (!source->device().is_cpu()) source = copied_to(source, target->device());
    if (target->nbytes()) std::memmove(target->data(), source->data(), target->nbytes());
    return Py_NewRef(self);
  });
}

PyObject* resize(PyObject* self, PyObject* size) {
  return guarded("UntypedStorage.resize_", [&] {
    int64_t count = to_int(size, "size");
    TAEDA_CHECK(count >= 0, "'size' must not be negative; got ", count);
    storage_of(self)->resize(static_cast<size_t>(count));
    return Py_NewRef(self);
  });
}

void reverse_elements(uint8_t* bytes, size_t count, size_t width) {
  for (size_t i = 0; i + width <= count; i += width) std::reverse(bytes + i, bytes + i + width);
}
// Complex numbers are swapped part by part.
size_t swap_width(DType dtype) { return static_cast<size_t>(itemsize(is_complex(dtype) ? to_real(dtype) : dtype)); }

PyObject* byteswap(PyObject* self, PyObject* dtype) {
  return guarded("UntypedStorage.byteswap", [&] {
    uint8_t* bytes = checked_writable_bytes(self);
    size_t width = swap_width(to_dtype(dtype)), count = storage_of(self)->nbytes();
    TAEDA_CHECK(count % width == 0, count, " bytes are not a whole number of elements of ", width, " bytes");
    reverse_elements(bytes, count, width);
    return Py_NewRef(Py_None);
  });
}

// --- from_buffer
struct BufferView {
  Py_buffer view{};
  BufferView(PyObject* source, int flags) { check(PyObject_GetBuffer(source, &view, flags)); }
  ~BufferView() { PyBuffer_Release(&view); }
  BufferView(const BufferView&) = delete;
};

bool needs_swap(PyObject* order, DType dtype) {
  if (itemsize(dtype) == 1) return false;
  TAEDA_CHECK(order && order != Py_None, "'byte_order' is needed for elements of more than one byte");
  std::string_view text = to_text(order, "byte_order");
  TAEDA_CHECK_VALUE(text == "native" || text == "little" || text == "big",
                    "'byte_order' must be 'native', 'little' or 'big'; got '", text, "'");
  return text == (std::endian::native == std::endian::little ? "big" : "little");
}

PyObject* from_buffer(PyObject* cls, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded("UntypedStorage.from_buffer", [&] {
    constexpr const char* kNames[] = {"buffer", "byte_order", "count", "offset", "dtype"};
    PyObject* given[5];
    read_arguments(kNames, 1, args, nargs, names, given);
    TAEDA_CHECK(given[4] && given[4] != Py_None, "'dtype' is needed");
    DType dtype = to_dtype(given[4]);
    bool swap = needs_swap(given[1], dtype);
    int64_t count = given[2] ? to_int(given[2], "count") : -1, offset = given[3] ? to_int(given[3], "offset") : 0;
    BufferView buffer(given[0], PyBUF_SIMPLE);
    int64_t held = buffer.view.len, width = itemsize(dtype);
    TAEDA_CHECK_VALUE(offset >= 0 && offset <= held, "'offset' is ", offset, ", outside the buffer's ", held, " bytes");
    int64_t rest = held - offset;
    TAEDA_CHECK_VALUE(count >= 0 || rest % width == 0, "the ", rest, " bytes after 'offset' are not a whole number of ",
                      dtype, " elements");
    TAEDA_CHECK_VALUE(count <= rest / width, "'count' is ", count, "; the buffer holds ", rest / width, " elements");
    size_t nbytes = static_cast<size_t>((count < 0 ? rest / width : count) * width);
    Storage storage = new_storage(nbytes, Device{});
    if (nbytes) std::memcpy(storage->data(), static_cast<uint8_t*>(buffer.view.buf) + offset, nbytes);
    if (swap) reverse_elements(static_cast<uint8_t*>(storage->data()), nbytes, swap_width(dtype));
    return new_storage_object(reinterpret_cast<PyTypeObject*>(cls), std::move(storage));
  });
}

// --- protocols
int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  if (!storage_of(self)->device().is_cpu()) {
    PyErr_SetString(PyExc_BufferError, "taeda.UntypedStorage: only a storage on the CPU has a buffer");
    return -1;
  }
  try {
    int failed = PyBuffer_FillInfo(view, self, writable_bytes_of(self), length(self), 0, flags);
    if (!failed) storage_of(self)->lend();
    return failed;
  } catch (const std::exception& problem) {  // no memory for bytes of its own
    PyErr_SetString(PyExc_BufferError, problem.what());
    return -1;
  }
}

void release_buffer(PyObject* self, Py_buffer*) { storage_of(self)->take_back(); }

PyObject* reduce(PyObject* self, PyObject*) {
  return guarded("UntypedStorage.__reduce__", [&] {
    const char* bytes = reinterpret_cast<const char*>(checked_bytes(self));
    return Py_BuildValue("O(y#)", Py_TYPE(self), bytes ? bytes : "", length(self));
  });
}
PyObject* deepcopy(PyObject* self, PyObject* memo) {
  return guarded("UntypedStorage.__deepcopy__", [&] {
    Owned key(check(PyLong_FromVoidPtr(self)));
    if (PyObject* known = PyDict_Check(memo) ? PyDict_GetItemWithError(memo, key.get()) : nullptr)
      return Py_NewRef(known);
    Owned copy(check(clone(self, nullptr)));
    if (PyDict_Check(memo)) check(PyDict_SetItem(memo, key.get(), copy.get()));
    return copy.release();
  });
}

// A copy of the bytes, each as a number of a type.
constexpr const char* kConversions[] = {"float", "double", "half", "bfloat16", "long",          "int",
                                        "short", "char",   "byte", "bool",     "complex_float", "complex_double"};
template <size_t i>
PyObject* converted(PyObject* self, PyObject*) {
  return guarded(kConversions[i], [&] {
    Owned module(check(PyImport_ImportModule("taeda.storage")));
    return check(PyObject_CallMethod(module.get(), "_numbers_of", "Os", self, kConversions[i]));
  });
}

PyBufferProcs g_buffer{get_buffer, release_buffer};
PySequenceMethods g_sequence{};
PyMappingMethods g_mapping{length, subscript, assign};
PyGetSetDef g_getset[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                          {"device", get_device, nullptr, "Where the bytes are.", nullptr},
                          {"is_cuda", get_is_cuda, nullptr, "Whether the bytes are on a CUDA device.", nullptr},
                          {"filename", get_filename, nullptr, "The mapped file's path, or None.", nullptr},
                          {"_cdata", get_cdata, nullptr, nullptr, nullptr},
                          {}};
PyMethodDef g_methods[] = {
    {"nbytes", nbytes, METH_NOARGS, "nbytes($self)\n--\n\nThe number of bytes."},
    {"size", nbytes, METH_NOARGS, "size($self, dim=None)\n--\n\nThe number of bytes."},
    {"data_ptr", data_ptr, METH_NOARGS, "data_ptr($self)\n--\n\nThe first byte's address."},
    {"element_size", element_size, METH_NOARGS, "element_size($self)\n--\n\n1."},
    {"resizable", resizable, METH_NOARGS, "resizable($self)\n--\n\nWhether resize_ is possible."},
    {"is_pinned", is_pinned, METH_VARARGS, "is_pinned($self, device=None)\n--\n\nFalse: pageable memory."},
    {"untyped", identity, METH_NOARGS, "untyped($self)\n--\n\nself."},
    {"get_device", get_device_index, METH_NOARGS, "get_device($self)\n--\n\nThe device's index, -1 for the CPU."},
    {"type", type_name, METH_NOARGS, "type($self, dtype=None, non_blocking=False)\n--\n\nThe class's name in files."},
    {"tolist", tolist, METH_NOARGS, "tolist($self)\n--\n\nThe bytes as ints."},
    {"fill_", fill, METH_O, "fill_($self, value)\n--\n\nSets all bytes; returns self."},
    {"cpu", cpu, METH_NOARGS, "cpu($self)\n--\n\nThis storage, or a copy on the CPU."},
    {"to", as_method(to), METH_FASTCALL | METH_KEYWORDS,
     "to($self, *, device, non_blocking=False)\n--\n\nThis storage, or a copy on the device."},
    {"clone", clone, METH_NOARGS, "clone($self)\n--\n\nA copy."},
    {"copy_", as_method(copy_from), METH_FASTCALL | METH_KEYWORDS,
     "copy_($self, source, non_blocking=False)\n--\n\nTakes the bytes of another storage."},
    {"resize_", resize, METH_O, "resize_($self, size)\n--\n\nKeeps the first bytes; what is new is not initialised."},
    {"byteswap", byteswap, METH_O, "byteswap($self, dtype)\n--\n\nReverses the bytes of every element."},
    {"from_buffer", as_method(from_buffer), METH_FASTCALL | METH_KEYWORDS | METH_CLASS,
     "from_buffer($type, buffer, byte_order=None, count=-1, offset=0, dtype=None)\n--\n\nA copy of a buffer's "
     "elements."},
    {"_fix_weakref", nothing, METH_NOARGS, "_fix_weakref($self)\n--\n\nNothing: see Tensor._fix_weakref."},
    {kConversions[0], converted<0>, METH_NOARGS, nullptr},
    {kConversions[1], converted<1>, METH_NOARGS, nullptr},
    {kConversions[2], converted<2>, METH_NOARGS, nullptr},
    {kConversions[3], converted<3>, METH_NOARGS, nullptr},
    {kConversions[4], converted<4>, METH_NOARGS, nullptr},
    {kConversions[5], converted<5>, METH_NOARGS, nullptr},
    {kConversions[6], converted<6>, METH_NOARGS, nullptr},
    {kConversions[7], converted<7>, METH_NOARGS, nullptr},
    {kConversions[8], converted<8>, METH_NOARGS, nullptr},
    {kConversions[9], converted<9>, METH_NOARGS, nullptr},
    {kConversions[10], converted<10>, METH_NOARGS, nullptr},
    {kConversions[11], converted<11>, METH_NOARGS, nullptr},
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {"__copy__", clone, METH_NOARGS, nullptr},
    {"__deepcopy__", deepcopy, METH_O, nullptr},
    {}};

int add_methods(const PyMethodDef* methods) {
  PyTypeObject* type = &storage_base_type;
  for (; methods->ml_name; ++methods) {
    PyMethodDef* def = const_cast<PyMethodDef*>(methods);  // CPython's signature; it only keeps the pointer
    Owned descriptor(def->ml_flags & METH_CLASS ? PyDescr_NewClassMethod(type, def) : PyDescr_NewMethod(type, def));
    if (!descriptor || PyDict_SetItemString(type->tp_dict, def->ml_name, descriptor.get()) < 0) return -1;
  }
  PyType_Modified(type);
  return 0;
}
}  // namespace

PyObject* new_storage_object(PyTypeObject* type, Storage storage) {
  PyObject* self = check(type->tp_alloc(type, 0));
  StorageImpl* impl = storage.get();
  new (&reinterpret_cast<StorageObject*>(self)->storage) Storage(std::move(storage));
  impl->python_object = self;
  return self;
}

Storage storage_over(void* data, size_t nbytes, PyObject* owner) {
  return make_ref<StorageImpl>(DataPtr(data, Py_NewRef(owner), drop_owner, Device{DeviceType::CPU}), nbytes, false);
}

PyObject* wrap(const Storage& storage) {
  if (!storage) return Py_NewRef(Py_None);
  if (PyObject* object = static_cast<PyObject*>(storage->python_object)) {
    if (!std::exchange(storage->owns_python_object, false)) return Py_NewRef(object);
    storage->retain();
    return object;
  }
  return new_storage_object(&storage_type, storage);
}

bool is_storage(PyObject* object) { return PyObject_TypeCheck(object, &storage_base_type); }

Storage storage_argument(PyObject* object, std::optional<DType> wanted) {
  if (is_storage(object)) return storage_of(object);
  Owned untyped(PyObject_GetAttrString(object, "_untyped_storage"));
  if (!untyped) PyErr_Clear();
  if (!untyped || !is_storage(untyped.get())) return {};
  Owned dtype(check(PyObject_GetAttrString(object, "dtype")));
  DType held = to_dtype(dtype.get());
  TAEDA_CHECK(!wanted || held == *wanted, "the storage holds ", held, ", not ", *wanted,
              ": give its bytes with untyped(), or convert it with type(dtype)");
  return storage_of(untyped.get());
}

Storage to_storage(PyObject* object) {
  if (is_storage(object)) return storage_of(object);
  // taeda.TypedStorage and its kind
  Owned untyped(PyObject_GetAttrString(object, "_untyped_storage"));
  if (!untyped) PyErr_Clear();
  TAEDA_CHECK_TYPE(untyped && is_storage(untyped.get()), "expected a storage; got ", Py_TYPE(object)->tp_name);
  return storage_of(untyped.get());
}

int init_storage(PyObject* module) {
  g_sequence.sq_length = length;
  g_sequence.sq_item = item;
  PyTypeObject& base = storage_base_type;
  base.tp_doc = "StorageBase(size, *, device=None)\n--\n\nWhat classes of storages derive from.";
  base.tp_new = new_storage_from_python;
  base.tp_repr = repr;
  base.tp_as_buffer = &g_buffer;
  base.tp_as_sequence = &g_sequence;
  base.tp_as_mapping = &g_mapping;
  base.tp_methods = g_methods;
  base.tp_getset = g_getset;
  if (init_storage_life(module) < 0) return -1;
  storage_type.tp_base = &base;
  storage_type.tp_doc = "UntypedStorage(size or sequence, *, device=None)\n--\n\nThe bytes that tensors share.";
  storage_type.tp_flags |= Py_TPFLAGS_BASETYPE;
  if (add_type(module, storage_type) < 0) return -1;
  return add_methods(shared_memory_methods);
}

}  // namespace taeda::python
