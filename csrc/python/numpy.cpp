// NumPy arrays and other buffers. NumPy's headers are not needed: its arrays describe themselves in a C struct behind
// __array_struct__, and it reads ours through the buffer protocol. NumPy itself is loaded on first use.
#include <array>
#include <memory>

#include "python/manual/factories.h"
#include "python/member.h"
#include "python/op_objects.h"
#include "python/storage_object.h"
#include "taeda/core/thread_state.h"

namespace taeda::python {

namespace {
// The array interface protocol, version 3.
struct ArrayInterface {
  int two;
  int nd;
  char typekind;
  int itemsize;
  int flags;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  void* data;
  PyObject* descr;
};
constexpr int kNativeOrder = 0x200, kWriteable = 0x400;

struct Numpy {
  PyObject* asarray;
  PyTypeObject* ndarray;
};
const Numpy& numpy() {
  static Numpy loaded{};
  if (!loaded.ndarray) {
    Owned module(check(PyImport_ImportModule("numpy")));
    loaded.asarray = check(PyObject_GetAttrString(module.get(), "asarray"));
    loaded.ndarray = reinterpret_cast<PyTypeObject*>(check(PyObject_GetAttrString(module.get(), "ndarray")));
  }
  return loaded;
}

// --- element types: NumPy's kind letter, and the buffer protocol's format
char kind_of(DType dtype) {
  switch (category(dtype)) {
    case Category::Bool:
      return 'b';
    case Category::Integral:
      return is_stored_only(dtype) ? '\0' : info(dtype).is_signed ? 'i' : 'u';
    case Category::Floating:
      return dtype == DType::BFloat16 || is_stored_only(dtype) ? '\0' : 'f';
    default:
      return is_stored_only(dtype) ? '\0' : 'c';
  }
}
DType dtype_from(char kind, int itemsize) {
  for (int i = 0; i < kDTypes; ++i) {
    DType dtype = static_cast<DType>(i);
    if (kind_of(dtype) == kind && info(dtype).size == itemsize) return dtype;
  }
  return DType::Undefined;
}

const char* format_of(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return "?";
    case DType::UInt8:
      return "B";
    case DType::Int8:
      return "b";
    case DType::Int16:
      return "h";
    case DType::UInt16:
      return "H";
    case DType::Int32:
      return "i";
    case DType::UInt32:
      return "I";
    case DType::Int64:
      return sizeof(long) == 8 ? "l" : "q";
    case DType::UInt64:
      return sizeof(long) == 8 ? "L" : "Q";
    case DType::Float16:
      return "e";
    case DType::Float32:
      return "f";
    case DType::Float64:
      return "d";
    case DType::Complex64:
      return "Zf";
    case DType::Complex128:
      return "Zd";
    default:
      return nullptr;
  }
}

// --- to NumPy

// The memory is now known outside: it must stay where it is.
void pin_down(const Tensor& t) {
  if (t->storage()) t->storage()->set_resizable(false);
}

Tensor checked_for_numpy(const Tensor& given, bool force) {
  Tensor t = given;
  if ((force || !t_state.grad_mode) && hooks.requires_grad(t)) t = hooks.detach(t);
  if (force && (!t.is_cpu() || t->is_conj() || t->is_neg())) t = readable(t);
  TAEDA_CHECK(!hooks.requires_grad(t), "a tensor that requires grad has no array; use t.detach().numpy()");
  TAEDA_CHECK_TYPE(t.is_cpu(), "only a tensor on the CPU has an array, this one is on ", t.device(),
                   "; use t.cpu().numpy()");
  TAEDA_CHECK_TYPE(t->layout() == Layout::Strided, "only a strided tensor has an array; use t.to_dense().numpy()");
  TAEDA_CHECK(t->storage() || t.numel() == 0, "only a tensor with memory of its own has an array");
  TAEDA_CHECK_VALUE(t.dim() <= kMaxDim, "an array has at most ", kMaxDim, " dimensions, this tensor ", t.dim(),
                    "; use t.squeeze().numpy()");
  TAEDA_CHECK(!t->is_conj(), "the tensor is lazily conjugated; use t.resolve_conj().numpy()");
  TAEDA_CHECK(!t->is_neg(), "the tensor is lazily negated; use t.resolve_neg().numpy()");
  TAEDA_CHECK_TYPE(kind_of(t.dtype()), "NumPy has no ", t.dtype(), "; convert first, e.g. with t.float()");
  return t;
}

PyObject* to_numpy(const Tensor& given, bool force) {
  Tensor t = checked_for_numpy(given, force);
  // asarray() reads the tensor's buffer, which is twice as quick as any other protocol. A subclass may have an
  // __array__ that leads back here, so it is shown a plain alias.
  auto* known = static_cast<PyObject*>(t->python_object);
  Owned shown(wrap(known && !is_plain_tensor(known) ? Tensor(t->shallow_copy()) : t));
  return PyObject_CallOneArg(numpy().asarray, shown.get());
}

PyObject* numpy_method(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (count == 0 && !names) return to_numpy(unwrap(self), false);
  constexpr const char* kNames[] = {"force"};
  PyObject* force;
  read_arguments(kNames, 0, args, count, names, &force, 0);
  return to_numpy(unwrap(self), to_flag(force, false));
}

PyObject* array_method(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  constexpr const char* kNames[] = {"dtype", "copy"};
  PyObject* given[2];
  read_arguments(kNames, 0, args, count, names, given);
  Owned array(check(to_numpy(unwrap(self), false)));
  bool must_copy = to_flag(given[1], false);
  if (given[0] && given[0] != Py_None) {
    Owned astype(check(PyObject_GetAttrString(array.get(), "astype")));
    Owned arguments(check(PyTuple_Pack(1, given[0])));
    Owned keywords(check(Py_BuildValue("{s:O}", "copy", must_copy ? Py_True : Py_False)));
    Owned converted(check(PyObject_Call(astype.get(), arguments.get(), keywords.get())));
    TAEDA_CHECK_VALUE(given[1] != Py_False || converted.get() == array.get(),
                      "another dtype cannot be had without a copy");
    return converted.release();
  }
  return must_copy ? PyObject_CallMethod(array.get(), "copy", nullptr) : array.release();
}

// --- from NumPy
Tensor over_memory(void* data, DType dtype, IntList sizes, IntList strides, PyObject* owner) {
  int64_t nbytes = extent(sizes, strides, 0) * itemsize(dtype);
  return from_storage(storage_over(data, static_cast<size_t>(nbytes), owner), dtype, sizes, strides, 0);
}

void warn_read_only() {
  check(PyErr_WarnEx(PyExc_UserWarning,
                     "taeda: the given memory is read-only, which tensors do not know: writing to this tensor is "
                     "undefined; pass a copy, or do not write",
                     1));
}

DType checked_dtype(const ArrayInterface& array) {
  TAEDA_CHECK_VALUE(
      array.flags & kNativeOrder,
      "the array's byte order is not the machine's; convert with array.astype(array.dtype.newbyteorder('='))");
  DType dtype = dtype_from(array.typekind, array.itemsize);
  TAEDA_CHECK_TYPE(
      dtype != DType::Undefined, "no tensor has elements of NumPy's kind '", std::string_view(&array.typekind, 1),
      "' with ", array.itemsize,
      " bytes; supported are bool, int8 to int64, uint8 to uint64, float16 to float64, complex64, complex128");
  return dtype;
}

}  // namespace

