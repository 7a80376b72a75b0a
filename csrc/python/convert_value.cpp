#include "python/convert_value.h"
#include "python/items.h"

#include <unordered_map>

#include "python/fast.h"
#include "python/parser.h"
#include "python/symbols.h"
#include "python/types.h"
#include "taeda/autograd/meta.h"
#include "taeda/dispatch/schema.h"

namespace taeda::python {

std::string type_name(const Param& param) {
  static constexpr const char* kNames[] = {
      "Tensor",       "list of Tensors", "list of Tensors", "number",        "list of numbers", "int",
      "list of ints", "float",           "list of floats",  "bool",          "list of bools",   "str",
      "dtype",        "device",          "layout",          "memory_format", "Generator",       "any"};
  std::string text = kNames[static_cast<int>(param.type)];
  if (param.list_size > 0 && param.type == ArgType::IntList) text += str(" (", static_cast<int>(param.list_size), ")");
  return param.optional ? text + " or None" : text;
}

bool read_scalar(PyObject* object, Scalar& scalar) {
  if (PyFloat_CheckExact(object)) {
    scalar = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (PyLong_CheckExact(object)) {
    int overflow;
    int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow) return false;
    scalar = value;
    return true;
  }
  if (PyBool_Check(object)) {
    scalar = object == Py_True;
    return true;
  }
  if (PyComplex_CheckExact(object)) {
    Py_complex z = PyComplex_AsCComplex(object);
    scalar = complex128(z.real, z.imag);
    return true;
  }
  return false;
}

bool read_number(PyObject* object, Scalar& scalar) {
  if (read_scalar(object, scalar)) return true;
  if (PyLong_Check(object)) {
    uint64_t value = PyLong_AsUnsignedLongLong(object);
    if (value == static_cast<uint64_t>(-1) && PyErr_Occurred()) {
      PyErr_Clear();
      int overflow;
      int64_t smaller = PyLong_AsLongLongAndOverflow(object, &overflow);
      if (overflow) {
        PyErr_SetString(PyExc_OverflowError, "the number does not fit in 64 bits");
        throw PythonError();
      }
      scalar = smaller;
      return true;
    }
    scalar = Scalar(value);
    return true;
  }
  if (PyFloat_Check(object)) {
    scalar = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (PyComplex_Check(object)) {
    Py_complex z = PyComplex_AsCComplex(object);
    scalar = complex128(z.real, z.imag);
    return true;
  }
  if (is_tensor(object)) {
    const Tensor& t = unwrap(object);
    if (t.dim() != 0 || autograd::requires_grad(t)) return false;
    Owned number(check(PyObject_CallMethod(object, "item", nullptr)));
    return read_scalar(number.get(), scalar);
  }
  if (is_symbol(object)) return read_scalar(fixed_symbol(object).get(), scalar);
  PyNumberMethods* methods = Py_TYPE(object)->tp_as_number;
  if (!methods || PyUnicode_Check(object) || is_dtype(object)) return false;
  if (methods->nb_index) {
    Owned number(PyNumber_Index(object));
    if (number) return read_number(number.get(), scalar);
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw PythonError();
    PyErr_Clear();  // an array of several elements
    return false;
  }
  if (methods->nb_float && strncmp(Py_TYPE(object)->tp_name, "numpy.", 6) == 0 && !PySequence_Check(object)) {
    if (strstr(Py_TYPE(object)->tp_name, "bool")) {
      scalar = PyObject_IsTrue(object) == 1;
      return true;
    }
    Owned number(check(PyNumber_Float(object)));
    return read_number(number.get(), scalar);
  }
  return false;
}

namespace {

int64_t to_int64(PyObject* number) {
  int overflow;
  int64_t value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (!overflow) return value;
  PyErr_SetString(PyExc_OverflowError, "an int argument does not fit in 64 bits");
  throw PythonError();
}

bool read_int(PyObject* object, int64_t& value) {
  if (PyLong_CheckExact(object)) {
    value = to_int64(object);
    return true;
  }
  if (PyFloat_Check(object) || PyBool_Check(object)) return false;
  if (is_symbol(object)) return read_int(symbol_value(object).get(), value);
  if (is_tensor(object)) {
    if (unwrap(object).numel() != 1 || category(unwrap(object).dtype()) > Category::Integral) return false;
    if (size_recorders > 0) [[unlikely]]
      if (Owned symbol = recorded_number(object)) return read_int(symbol_value(symbol.get()).get(), value);
  }
  if (!PyIndex_Check(object)) return false;
  value = to_int64(Owned(check(PyNumber_Index(object))).get());
  return true;
}

}  // namespace

bool read_int_item(PyObject* item, bool is_first, int64_t& value) {
  if (is_first || !PyBool_Check(item)) return read_int(item, value);
  value = item == Py_True;
  return true;
}

namespace {

// Of an argument: who records is told of its symbols by the parser, so that their values can be taken.
bool take_number(PyObject* object, Scalar& scalar) {
  return is_symbol(object) ? read_scalar(symbol_value(object).get(), scalar) : read_number(object, scalar);
}

bool read_float(PyObject* object, double& value) {
  Scalar scalar;
  if (PyComplex_Check(object) || !take_number(object, scalar)) return false;
  if (scalar.kind() == Scalar::Kind::Complex) return false;
  value = scalar.as_double();
  return true;
}

// Of a tuple or list; false for anything else.
template <class T, class Read>
bool read_list(PyObject* object, std::vector<T>& values, Read&& read) {
  if (!PyTuple_Check(object) && !PyList_Check(object)) return false;
  Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
  for (Py_ssize_t i = 0; i < n; ++i) {
    T value{};
    if (!read(item_at(object, i).get(), value)) return false;
    values.push_back(std::move(value));
  }
  return true;
}

bool read_int_list(PyObject* object, const Param& param, Value& value) {
  std::vector<int64_t> values;
  int64_t lone;
  if (!PyTuple_Check(object) && !PyList_Check(object)) {
    if (param.list_size == 0 || !read_int(object, lone)) return false;
    values.assign(static_cast<size_t>(param.list_size), lone);
  } else if (!read_list(object, values,
                        [&](PyObject* item, int64_t& v) { return read_int_item(item, values.empty(), v); })) {
    return false;
  }
  value = Value(std::move(values));
  return true;
}

bool read_tensor_list(PyObject* object, bool optional_items, Value& value) {
  std::vector<Tensor> values;
  if (!read_list(object, values, [&](PyObject* item, Tensor& t) {
        if (optional_items && item == Py_None) return true;
        if (!is_tensor(item)) return false;
        t = unwrap(item);
        return true;
      }))
    return false;
  value = Value(std::move(values));
  return true;
}

bool read_bool_list(PyObject* object, const Param& param, Value& value) {
  std::vector<int64_t> values;
  if (!read_list(object, values, [](PyObject* item, int64_t& v) {
        v = item == Py_True;
        return static_cast<bool>(PyBool_Check(item));
      }))
    return false;
  if (param.list_size > 0 && values.size() != static_cast<size_t>(param.list_size)) return false;
  value = Value::bool_list(std::move(values));
  return true;
}

bool read_memory_format(PyObject* object, Value& value) {
  if (!is_memory_format(object)) return false;
  value = Value(to_memory_format(object));
  return true;
}

bool read_bool(PyObject* object, Value& value) {
  if (PyBool_Check(object)) {
    value = Value(object == Py_True);
    return true;
  }
  if (is_symbol(object)) return read_bool(symbol_value(object).get(), value);
  const char* type = Py_TYPE(object)->tp_name;
  if (strcmp(type, "numpy.bool_") != 0 && strcmp(type, "numpy.bool") != 0) return false;
  value = Value(PyObject_IsTrue(object) == 1);
  return true;
}

bool read_simple(PyObject* object, const Param& param, Value& value) {
  Scalar scalar;
  int64_t integer;
  double number;
  switch (param.type) {
    case ArgType::Tensor:
      if (!is_tensor(object)) return false;
      value = Value(unwrap(object));
      return true;
    case ArgType::TensorList:
    case ArgType::OptTensorList:
      return read_tensor_list(object, param.type == ArgType::OptTensorList, value);
    case ArgType::Scalar:
      if (!take_number(object, scalar)) return false;
      value = Value(scalar);
      return true;
    case ArgType::Int:
      if (!read_int(object, integer)) return false;
      value = Value(integer);
      return true;
    case ArgType::Float:
      if (!read_float(object, number)) return false;
      value = Value(number);
      return true;
    case ArgType::Bool:
      return read_bool(object, value);
    case ArgType::IntList:
      return read_int_list(object, param, value);
    case ArgType::BoolList:
      return read_bool_list(object, param, value);
    default:
      return false;
  }
}

bool read_named(PyObject* object, const Param& param, Value& value) {
  switch (param.type) {
    case ArgType::FloatList: {
      std::vector<double> values;
      double lone;
      if (!PyTuple_Check(object) && !PyList_Check(object)) {
        if (param.list_size == 0 || !read_float(object, lone)) return false;
        values.assign(static_cast<size_t>(param.list_size), lone);
      } else if (!read_list(object, values, read_float)) {
        return false;
      }
      value = Value(std::move(values));
      return true;
    }
    case ArgType::ScalarList: {
      std::vector<Scalar> values;
      if (!read_list(object, values, take_number)) return false;
      value = Value(std::move(values));
      return true;
    }
    case ArgType::String: {
      if (!PyUnicode_Check(object)) return false;
      Py_ssize_t size;
      const char* text = PyUnicode_AsUTF8AndSize(object, &size);
      if (!text) throw PythonError();
      value = Value(std::string_view(text, static_cast<size_t>(size)));
      return true;
    }
    case ArgType::DType:
      if (!is_dtype(object) && object != reinterpret_cast<PyObject*>(&PyFloat_Type) &&
          object != reinterpret_cast<PyObject*>(&PyLong_Type) && object != reinterpret_cast<PyObject*>(&PyBool_Type) &&
          object != reinterpret_cast<PyObject*>(&PyComplex_Type))
        return false;
      value = Value(to_dtype(object));
      return true;
    case ArgType::Device:
      if (!is_device(object) && !PyUnicode_Check(object) && !PyLong_Check(object)) return false;
      value = Value(to_place(object));
      return true;
    case ArgType::Layout:
      if (!is_layout(object)) return false;
      value = Value(to_layout(object));
      return true;
    case ArgType::MemoryFormat:
      return read_memory_format(object, value);
    case ArgType::Generator:
      if (!is_generator(object)) return false;
      value = Value(to_generator(object));
      return true;
    default:
      return read_simple(object, param, value);
  }
}

// Of a list of ints or of tensors, which item is none.
std::string wrong_item(PyObject* object, const Param& param) {
  bool of_ints = param.type == ArgType::IntList;
  if ((!of_ints && param.type != ArgType::TensorList) || !(PyTuple_Check(object) || PyList_Check(object))) return {};
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(object, i);
    bool is_int = PyIndex_Check(item) && !PyFloat_Check(item) && !PyBool_Check(item);
    if (of_ints ? !is_int : !is_tensor(item)) return str(" whose item ", i, " is a ", Py_TYPE(item)->tp_name);
  }
  return {};
}

}  // namespace

bool read_value(PyObject* object, const Param& param, Value& value, std::string* why, TypePtr type) {
  if (object == Py_None && param.optional) {
    value = Value();
    return true;
  }
  // A list that is empty by default, such as dim=[], may be None.
  if (object == Py_None && param.type == ArgType::IntList && param.default_text &&
      std::string_view(param.default_text) == "[]") {
    value = std::vector<int64_t>();
    return true;
  }
  if (param.type != ArgType::Any ? read_named(object, param, value) : !type || read_typed(object, type, value)) {
    if (param.type == ArgType::Any && !type) value = to_value(object);
    return true;
  }
  if (why && !PyErr_Occurred())
    *why = str("'", param.name, "' must be a ", type ? type->annotation() : type_name(param), ", got ",
               Py_TYPE(object)->tp_name, wrong_item(object, param));
  return false;
}

PyObject* wrap_plain_results(std::span<Value> results) {
  if (results.empty()) return Py_NewRef(Py_None);
  if (results.size() == 1 && results[0].tag() == Value::Tag::TensorList) {
    Owned list(check(wrap(results[0])));
    return check(PySequence_Tuple(list.get()));
  }
  if (results.size() == 1) return wrap(results[0]);
  Owned tuple(check(PyTuple_New(static_cast<Py_ssize_t>(results.size()))));
  for (size_t i = 0; i < results.size(); ++i)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), check(wrap(results[i])));
  return tuple.release();
}

