// Tensor's dtype methods (x.float(), x.cpu()), its transposes and parts as attributes, and set_ with a storage.
#include "python/bound.h"
#include "python/member.h"
#include "python/module_parts.h"
#include "python/storage_object.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view_inplace.h"

namespace taeda::python {
namespace {

// --- x.float(memory_format=...), x.cpu(memory_format=...)

std::optional<MemoryFormat> read_format(PyObject* object) {
  return object && object != Py_None ? std::make_optional(to_memory_format(object)) : std::nullopt;
}

template <DType dtype>
PyObject* as_dtype(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const Tensor& t = unwrap(self);
  std::optional<MemoryFormat> format;
  if (count > 0 || names) {
    constexpr const char* kNames[] = {"memory_format"};
    PyObject* object;
    read_arguments(kNames, 0, args, count, names, &object);
    format = read_format(object);
  }
  Tensor result = ops::to(t, dtype, false, false, format);
  return result.is(t) ? Py_NewRef(self) : wrap(std::move(result));
}

PyObject* cpu(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  constexpr const char* kNames[] = {"memory_format"};
  PyObject* format;
  read_arguments(kNames, 0, args, count, names, &format);
  Tensor result =
      ops::to(unwrap(self), std::optional(Device{DeviceType::CPU}), std::nullopt, false, false, read_format(format));
  return result.is(unwrap(self)) ? Py_NewRef(self) : wrap(std::move(result));
}

PyObject* cuda(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  constexpr const char* kNames[] = {"device", "non_blocking", "memory_format"};
  PyObject* out[3];
  read_arguments(kNames, 0, args, count, names, out);
  Device device{DeviceType::CUDA};
  if (out[0] && out[0] != Py_None) device = to_place(out[0]);
  TAEDA_CHECK(device.type == DeviceType::CUDA, "takes a CUDA device; got ", device, " (to() takes any)");
  return wrap(
      ops::to(unwrap(self), std::optional(device), std::nullopt, to_flag(out[1], false), false, read_format(out[2])));
}

// --- set_

PyObject* set(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  constexpr const char* kNames[] = {"source", "storage_offset", "size", "stride"};
  PyObject* out[4];
  Storage storage;
  if (count > 0 || names) {
    read_arguments(kNames, 0, args, count, names, out);
    if (out[0]) storage = storage_argument(out[0], unwrap(self).dtype());
  }
  if (!storage) return parse_method(bound::set__name, self, args, count, names);  // from a tensor, or from nothing
  const Tensor& t = unwrap(self);
  TAEDA_CHECK(storage->device() == t.device(), "the storage is on ", storage->device(), ", but the tensor is on ",
              t.device());
  int64_t length = static_cast<int64_t>(storage->nbytes()) / t.itemsize(), step = 1;
  int64_t offset = out[1] ? to_int(out[1], "storage_offset") : 0;
  std::vector<int64_t> size = out[2] ? to_sizes(out[2], "size") : std::vector<int64_t>{length - offset};
  std::vector<int64_t> stride = out[3] ? to_sizes(out[3], "stride") : std::vector<int64_t>();
  Tensor source = from_storage(std::move(storage), t.dtype(), IntList(&length, 1), IntList(&step, 1), 0);
  ops::set_(t, source, offset, size, stride);
  return Py_NewRef(self);
}

PyMethodDef conversion_methods[] = {
    method<as_dtype<DType::Float32>, "float">("float($self, memory_format=None)\n--\n\nAs float32."),
    method<as_dtype<DType::Float64>, "double">("double($self, memory_format=None)\n--\n\nAs float64."),
    method<as_dtype<DType::Float16>, "half">("half($self, memory_format=None)\n--\n\nAs float16."),
    method<as_dtype<DType::BFloat16>, "bfloat16">("bfloat16($self, memory_format=None)\n--\n\nAs bfloat16."),
    method<as_dtype<DType::Int8>, "char">("char($self, memory_format=None)\n--\n\nAs int8."),
    method<as_dtype<DType::UInt8>, "byte">("byte($self, memory_format=None)\n--\n\nAs uint8."),
    method<as_dtype<DType::Int16>, "short">("short($self, memory_format=None)\n--\n\nAs int16."),
    method<as_dtype<DType::Int32>, "int">("int($self, memory_format=None)\n--\n\nAs int32."),
    method<as_dtype<DType::Int64>, "long">("long($self, memory_format=None)\n--\n\nAs int64."),
    method<as_dtype<DType::Bool>, "bool">("bool($self, memory_format=None)\n--\n\nAs bool: whether not zero."),
    method<as_dtype<DType::Complex64>, "cfloat">("cfloat($self, memory_format=None)\n--\n\nAs complex64."),
    method<as_dtype<DType::Complex128>, "cdouble">("cdouble($self, memory_format=None)\n--\n\nAs complex128."),
    method<as_dtype<DType::Complex32>, "chalf">("chalf($self, memory_format=None)\n--\n\nAs complex32."),
    method<cpu, "cpu">("cpu($self, memory_format=None)\n--\n\nIn the computer's own memory."),
    method<cuda, "cuda">("cuda($self, device=None, non_blocking=False, memory_format=None)\n--\n\nOn a GPU."),
    method<set, "set_">(
        "set_(source=None, storage_offset=0, size=None, stride=None)\n--\n\nBecomes a window on the storage, or "
        "that of the tensor, ``source``."),
    {}};

// --- attributes

PyObject* transposed(const Tensor& t) { return wrap(ops::numpy_T(t)); }
PyObject* matrices_transposed(const Tensor& t) { return wrap(ops::mT(t)); }
PyObject* conjugate_transposed(const Tensor& t) { return wrap(ops::matrix_H(t)); }
PyObject* matrices_conjugate_transposed(const Tensor& t) { return wrap(ops::mH(t)); }
PyObject* real_part(const Tensor& t) { return wrap(ops::real(t)); }
PyObject* imaginary_part(const Tensor& t) { return wrap(ops::imag(t)); }

template <Tensor (*part)(const Tensor&), Text name>
int set_part(PyObject* self, PyObject* value, void*) {
  PyObject* done = guarded(name.chars, [&] {
    TAEDA_CHECK_TYPE(value, "the part of a tensor cannot be deleted");
    Tensor target = part(unwrap(self));
    Scalar number;
    if (is_tensor(value)) {
      ops::copy_(target, unwrap(value));
    } else {
      TAEDA_CHECK_TYPE(read_scalar(value, number), "takes a tensor or a number, got ", Py_TYPE(value)->tp_name);
      ops::fill_(target, number);
    }
    return Py_NewRef(Py_None);
  });
  Py_XDECREF(done);
  return done ? 0 : -1;
}

Tensor real_of(const Tensor& t) { return ops::real(t); }
Tensor imag_of(const Tensor& t) { return ops::imag(t); }

PyGetSetDef conversion_getset[] = {
    property<transposed, "T">("The dimensions in reverse order."),
    property<matrices_transposed, "mT">("The last two dimensions swapped."),
    property<conjugate_transposed, "H">("The conjugate transpose of a matrix."),
    property<matrices_conjugate_transposed, "mH">("The conjugate, the last two dimensions swapped."),
    {"real", getter<real_part, "real">, set_part<real_of, "real">, "The real parts, as a view.", nullptr},
    {"imag", getter<imaginary_part, "imag">, set_part<imag_of, "imag">, "The imaginary parts, as a view.", nullptr},
    {}};

}  // namespace

void add_conversions() {
  add_tensor_methods(conversion_methods);
  add_tensor_getset(conversion_getset);
}

}  // namespace taeda::python
