// DLPack, both ways: https://dmlc.github.io/dlpack/latest/python_spec.html. The structs below are the standard's ABI.
#include <array>
#include <memory>

#include "python/member.h"
#include "python/storage_object.h"

namespace taeda::python {

namespace {
struct DLDevice {
  int32_t type;
  int32_t id;
};
struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null when contiguous
  uint64_t byte_offset;
};
struct Unversioned {
  DLTensor tensor;
  void* context;
  void (*deleter)(Unversioned*);
};
struct Versioned {
  struct {
    uint32_t major, minor;
  } version;
  void* context;
  void (*deleter)(Versioned*);
  uint64_t flags;
  DLTensor tensor;
};
constexpr uint64_t kReadOnly = 1, kIsCopied = 2;
constexpr uint32_t kMajor = 1, kMinor = 0;

template <class Managed>
constexpr const char* kName = nullptr;
template <>
constexpr const char* kName<Unversioned> = "dltensor";
template <>
constexpr const char* kName<Versioned> = "dltensor_versioned";
template <class Managed>
constexpr const char* kUsedName = nullptr;
template <>
constexpr const char* kUsedName<Unversioned> = "used_dltensor";
template <>
constexpr const char* kUsedName<Versioned> = "used_dltensor_versioned";

// --- the standard's numbers
enum : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBFloat = 4, kComplex = 5, kBool = 6 };
constexpr uint8_t kFloat8[] = {10, 11, 12, 13, 14};
static_assert(std::size(kFloat8) == kReadDTypes - kComputedDTypes - 1);  // complex32 comes after them
enum : int32_t { kCPU = 1, kCUDA = 2, kCUDAHost = 3 };

DLDataType to_dl(DType dtype) {
  auto bits = static_cast<uint8_t>(8 * info(dtype).size);
  if (dtype == DType::BFloat16) return {kBFloat, bits, 1};
  TAEDA_CHECK(static_cast<int>(dtype) < kReadDTypes, "DLPack has no number for ", dtype);
  if (is_stored_only(dtype) && dtype != DType::Complex32)
    return {kFloat8[static_cast<int>(dtype) - kComputedDTypes], bits, 1};
  switch (category(dtype)) {
    case Category::Bool:
      return {kBool, bits, 1};
    case Category::Integral:
      return {info(dtype).is_signed ? kInt : kUInt, bits, 1};
    case Category::Floating:
      return {kFloat, bits, 1};
    default:
      return {kComplex, bits, 1};
  }
}
DType from_dl(DLDataType wanted) {
  for (int i = 0; i < kReadDTypes; ++i) {
    DLDataType known = to_dl(static_cast<DType>(i));
    if (known.code == wanted.code && known.bits == wanted.bits && wanted.lanes == 1) return static_cast<DType>(i);
  }
  TAEDA_FAIL(Runtime, "no tensor has elements of DLPack's type code ", int{wanted.code}, " with ", int{wanted.bits},
             " bits and ", int{wanted.lanes}, " lanes");
}

DLDevice to_dl(Device device) {
  if (device.is_cpu()) return {kCPU, 0};
  TAEDA_CHECK_VALUE(device.type == DeviceType::CUDA, "DLPack has no number for the device ", device);
  return {kCUDA, std::max<int>(device.index, 0)};
}
Device from_dl(DLDevice device) {
  if (device.type == kCPU || device.type == kCUDAHost) return {DeviceType::CPU, -1};
  if (device.type == kCUDA) return {DeviceType::CUDA, static_cast<int8_t>(device.id)};
  TAEDA_FAIL(Runtime, "no tensor can be on DLPack's device type ", device.type);
}

[[noreturn]] void fail_buffer(const std::string& why) {
  PyErr_Format(PyExc_BufferError, "taeda.Tensor.__dlpack__: %s", why.c_str());
  throw PythonError();
}

// --- out
template <class Managed>
struct Export {
  Managed managed{};
  Tensor tensor;
};
template <class Managed>
void delete_export(Managed* managed) {
  delete static_cast<Export<Managed>*>(managed->context);
}
// Whoever takes the tensor renames the capsule; one that still has its first name was never used.
template <class Managed>
void drop_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, kName<Managed>)) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kName<Managed>));
  if (managed->deleter) managed->deleter(managed);
}