PyObject* find_public_callable(const char* name, const char* where, bool is_method) {
  if (is_method) {
    // What only an operator reaches, as rsub, has the operator's name there.
    PyObject* type = reinterpret_cast<PyObject*>(tensor_type);
    if (PyObject* found = PyObject_GetAttrString(type, name)) return found;
    PyErr_Clear();
    return check(PyObject_GetAttrString(type, str("__", name, "__").c_str()));
  }
  Owned module(check(PyImport_ImportModule("taeda")));
  std::string_view path = where, op = name;
  bool called_otherwise = !op.ends_with(path.substr(path.rfind('.') + 1));  // what users call is written around it
  while (true) {
    size_t dot = path.find('.');
    std::string part(path.substr(0, dot));
    PyObject* next = called_otherwise ? nullptr : PyObject_GetAttrString(module.get(), part.c_str());
    if (called_otherwise || (!next && dot == std::string_view::npos)) {
      PyErr_Clear();
      Owned core(check(PyImport_ImportModule("taeda._C"))), nn(check(PyObject_GetAttrString(core.get(), "_nn")));
      if (PyObject* found = PyObject_GetAttrString(nn.get(), name)) return found;
      PyErr_Clear();
      return check(PyObject_GetAttrString(core.get(), name));
    }
    module = Owned(check(next));
    if (dot == std::string_view::npos) return module.release();
    path.remove_prefix(dot + 1);
  }
}