Tensor over_array(PyObject* object, bool will_be_copied) {
  TAEDA_CHECK_TYPE(PyObject_TypeCheck(object, numpy().ndarray), "takes a numpy.ndarray; got ",
                   Py_TYPE(object)->tp_name);
  Owned capsule(check(PyObject_GetAttrString(object, "__array_struct__")));
  auto* array = static_cast<ArrayInterface*>(PyCapsule_GetPointer(capsule.get(), nullptr));
  if (!array) throw PythonError();
  DType dtype = checked_dtype(*array);
  std::array<int64_t, kMaxDim> sizes, strides;
  for (int i = 0; i < array->nd; ++i) {
    auto at = static_cast<size_t>(i);
    TAEDA_CHECK_VALUE(array->strides[i] >= 0,
                      "the array has a negative stride, which tensors cannot have; pass array.copy()");
    TAEDA_CHECK_VALUE(array->strides[i] % array->itemsize == 0, "the stride of ", array->strides[i],
                      " bytes is not a whole number of elements; pass array.copy()");
    sizes[at] = array->shape[i];
    strides[at] = array->strides[i] / array->itemsize;
  }
  if (!will_be_copied && !(array->flags & kWriteable)) warn_read_only();
  auto n = static_cast<size_t>(array->nd);
  return over_memory(array->data, dtype, {sizes.data(), n}, {strides.data(), n}, object);
}