template <class Managed>
PyObject* make_capsule(const Tensor& t, bool copied) {
  auto exported = std::make_unique<Export<Managed>>();
  exported->tensor = Tensor(t->shallow_copy());
  const Tensor& kept = exported->tensor;
  prepare_write(kept);
  if (kept->storage()) kept->storage()->set_resizable(false);
  Managed& managed = exported->managed;
  managed.context = exported.get();
  managed.deleter = delete_export<Managed>;
  managed.tensor = {kept.data(),
                    to_dl(kept.device()),
                    static_cast<int32_t>(kept.dim()),
                    to_dl(kept.dtype()),
                    const_cast<int64_t*>(kept.sizes().data()),
                    const_cast<int64_t*>(kept.strides().data()),
                    0};
  if constexpr (std::is_same_v<Managed, Versioned>) {
    managed.version = {kMajor, kMinor};
    managed.flags = copied ? kIsCopied : 0;
  }
  PyObject* capsule = check(PyCapsule_New(&managed, kName<Managed>, drop_capsule<Managed>));
  exported.release();
  return capsule;
}

void check_exportable(const Tensor& t) {
  if (t.device().type != DeviceType::CPU && t.device().type != DeviceType::CUDA)
    fail_buffer(str("a tensor on ", t.device(), " cannot be exported"));
  if (hooks.requires_grad(t)) fail_buffer("a tensor that requires grad cannot be exported; use detach()");
  if (t->is_conj() || t->is_neg())
    fail_buffer("the tensor is lazily conjugated or negated; use resolve_conj() or resolve_neg()");
  if (t->layout() != Layout::Strided || !t->storage()) fail_buffer("only a strided tensor with memory can be exported");
}

bool is_given(PyObject* object) { return object && object != Py_None; }

bool wants_versioned(PyObject* max_version) {
  if (!is_given(max_version)) return false;
  Owned major(check(PySequence_GetItem(max_version, 0)));
  return to_int(major.get(), "max_version") >= kMajor;
}

Device wanted_device(PyObject* pair) {
  int type, id;
  if (!PyArg_ParseTuple(pair, "ii", &type, &id)) throw PythonError();
  return from_dl(DLDevice{type, id});
}

PyObject* to_dlpack(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  constexpr const char* kNames[] = {"stream", "max_version", "dl_device", "copy"};
  PyObject* given[4];
  read_arguments(kNames, 0, args, count, names, given, 0);
  Tensor t = unwrap(self);
  check_exportable(t);
  TAEDA_CHECK_TYPE(!is_given(given[0]) || PyLong_Check(given[0]), "'stream' must be an int or None; got ",
                   Py_TYPE(given[0])->tp_name);
  TAEDA_CHECK_KIND(Assertion, !t.is_cpu() || !is_given(given[0]),
                   "a tensor on the CPU has no stream; pass stream=None");
  bool copied = to_flag(given[3], false);
  if (is_given(given[2])) {
    Device device = wanted_device(given[2]);
    if (device.type != t.device().type) {
      TAEDA_CHECK_VALUE(given[3] != Py_False, "a tensor on ", t.device(), " cannot be exported to ", device,
                        " without a copy");
      TAEDA_CHECK_KIND(NotImplemented, hooks.to_device, "cannot copy to ", device);
      t = hooks.to_device(t, device);
      copied = true;
    }
  }
  if (copied && t.is(unwrap(self))) t = hooks.clone(t);
  return wants_versioned(given[1]) ? make_capsule<Versioned>(t, copied) : make_capsule<Unversioned>(t, copied);
}

PyObject* dlpack_device(PyObject* self) {
  DLDevice device = to_dl(unwrap(self).device());
  return Py_BuildValue("ii", device.type, device.id);
}

// --- in
template <class Managed>
void delete_import(void* context) {
  auto* managed = static_cast<Managed*>(context);
  if (!managed->deleter) return;
  WithGil gil;  // producers in Python drop references
  managed->deleter(managed);
}