void set_requires_grad(const Tensor& tensor, bool value) { autograd::set_requires_grad(tensor, value); }

// --- results with names: taeda.return_types.max

namespace {

// The names of the results, empty unless there are several and each has one.
std::vector<std::string> result_names(std::string_view schema) {
  std::vector<std::string> names;
  for (SchemaArgument& result : parse_schema(schema).returns) {
    if (result.name.empty()) return {};
    names.push_back(std::move(result.name));
  }
  return names;
}

// One part a line, as tensors take several.
PyObject* repr_of_results(PyObject* self) {
  return guarded("repr", [&] {
    Owned keys(check(PyObject_GetAttrString(self, "__match_args__")));
    std::string text = str(Py_TYPE(self)->tp_name, "(");
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) {
      Owned shown(check(PyObject_Repr(PyTuple_GET_ITEM(self, i))));
      text += str(i ? ",\n" : "\n", to_text(PyTuple_GET_ITEM(keys.get(), i), "key"), "=", to_text(shown.get(), "part"));
    }
    return check(PyUnicode_FromString((text + ")").c_str()));
  });
}

}  // namespace

PyTypeObject* result_type_named(const std::string& name, const Op& op) {
  static auto* types = new std::unordered_map<std::string, PyTypeObject*>;
  if (auto found = types->find(name); found != types->end()) return found->second;
  std::vector<std::string> names = result_names(op.info().schema);
  if (names.size() < 2) return nullptr;
  // A structure's type refers to these for as long as it lives, which is for ever.
  auto* fields = new std::vector<PyStructSequence_Field>();
  for (std::string& field : names) fields->push_back({(new std::string(std::move(field)))->c_str(), nullptr});
  fields->push_back({nullptr, nullptr});
  auto* type_name = new std::string(str("torch.return_types.", name));
  PyStructSequence_Desc desc{type_name->c_str(), nullptr, fields->data(), static_cast<int>(names.size())};
  PyTypeObject* type = PyStructSequence_NewType(&desc);
  if (!type) throw PythonError();
  type->tp_repr = repr_of_results;
  return (*types)[name] = type;
}

PyTypeObject* result_type_of(const Name& name, const Op& op) {
  if (!name.result_type) name.result_type = result_type_named(name.name, op);
  return name.result_type;
}

PyObject* wrap_results(const Name& name, const Op& op, std::span<Value> results) {
  if (results.size() < 2) return wrap_plain_results(results);
  PyTypeObject* type = result_type_of(name, op);
  if (!type) return wrap_plain_results(results);
  Owned tuple(check(PyStructSequence_New(type)));
  for (size_t i = 0; i < results.size(); ++i)
    PyStructSequence_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), check(wrap(results[i])));
  return tuple.release();
}

PyObject* wrap_result(const Name&, const Op&, std::vector<Tensor>&& result) {
  Owned tuple(check(PyTuple_New(static_cast<Py_ssize_t>(result.size()))));
  for (size_t i = 0; i < result.size(); ++i)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), check(wrap(std::move(result[i]))));
  return tuple.release();
}

}  // namespace taeda::python
