// A tensor's elements as Python numbers.
#include "core/elements.h"
#include "core/load.h"
#include "python/member.h"
#include "taeda/autograd/meta.h"
#include "taeda/core/thread_state.h"
#include "taeda/core/warn.h"
#include "taeda/ops/copy.h"

namespace taeda::python {

Tensor readable(const Tensor& tensor) {
  Tensor result = tensor;
  if (!result.is_cpu() || !result->storage() || result.keys().has(Functionality::Python)) {
    TAEDA_CHECK_KIND(NotImplemented, hooks.to_device && result.device().type != DeviceType::Meta, "a tensor on ",
                     result.device(), " has no elements that could be read");
    result = hooks.to_device(result, Device{});
  }
  elements<char>(result);  // raises if there are none
  if (result->is_conj() || result->is_neg()) result = hooks.resolve(result);
  return result;
}

namespace {
// Whether an op reads an element: for a class with __torch_dispatch__ or a trace of this thread, which want to hear of
// it, and of a quantised tensor.
bool is_watched(const Tensor& t) {
  return t.keys().has(Functionality::Python) || t.keys().has(Functionality::Quantized) ||
         t_state.include.has(Functionality::Tracer);
}

PyObject* only_number(const Tensor& t) {
  if (is_watched(t) || t->layout() != Layout::Strided) return check(wrap(ops::_local_scalar_dense(t)));
  Tensor here = readable(t);
  return check(number_at(here.dtype(), here.data()));
}

PyObject* item(PyObject* self) {
  const Tensor& t = unwrap(self);
  TAEDA_CHECK(t.numel() == 1, "needs a tensor of one element; this one has ", t.numel(), ", its shape is ", t.sizes());
  return only_number(t);
}

// --- tolist
template <class T>
PyObject* list_of(const char* data, DType dtype, IntList sizes, IntList strides, int64_t width) {
  if (sizes.empty()) return number_at(dtype, data);
  Owned list(check(PyList_New(sizes[0])));
  for (int64_t i = 0; i < sizes[0]; ++i) {
    const char* row = data + i * strides[0] * width;
    PyObject* entry;
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>)
      entry = sizes.size() == 1 ? PyFloat_FromDouble(*reinterpret_cast<const T*>(row)) : nullptr;
    else if constexpr (std::is_same_v<T, int64_t>)
      entry = sizes.size() == 1 ? PyLong_FromLongLong(*reinterpret_cast<const T*>(row)) : nullptr;
    else
      entry = nullptr;
    if (!entry) entry = check(list_of<T>(row, dtype, sizes.subspan(1), strides.subspan(1), width));
    PyList_SET_ITEM(list.get(), i, entry);
  }
  return list.release();
}

PyObject* tolist(PyObject* self) {
  Tensor t = readable(unwrap(self));
  const char* data = static_cast<const char*>(t.data());
  switch (t.dtype()) {  // the common element types without a second switch per element
    case DType::Float32:
      return list_of<float>(data, t.dtype(), t.sizes(), t.strides(), 4);
    case DType::Float64:
      return list_of<double>(data, t.dtype(), t.sizes(), t.strides(), 8);
    case DType::Int64:
      return list_of<int64_t>(data, t.dtype(), t.sizes(), t.strides(), 8);
    default:
      return list_of<void>(data, t.dtype(), t.sizes(), t.strides(), t.itemsize());
  }
}

// --- conversions
PyObject* one_number(PyObject* self) {
  const Tensor& t = unwrap(self);
  TAEDA_CHECK_VALUE(t.numel() == 1, "only a tensor of one element becomes a Python number; this one has ", t.numel());
  return only_number(t);
}

// Drops an imaginary part of zero.
Owned real_number(PyObject* self) {
  Owned number(one_number(self));
  if (!PyComplex_Check(number.get())) return number;
  Py_complex value = PyComplex_AsCComplex(number.get());
  TAEDA_CHECK(value.imag == 0, "a complex number with an imaginary part is no real number");
  return Owned(check(PyFloat_FromDouble(value.real)));
}

PyObject* to_int_object(PyObject* self) { return PyNumber_Long(real_number(self).get()); }
void warn_of_lost_gradient(PyObject* self) {
  if (autograd::requires_grad(unwrap(self)))
    warn("a tensor that requires grad becomes a Python number, through which no gradient flows; detach() says so");
}
PyObject* to_float_object(PyObject* self) {
  warn_of_lost_gradient(self);
  return PyNumber_Float(real_number(self).get());
}
PyObject* to_complex_object(PyObject* self) {
  warn_of_lost_gradient(self);
  Owned number(one_number(self));
  if (PyComplex_Check(number.get())) return number.release();
  double real = PyFloat_AsDouble(number.get());
  if (real == -1 && PyErr_Occurred()) throw PythonError();
  return PyComplex_FromDoubles(real, 0);
}
PyObject* to_index(PyObject* self) {
  const Tensor& t = unwrap(self);
  TAEDA_CHECK_TYPE(t.numel() == 1 && !is_differentiable(t.dtype()),
                   "only an integral tensor of one element is an index; got ", t.dtype(), " of shape ", t.sizes());
  return PyNumber_Long(Owned(one_number(self)).get());
}

PyObject* to_bool_object(PyObject* self) {
  const Tensor& t = unwrap(self);
  TAEDA_CHECK(t.numel() == 1, "the truth of a tensor of ", t.numel(),
              " elements is ambiguous; use any(), all() or numel()");
  if (is_watched(t) || t->layout() != Layout::Strided) return PyBool_FromLong(ops::_local_scalar_dense(t).to<bool>());
  Tensor here = readable(t);
  bool value = visit_stored(t.dtype(), [&]<class T>() { return convert<bool>(load<T>(here->data())); });
  return PyBool_FromLong(value);
}

int truth(PyObject* self) {
  PyObject* value = no_arguments<to_bool_object, "__bool__">(self, nullptr);
  if (!value) return -1;
  Owned held(value);
  if (PyBool_Check(value)) return value == Py_True;
  PyErr_Format(PyExc_TypeError, "__bool__ must give a bool; it gave one of type %s", Py_TYPE(value)->tp_name);
  return -1;
}
// As elements are listed, although a tensor also has a buffer.
PyObject* to_bytes(PyObject* self) {
  const Tensor& t = unwrap(self);
  if (t.dim() == 0) {
    Owned count(to_index(self));
    Py_ssize_t n = PyNumber_AsSsize_t(count.get(), PyExc_OverflowError);
    if (n == -1 && PyErr_Occurred()) throw PythonError();
    TAEDA_CHECK_VALUE(n >= 0, "a negative count of bytes: ", n);
    return PyBytes_FromStringAndSize(std::string(static_cast<size_t>(n), '\0').c_str(), n);
  }
  return PyBytes_FromObject(Owned(check(tolist(self))).get());
}

template <PyObject* (*body)(PyObject*), Text name>
PyObject* unary(PyObject* self) {
  return no_arguments<body, name>(self, nullptr);
}
}  // namespace

PyNumberMethods tensor_number = [] {
  PyNumberMethods slots{};
  slots.nb_bool = truth;
  slots.nb_int = unary<to_int_object, "__int__">;
  slots.nb_float = unary<to_float_object, "__float__">;
  slots.nb_index = unary<to_index, "__index__">;
  return slots;
}();

PyMethodDef value_methods[] = {
    method<item, "item">("item($self)\n--\n\nThe element of a one-element tensor as a Python number."),
    method<tolist, "tolist">(
        "tolist($self)\n--\n\nThe elements as nested lists of Python numbers; of a 0-d tensor the number."),
    method<to_complex_object, "__complex__">("__complex__($self)\n--\n\nThe element as a complex number."),
    method<to_bytes, "__bytes__">(nullptr),
    {}};

}  // namespace taeda::python
