// taeda.tensor, as_tensor and the Tensor constructor.
#include "python/manual/factories.h"
#include "python/items.h"

#include "python/convert_value.h"
#include "python/member.h"
#include "python/module_parts.h"
#include "python/op_objects.h"
#include "python/parser.h"
#include "python/types.h"
#include "taeda/core/thread_state.h"
#include "taeda/core/warn.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/view.h"

namespace taeda::python {
namespace {

bool is_number(PyObject* object) {
  return PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object);  // bool is a long
}

// Whether it has a length: an array without dimensions is a sequence by its type only.
bool has_length(PyObject* object) {
  bool has = PySequence_Size(object) >= 0;
  PyErr_Clear();
  return has;
}

bool is_nested(PyObject* object) {
  return PyList_Check(object) || PyTuple_Check(object) ||
         (PySequence_Check(object) && !PyUnicode_Check(object) && !PyBytes_Check(object) && !is_tensor(object) &&
          !is_number(object) && has_length(object));
}

// The items as a list or tuple. Too long a range is a MemoryError.
Owned items_of(PyObject* object) {
  PyObject* items = PySequence_Fast(object, "not a sequence");
  if (!items && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    TAEDA_FAIL(Value, "the items of a ", Py_TYPE(object)->tp_name, " inside the data cannot be read");
  }
  return Owned(check(items));
}

// An int of any size. ValueError where 64 bits do not hold it, unless it becomes a float.
Scalar integer(PyObject* object, bool as_float) {
  int overflow;
  int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (!overflow) return Scalar(value);
  if (as_float) {
    double real = PyLong_AsDouble(object);
    if (real == -1 && PyErr_Occurred()) throw PythonError();
    return Scalar(real);
  }
  uint64_t large = PyLong_AsUnsignedLongLong(object);
  if (!PyErr_Occurred()) return Scalar(large);
  PyErr_Clear();
  TAEDA_FAIL(Value, "an int inside the data does not fit in 64 bits");
}

// A number inside the data as a Scalar: Python's, NumPy's, or a tensor of one element. TypeError or ValueError else.
Scalar element(PyObject* object, bool as_float = false) {
  Scalar scalar;
  if (read_scalar(object, scalar)) return scalar;
  if (is_tensor(object)) {
    TAEDA_CHECK_VALUE(unwrap(object).numel() == 1, "a tensor inside the data must have one element, got shape ",
                      unwrap(object).sizes());
    Owned number(check(PyObject_CallMethod(object, "item", nullptr)));
    return element(number.get());
  }
  if (PyLong_Check(object)) return integer(object, as_float);
  if (read_number(object, scalar)) return scalar;
  if (is_numpy_array(object)) {  // of no dimension, or else it were nested
    Owned number(check(PyObject_CallMethod(object, "item", nullptr)));
    return element(number.get(), as_float);
  }
  TAEDA_FAIL(Type, "a tensor cannot be made of a ", Py_TYPE(object)->tp_name);
}

struct Measure {
  std::vector<int64_t> sizes;
  DType dtype = DType::Undefined;
};

DType dtype_of_element(PyObject* object) {
  if (PyFloat_CheckExact(object)) return default_dtype();
  if (PyBool_Check(object)) return DType::Bool;
  if (PyLong_CheckExact(object)) return DType::Int64;
  if (PyComplex_CheckExact(object)) return to_complex(default_dtype());
  if (is_tensor(object)) return unwrap(object).dtype();
  if (Owned own{PyObject_GetAttrString(object, "dtype")}) {  // a NumPy scalar: its own width
    Owned array(check(PyObject_CallMethod(object, "__array__", nullptr)));
    Owned core(check(PyImport_ImportModule("taeda._C")));
    Owned t(PyObject_CallMethod(core.get(), "from_numpy", "O", array.get()));
    if (t) return unwrap(t.get()).dtype();
  }
  PyErr_Clear();
  Scalar number;
  TAEDA_CHECK(PyUnicode_Check(object) || is_number(object) || read_number(object, number), "no dtype fits a ",
              Py_TYPE(object)->tp_name);
  return element(object).natural_dtype();
}

// The shape along the first elements, and the dtype that all elements promote to.
void measure(PyObject* object, Measure& layout, size_t depth, bool infer) {
  if (!is_nested(object)) {
    if (infer) layout.dtype = promote(layout.dtype, dtype_of_element(object));
    return;
  }
  constexpr size_t kDeepest = 128;
  TAEDA_CHECK_VALUE(depth < kDeepest, "the data is nested more than ", kDeepest, " levels deep (or contains itself)");
  Owned items = items_of(object);
  Py_ssize_t n = PySequence_Fast_GET_SIZE(items.get());
  if (layout.sizes.size() == depth) layout.sizes.push_back(n);
  for (Py_ssize_t i = 0; i < n; ++i) {
    Owned item = item_at(items.get(), i);
    TAEDA_CHECK_TYPE(item.get() != object, "the data contains itself");
    bool deeper = is_nested(item.get());
    if (i > 0 && !infer && !deeper) break;
    if (deeper || infer) measure(item.get(), layout, depth + 1, infer);
    if (!deeper && !infer) break;
  }
}

// Whether a number keeps its value; of unsigned types also the negatives of what fits, which wrap around.
template <class T>
bool fits(const Scalar& number) {
  using Limits = std::numeric_limits<T>;
  if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool>) {
    return true;
  } else if (number.kind() == Scalar::Kind::UInt) {
    return number.to<uint64_t>() <= static_cast<uint64_t>(Limits::max());
  } else if (!number.is_integral()) {
    double v = number.as_double();
    return v >= static_cast<double>(Limits::lowest()) && v <= static_cast<double>(Limits::max());
  } else if constexpr (sizeof(T) == 8) {
    return true;
  } else {
    int64_t v = number.as_int(), most = Limits::max();
    return v <= most && v >= (std::is_signed_v<T> ? static_cast<int64_t>(Limits::lowest()) : -most);
  }
}