namespace {

PyObject* from_numpy(PyObject*, PyObject* object) {
  return guarded("from_numpy", [&] { return wrap(shown_to_modes(over_array(object, false))); });
}

// --- frombuffer
void release_view(void* context) {
  if (!Py_IsInitialized()) return;
  WithGil gil;
  std::unique_ptr<Py_buffer> view(static_cast<Py_buffer*>(context));
  PyBuffer_Release(view.get());
}

struct ViewRelease {
  void operator()(Py_buffer* view) const { release_view(view); }
};
using View = std::unique_ptr<Py_buffer, ViewRelease>;

View open_view(PyObject* source) {
  auto view = std::make_unique<Py_buffer>();
  TAEDA_CHECK_VALUE(PyObject_CheckBuffer(source), "takes an object with a buffer; got ", Py_TYPE(source)->tp_name);
  if (PyObject_GetBuffer(source, view.get(), PyBUF_WRITABLE) < 0) {
    PyErr_Clear();
    check(PyObject_GetBuffer(source, view.get(), PyBUF_SIMPLE));
  }
  View open(view.release());
  if (open->readonly) warn_read_only();
  return open;
}

int64_t elements_in(const Py_buffer& view, int64_t offset, int64_t count, int64_t width) {
  int64_t rest = view.len - offset;
  TAEDA_CHECK_VALUE(view.len > 0 && count != 0, "needs at least one element; got ", view.len, " bytes and count ",
                    count);
  TAEDA_CHECK_VALUE(offset >= 0 && rest > 0, "'offset' is ", offset, ", outside the buffer's ", view.len, " bytes");
  TAEDA_CHECK_VALUE(count > 0 || rest % width == 0, "the ", rest, " bytes after 'offset' are not a whole number of ",
                    width, "-byte elements");
  TAEDA_CHECK_VALUE(count <= rest / width, "'count' is ", count, "; the buffer holds ", rest / width, " elements");
  return count > 0 ? count : rest / width;
}

PyObject* frombuffer(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded("frombuffer", [&] {
    constexpr const char* kNames[] = {"buffer", "dtype", "count", "offset", "requires_grad"};
    PyObject* given[5];
    read_arguments(kNames, 2, args, nargs, names, given, 1);
    DType dtype = to_dtype(given[1]);
    int64_t count = given[2] ? to_int(given[2], "count") : -1, offset = given[3] ? to_int(given[3], "offset") : 0;
    bool requires_grad = to_flag(given[4], false);
    TAEDA_CHECK(!requires_grad || is_differentiable(dtype),
                "only floating-point and complex tensors can require gradients");
    View view = open_view(given[0]);
    const int64_t sizes[] = {elements_in(*view, offset, count, itemsize(dtype))}, strides[] = {1};
    char* data = static_cast<char*>(view->buf) + offset;
    DataPtr memory(data, view.release(), release_view, Device{DeviceType::CPU});
    auto nbytes = static_cast<size_t>(sizes[0] * itemsize(dtype));
    Tensor t = from_storage(make_ref<StorageImpl>(std::move(memory), nbytes, false), dtype, sizes, strides, 0);
    if (requires_grad) hooks.set_requires_grad(t, true);
    return wrap(std::move(t));
  });
}

// --- the buffer of a tensor: memoryview(t)
static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
Py_ssize_t* as_ssize(const int64_t* values) { return reinterpret_cast<Py_ssize_t*>(const_cast<int64_t*>(values)); }

struct Exported {
  Tensor tensor;
  Py_ssize_t strides[kMaxDim];
};

bool overrides_array(PyObject* self) {
  if (is_plain_tensor(self)) return false;
  Owned own(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(self)), "__array__"));
  Owned inherited(PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), "__array__"));
  return own.get() != inherited.get();
}

