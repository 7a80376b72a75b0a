// Values of the core as Python objects, and the types' start-up.
#include "core/elements.h"
#include "python/convert_value.h"
#include "python/types.h"

namespace taeda::python {

namespace {
template <class List, class Wrap>
PyObject* wrap_list(const List& list, Wrap&& wrap_item) {
  Owned result(check(PyList_New(static_cast<Py_ssize_t>(list.size()))));
  for (size_t i = 0; i < list.size(); ++i)
    PyList_SET_ITEM(result.get(), static_cast<Py_ssize_t>(i), check(wrap_item(list[i])));
  return result.release();
}
}  // namespace

PyObject* wrap(const Scalar& scalar) {
  switch (scalar.kind()) {
    case Scalar::Kind::Bool:
      return PyBool_FromLong(scalar.to<bool>());
    case Scalar::Kind::Int:
      return PyLong_FromLongLong(scalar.as_int());
    case Scalar::Kind::UInt:
      return PyLong_FromUnsignedLongLong(scalar.to<uint64_t>());
    case Scalar::Kind::Float:
      return PyFloat_FromDouble(scalar.as_double());
    default: {
      complex128 value = scalar.to<complex128>();
      return PyComplex_FromDoubles(value.real(), value.imag());
    }
  }
}

PyObject* wrap(const Value& value) {
  using Tag = Value::Tag;
  switch (value.tag()) {
    case Tag::None:
      return Py_NewRef(Py_None);
    case Tag::Bool:
      return PyBool_FromLong(value.to_bool());
    case Tag::Int:
    case Tag::UInt:
    case Tag::Float:
    case Tag::Complex:
      return wrap(value.to_scalar());
    case Tag::DType:
      return wrap(value.to_dtype());
    case Tag::Device:
      return wrap(value.to_device());
    case Tag::Layout:
      return wrap(value.to_layout());
    case Tag::MemoryFormat:
      return wrap(value.to_memory_format());
    case Tag::Tensor:
      return wrap(value.to_tensor());
    case Tag::String: {
      std::string_view text = value.to_string();
      return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
    }
    case Tag::IntList:
      return wrap_list(value.to_int_list(), PyLong_FromLongLong);
    case Tag::BoolList:
      return wrap_list(value.to_int_list(), [](int64_t item) { return PyBool_FromLong(item != 0); });
    case Tag::FloatList:
      return wrap_list(value.to_float_list(), PyFloat_FromDouble);
    case Tag::TensorList:
      return wrap_list(value.to_tensor_list(), [](const Tensor& item) { return wrap(item); });
    case Tag::ScalarList:
      return wrap_list(value.to_scalar_list(), [](const Scalar& item) { return wrap(item); });
    case Tag::Generator:
      return wrap(value.to_generator());
    case Tag::List:
    case Tag::Tuple:
    case Tag::Dict:
    case Tag::Enum:
    case Tag::Instance:
      return wrap_collection(value);
    case Tag::Object:
      break;
  }
  auto* held = dynamic_cast<HeldObject*>(value.to_object());
  TAEDA_CHECK_TYPE(held, "got a C++ object that has no Python form");
  return Py_NewRef(held->object);
}

HeldObject::~HeldObject() { python_hooks.decref(object); }

PyObject* number_at(DType dtype, const void* element) { return wrap(read_number(dtype, element)); }

int init_objects(PyObject* module) {
  add_tensor_getset(member_getset);
  add_tensor_methods(member_methods);
  add_tensor_methods(value_methods);
  add_tensor_methods(subclass_methods);
  add_tensor_methods(numpy_methods);
  add_tensor_methods(dlpack_methods);
  using Init = int (*)(PyObject*);
  constexpr Init kAll[] = {init_errors,    init_dtype,   init_device, init_layout, init_size,       init_tensor_type,
                           init_generator, init_storage, init_numpy,  init_dlpack, init_overridable};
  for (Init init : kAll)
    if (init(module) < 0) return -1;
  return 0;
}

}  // namespace taeda::python