template <class T>
void fill(PyObject* object, IntList sizes, size_t depth, T*& out) {
  if (depth == sizes.size()) {
    TAEDA_CHECK_VALUE(!is_nested(object) || (is_tensor(object)), "the data is ragged: a number was expected at depth ",
                      depth, ", got a ", Py_TYPE(object)->tp_name);
    Scalar number = element(object, !std::is_integral_v<T> || std::is_same_v<T, bool>);
    if constexpr (std::is_same_v<T, int64_t>)
      TAEDA_CHECK_VALUE(number.kind() != Scalar::Kind::UInt, "the number ", number, " does not fit in int64");
    constexpr bool complex = std::is_same_v<T, bool> || std::is_same_v<T, complex64> || std::is_same_v<T, complex128> ||
                             std::is_same_v<T, ComplexHalf>;
    TAEDA_CHECK_TYPE(complex || number.kind() != Scalar::Kind::Complex, "the complex number ", number,
                     " has no place in a tensor of ", dtype_of<T>);
    TAEDA_CHECK(fits<T>(number), "the number ", number, " does not fit in ", dtype_of<T>);
    *out++ = number.template to<T>();
    return;
  }
  TAEDA_CHECK_VALUE(is_nested(object), "the data is ragged: a sequence of ", sizes[depth], " was expected at depth ",
                    depth, ", got a ", Py_TYPE(object)->tp_name);
  Owned items = items_of(object);
  Py_ssize_t n = PySequence_Fast_GET_SIZE(items.get());
  TAEDA_CHECK_VALUE(n == sizes[depth], "the data is ragged: ", sizes[depth], " items were expected at depth ", depth,
                    ", got ", n);
  for (Py_ssize_t i = 0; i < n; ++i) fill<T>(item_at(items.get(), i).get(), sizes, depth + 1, out);
}

Tensor from_sequence(PyObject* data, std::optional<DType> dtype) {
  Measure layout;
  if (is_nested(data)) {
    measure(data, layout, 0, !dtype);
  } else {
    if (!dtype) layout.dtype = dtype_of_element(data);
  }
  DType type = dtype.value_or(layout.dtype == DType::Undefined ? default_dtype() : layout.dtype);
  Tensor result = new_tensor(layout.sizes, type);
  if (result.numel() == 0) return result;
  visit_stored(type, [&]<class T>() {
    T* out = result.data<T>();
    fill<T>(data, layout.sizes, 0, out);
  });
  return result;
}

bool has(PyObject* object, const char* attribute) { return PyObject_HasAttrString(object, attribute); }