// Whether the first dimension runs fastest, without gaps.
bool is_fortran_contiguous(const Tensor& t) {
  int64_t expected = 1;
  for (int64_t i = 0; i < t.dim(); ++i) {
    if (t.sizes()[i] != 1 && t.strides()[i] != expected) return false;
    expected *= t.sizes()[i];
  }
  return true;
}

// Whether who asked with these flags reads the memory right: without strides he takes it for contiguous.
bool fits_flags(const Tensor& t, int flags) {
  auto asks = [flags](int wanted) { return (flags & wanted) == wanted; };
  if (t.numel() == 0) return true;
  if (asks(PyBUF_F_CONTIGUOUS)) return is_fortran_contiguous(t);
  if (asks(PyBUF_ANY_CONTIGUOUS)) return t.is_contiguous() || is_fortran_contiguous(t);
  return t.is_contiguous() || (asks(PyBUF_STRIDES) && !asks(PyBUF_C_CONTIGUOUS));
}

const char* reason_against_buffer(PyObject* self, int flags) {
  const Tensor& t = unwrap(self);
  if (overrides_array(self)) return "its class has an __array__ of its own";
  if (!t.is_cpu() || !t->storage() || t->layout() != Layout::Strided) return "it has no memory on the CPU";
  if (t.dim() > kMaxDim) return "it has more dimensions than a buffer may";
  if (t->is_conj() || t->is_neg()) return "it is lazily conjugated or negated";
  if (hooks.requires_grad(t)) return "it requires grad; use detach()";
  if (!format_of(t.dtype())) return "the buffer protocol has no such dtype";
  if (!fits_flags(t, flags)) return "it is not contiguous, as was asked; use contiguous()";
  return nullptr;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  if (const char* reason = reason_against_buffer(self, flags)) {
    PyErr_Format(PyExc_BufferError, "taeda.Tensor: this tensor has no buffer: %s", reason);
    return -1;
  }
  auto* exported = new (std::nothrow) Exported{Tensor(unwrap(self)->shallow_copy()), {}};
  if (!exported) {
    PyErr_NoMemory();
    return -1;
  }
  const Tensor& t = exported->tensor;
  prepare_write(t);
  pin_down(t);
  for (int64_t i = 0; i < t.dim(); ++i) {
    Py_ssize_t& bytes = exported->strides[i];
    // Only where no second element lies along the dimension may a stride be beyond the numbers.
    if (__builtin_mul_overflow(t.strides()[i], t.itemsize(), &bytes)) bytes = 0;
  }
  *view = {};
  view->buf = t.data();
  view->obj = Py_NewRef(self);
  view->len = t.numel() * t.itemsize();
  view->itemsize = t.itemsize();
  view->ndim = static_cast<int>(t.dim());
  view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format_of(t.dtype())) : nullptr;
  view->shape = flags & PyBUF_ND ? as_ssize(t.sizes().data()) : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? exported->strides : nullptr;
  view->internal = exported;
  return 0;
}
void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<Exported*>(view->internal); }

PyMethodDef g_functions[] = {
    {"from_numpy", from_numpy, METH_O,
     "from_numpy(ndarray)\n--\n\nA tensor over an array's memory; writes are seen on both sides."},
    {"frombuffer", as_method(frombuffer), METH_FASTCALL | METH_KEYWORDS,
     "frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False)\n--\n\nA 1-d tensor over an object's "
     "buffer."},
    {}};
}  // namespace

PyBufferProcs tensor_buffer{get_buffer, release_buffer};

PyMethodDef numpy_methods[] = {
    method<numpy_method, "numpy">("numpy($self, *, force=False)\n--\n\nThe tensor as an array over the same memory."),
    method<array_method, "__array__">(nullptr),
    {}};

int init_numpy(PyObject* module) { return PyModule_AddFunctions(module, g_functions); }

}  // namespace taeda::python