template <class Managed>
Tensor take(PyObject* capsule) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kName<Managed>));
  if (!managed) throw PythonError();
  if constexpr (std::is_same_v<Managed, Versioned>)
    TAEDA_CHECK_KIND(Runtime, managed->version.major == kMajor, "the capsule follows DLPack ", managed->version.major,
                     ", this reader version ", kMajor);
  const DLTensor& source = managed->tensor;
  DType dtype = from_dl(source.dtype);
  Device device = from_dl(source.device);
  TAEDA_CHECK(source.ndim >= 0, "got ", source.ndim, " dimensions");
  TAEDA_CHECK(source.shape || source.ndim == 0, "the capsule has ", source.ndim, " dimensions, but no shape");
  IntList sizes(source.shape, static_cast<size_t>(source.ndim));
  std::vector<int64_t> strides = contiguous_strides(sizes);
  if (source.strides) strides.assign(source.strides, source.strides + source.ndim);
  int64_t nbytes = extent(sizes, strides, 0) * itemsize(dtype);
  TAEDA_CHECK(source.data || nbytes == 0, "the capsule has a tensor of shape ", sizes, ", but no memory");
  void* data = static_cast<char*>(source.data) + source.byte_offset;
  check(PyCapsule_SetName(capsule, kUsedName<Managed>));  // from here on the tensor is ours
  Storage storage =
      make_ref<StorageImpl>(DataPtr(data, managed, delete_import<Managed>, device), static_cast<size_t>(nbytes), false);
  return from_storage(std::move(storage), dtype, sizes, strides, 0);
}

Tensor take_any(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kName<Versioned>)) return take<Versioned>(capsule);
  TAEDA_CHECK(PyCapsule_IsValid(capsule, kName<Unversioned>),
              "takes an object with __dlpack__ or a capsule that nobody "
              "has used yet; got ",
              Py_TYPE(capsule)->tp_name);
  return take<Unversioned>(capsule);
}

// What the producer gives for the newest protocol that it knows.
Owned ask_capsule(PyObject* source, PyObject* device, PyObject* copy) {
  Owned method(check(PyObject_GetAttrString(source, "__dlpack__")));
  Owned none(check(PyTuple_New(0))), keywords(check(Py_BuildValue("{s:(ii)}", "max_version", 1, 0)));
  if (is_given(copy)) check(PyDict_SetItemString(keywords.get(), "copy", copy));
  if (is_given(device)) {
    DLDevice wanted = to_dl(to_device(device));
    Owned pair(check(Py_BuildValue("ii", wanted.type, wanted.id)));
    check(PyDict_SetItemString(keywords.get(), "dl_device", pair.get()));
  }
  PyObject* capsule = PyObject_Call(method.get(), none.get(), keywords.get());
  if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError) && !is_given(copy) && !is_given(device)) {
    PyErr_Clear();  // from before the versioned protocol
    capsule = PyObject_CallNoArgs(method.get());
  }
  return Owned(check(capsule));
}

PyObject* from_dlpack(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("from_dlpack", [&] {
    constexpr const char* kNames[] = {"ext_tensor", "device", "copy"};
    PyObject* given[3];
    read_arguments(kNames, 1, args, count, names, given, 1);
    if (!PyCapsule_CheckExact(given[0]) && PyObject_HasAttrString(given[0], "__dlpack__"))
      return wrap(take_any(ask_capsule(given[0], given[1], given[2]).get()));
    return wrap(take_any(given[0]));
  });
}
PyObject* to_dlpack_function(PyObject*, PyObject* object) {
  return guarded("utils.dlpack.to_dlpack", [&] {
    TAEDA_CHECK_TYPE(is_tensor(object), "takes a tensor; got ", Py_TYPE(object)->tp_name);
    return to_dlpack(object, nullptr, 0, nullptr);
  });
}

PyMethodDef g_functions[] = {
    {"from_dlpack", as_method(from_dlpack), METH_FASTCALL | METH_KEYWORDS,
     "from_dlpack(ext_tensor, *, device=None, copy=None)\n--\n\nA tensor over the memory of another library's."},
    {"_to_dlpack", to_dlpack_function, METH_O, "_to_dlpack(tensor)\n--\n\nAn unversioned capsule."},
    {}};
}  // namespace

PyMethodDef dlpack_methods[] = {
    method<to_dlpack, "__dlpack__">(nullptr), method<dlpack_device, "__dlpack_device__">(nullptr), {}};

int init_dlpack(PyObject* module) { return PyModule_AddFunctions(module, g_functions); }

}  // namespace taeda::python