// The elements of a storage, not copied; undefined for other data. Bytes without a dtype are int64.
Tensor from_elements(PyObject* data, std::optional<DType> dtype) {
  if (PyList_Check(data) || PyTuple_Check(data) || is_number(data)) return {};
  bool untyped = is_storage(data);
  Storage storage = storage_argument(data, dtype);
  if (!storage) return {};
  Owned held(untyped ? nullptr : check(PyObject_GetAttrString(data, "dtype")));
  DType type = dtype ? *dtype : held ? to_dtype(held.get()) : DType::Int64;
  int64_t length = static_cast<int64_t>(storage->nbytes()) / itemsize(type), step = 1;
  return from_storage(std::move(storage), type, IntList(&length, 1), IntList(&step, 1), 0);
}

// Memory of NumPy arrays and DLPack objects; undefined for other data.
Tensor from_foreign(PyObject* data, bool will_be_copied) {
  if (PyList_Check(data) || PyTuple_Check(data) || is_number(data) || PyUnicode_Check(data)) return {};
  if (has(data, "__array_interface__") && has(data, "__array_struct__")) {
    Owned array(has(data, "dtype") && !has(data, "__array_priority__")
                    ? Py_NewRef(data)
                    : check(PyObject_CallMethod(data, "__array__", nullptr)));
    return over_array(array.get(), will_be_copied);
  }
  if (has(data, "__dlpack__") && has(data, "__dlpack_device__")) {
    Owned core(check(PyImport_ImportModule("taeda._C")));
    Owned t(check(PyObject_CallMethod(core.get(), "from_dlpack", "O", data)));
    return unwrap(t.get());
  }
  if (has(data, "__array__")) {
    Owned array(check(PyObject_CallMethod(data, "__array__", nullptr)));
    return over_array(array.get(), will_be_copied);
  }
  return {};
}

struct FactoryArguments {
  PyObject* data;
  std::optional<DType> dtype;
  std::optional<Device> device;
  bool requires_grad = false;
};

FactoryArguments read(PyObject* const* args, Py_ssize_t count, PyObject* names, int max_positional) {
  static constexpr const char* kNames[] = {"data", "dtype", "device", "requires_grad", "pin_memory"};
  PyObject* out[5];
  read_arguments(kNames, 1, args, count, names, out, max_positional);
  FactoryArguments result{out[0], {}, {}, to_flag(out[3], false)};
  if (out[1] && out[1] != Py_None) result.dtype = to_dtype(out[1]);
  if (out[2] && out[2] != Py_None) result.device = to_place(out[2]);
  return result;
}

void warn_of_copy(std::string_view call) {
  warn(str("to copy a tensor, source.detach().clone() says so more plainly than ", call));
}

Tensor moved(Tensor t, std::optional<DType> dtype, std::optional<Device> device) {
  bool cast = dtype && *dtype != t.dtype(), move = device && device->type != t.device().type;
  return cast || move ? ops::_to_copy(t, dtype, std::nullopt, device) : t;
}

PyObject* finish(Tensor result, bool requires_grad) {
  if (requires_grad) set_requires_grad(result, true);
  return wrap(std::move(result));
}

// What an active function mode makes of the call; null without one.
PyObject* ask_modes(const char* name, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (fast_path_blockers == 0) return nullptr;
  Overloaded overloaded;
  if (!overloaded.must_dispatch()) return nullptr;
  Owned module(check(PyImport_ImportModule("taeda")));
  Owned callable(check(PyObject_GetAttrString(module.get(), name)));
  return call_torch_function(callable.get(), overloaded, args, count, names);
}

PyObject* tensor(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("tensor", [&] {
    if (PyObject* answer = ask_modes("tensor", args, count, names)) return answer;
    FactoryArguments given = read(args, count, names, 1);
    if (is_tensor(given.data)) {
      warn_of_copy("taeda.tensor(source)");
      Tensor copy = ops::clone(ops::detach(unwrap(given.data)));
      return finish(moved(copy, given.dtype, given.device), given.requires_grad);
    }
    if (Tensor elements = from_elements(given.data, given.dtype); elements.defined())
      return finish(moved(elements, {}, given.device), given.requires_grad);
    return finish(tensor_from(given.data, given.dtype, given.device), given.requires_grad);
  });
}

PyObject* as_tensor(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("as_tensor", [&] {
    if (PyObject* answer = ask_modes("as_tensor", args, count, names)) return answer;
    FactoryArguments given = read(args, count, names, 3);
    if (Tensor elements = from_elements(given.data, given.dtype); elements.defined())
      return wrap(moved(elements, {}, given.device));
    Tensor shared = is_tensor(given.data) ? unwrap(given.data) : from_foreign(given.data, false);
    if (!shared.defined()) return wrap(tensor_from(given.data, given.dtype, given.device));
    if (!is_tensor(given.data)) shared = shown_to_modes(shared);
    return wrap(moved(shared, given.dtype, given.device));
  });
}

PyObject* new_tensor_method(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("Tensor.new_tensor", [&] {
    FactoryArguments given = read(args, count, names, 1);
    const Tensor& like = unwrap(self);
    DType dtype = given.dtype.value_or(like.dtype());
    Device device = given.device.value_or(like.device());
    if (is_tensor(given.data)) {
      warn_of_copy("tensor.new_tensor(source)");
      return finish(moved(ops::clone(ops::detach(unwrap(given.data))), dtype, device), given.requires_grad);
    }
    return finish(tensor_from(given.data, dtype, device), given.requires_grad);
  });
}

bool all_ints(PyObject* args) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i)
    if (!PyLong_Check(PyTuple_GET_ITEM(args, i)) || PyBool_Check(PyTuple_GET_ITEM(args, i))) return false;
  return true;
}

// Tensor(), Tensor(2, 3), Tensor(size), Tensor(data), Tensor(tensor): the old constructor.
PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded("Tensor", [&]() -> PyObject* {
    Py_ssize_t n = PyTuple_GET_SIZE(args);
    PyObject* data = n == 1 ? PyTuple_GET_ITEM(args, 0) : nullptr;
    if (kwargs && PyDict_GetItemString(kwargs, "data")) data = PyDict_GetItemString(kwargs, "data");
    PyObject* device = kwargs ? PyDict_GetItemString(kwargs, "device") : nullptr;
    if (device && device != Py_None) {
      TAEDA_CHECK(to_device(device) == Device(), "makes tensors on the CPU only; got the device ", to_device(device));
      TAEDA_CHECK(!data || !is_tensor(data), "a tensor has its device; leave device= away");
    }
    Tensor result;
    if (!data || (n == 1 && PyLong_Check(data) && !PyBool_Check(data)) || (data && Py_TYPE(data) == size_type)) {
      TAEDA_CHECK_TYPE(all_ints(args) || (data && Py_TYPE(data) == size_type), "takes sizes, a sequence or a tensor");
      result = new_tensor(
          n == 0 ? std::vector<int64_t>{0} : to_sizes(data && Py_TYPE(data) == size_type ? data : args, "size"),
          default_dtype());
    } else if (is_tensor(data)) {
      result = ops::alias(unwrap(data));
    } else {
      TAEDA_CHECK_TYPE(is_nested(data) || has(data, "__array__"), "takes sizes, a sequence or a tensor, got ",
                       Py_TYPE(data)->tp_name);
      result = tensor_from(data, default_dtype(), Device());  // whatever the default device
    }
    return wrap_as(type, std::move(result));
  });
}

PyMethodDef factory_functions[] = {
    {"tensor", as_method(&tensor), METH_FASTCALL | METH_KEYWORDS,
     "tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False)\n--\n\nA tensor with a copy of "
     "``data``: a "
     "number, nested sequences of numbers, or an array. ValueError for ragged data."},
    {"as_tensor", as_method(&as_tensor), METH_FASTCALL | METH_KEYWORDS,
     "as_tensor(data, dtype=None, device=None)\n--\n\n``data`` as a tensor, without a copy where its memory can be "
     "shared."},
    {},
};
PyMethodDef factory_methods[] = {
    method<&new_tensor_method, "new_tensor">(
        "new_tensor($self, data, *, dtype=None, device=None, requires_grad=False, pin_memory=False)\n--\n\nA "
        "copy of ``data`` with this tensor's dtype "
        "and device."),
    {},
};

}  // namespace

Tensor tensor_from(PyObject* data, std::optional<DType> dtype, std::optional<Device> device) {
  Tensor made;
  {
    Below hidden(kPythonKeys);  // from modes, which see the constant alone
    Tensor foreign = from_foreign(data, true);
    made = foreign.defined() ? moved(ops::clone(foreign), dtype, std::nullopt) : from_sequence(data, dtype);
  }
  return moved(shown_to_modes(made), std::nullopt, device.value_or(default_device()));
}

int init_factories(PyObject* module) {
  hooks.tensor_new = tensor_new;
  add_tensor_methods(factory_methods);
  return PyModule_AddFunctions(module, factory_functions);
}

}  // namespace taeda::python
