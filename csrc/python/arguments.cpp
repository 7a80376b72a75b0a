// Reading the arguments of the hand-written methods; ops have a parser of their own.
#include <algorithm>

#include "python/items.h"
#include "python/types.h"

namespace taeda::python {

namespace {
struct ArgumentReader {
  std::span<const char* const> names;
  PyObject** out;

  size_t find(std::string_view name) const {
    auto found = std::find(names.begin(), names.end(), name);
    TAEDA_CHECK_TYPE(found != names.end(), "got an unknown keyword argument '", name, "'");
    return static_cast<size_t>(found - names.begin());
  }
  void set_keyword(PyObject* name, PyObject* value) {
    size_t i = find(to_text(name, "a keyword"));
    TAEDA_CHECK_TYPE(!out[i], "got two values for the argument '", names[i], "'");
    out[i] = value;
  }
  void set_positional(PyObject* const* args, Py_ssize_t count, int most) {
    Py_ssize_t limit = most < 0 ? static_cast<Py_ssize_t>(names.size()) : most;
    TAEDA_CHECK_TYPE(count <= limit, "takes at most ", limit, " positional arguments; got ", count);
    std::fill(out, out + names.size(), nullptr);
    std::copy(args, args + count, out);
  }
  void check_required(int required) const {
    for (int i = 0; i < required; ++i) TAEDA_CHECK_TYPE(out[i], "the argument '", names[i], "' is missing");
  }
};
}  // namespace

void read_arguments(std::span<const char* const> names, int required, PyObject* const* args, Py_ssize_t count,
                    PyObject* keyword_names, PyObject** out, int max_positional) {
  ArgumentReader reader{names, out};
  reader.set_positional(args, count, max_positional);
  Py_ssize_t keywords = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
  for (Py_ssize_t i = 0; i < keywords; ++i) reader.set_keyword(PyTuple_GET_ITEM(keyword_names, i), args[count + i]);
  reader.check_required(required);
}

void read_arguments(std::span<const char* const> names, int required, PyObject* args, PyObject* kwargs, PyObject** out,
                    int max_positional) {
  ArgumentReader reader{names, out};
  reader.set_positional(&PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args), max_positional);
  PyObject *name, *value;
  Py_ssize_t position = 0;
  while (kwargs && PyDict_Next(kwargs, &position, &name, &value)) reader.set_keyword(name, value);
  reader.check_required(required);
}

int64_t to_int(PyObject* object, const char* name) {
  TAEDA_CHECK_TYPE(PyIndex_Check(object), "'", name, "' must be an int; got ", Py_TYPE(object)->tp_name);
  Owned number(check(PyNumber_Index(object)));
  int overflow;
  int64_t value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  if (overflow) TAEDA_FAIL(Overflow, "'", name, "' must fit 64 bits");
  return value;
}

bool to_flag(PyObject* object, bool absent) {
  if (!object || object == Py_None) return absent;
  TAEDA_CHECK_TYPE(PyBool_Check(object), "expected True or False; got ", Py_TYPE(object)->tp_name);
  return object == Py_True;
}

std::vector<int64_t> to_sizes(PyObject* object, const char* name) {
  if (PyIndex_Check(object) && !is_tensor(object)) return {to_int(object, name)};
  TAEDA_CHECK_TYPE(PySequence_Check(object), "'", name, "' must be a sequence of ints; got ", Py_TYPE(object)->tp_name);
  Owned items(check(PySequence_Fast(object, "expected a sequence of ints")));
  std::vector<int64_t> sizes;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i)
    sizes.push_back(to_int(item_at(items.get(), i).get(), name));
  return sizes;
}

std::string_view to_text(PyObject* object, const char* name) {
  TAEDA_CHECK_TYPE(PyUnicode_Check(object), "'", name, "' must be a str; got ", Py_TYPE(object)->tp_name);
  Py_ssize_t length;
  const char* text = PyUnicode_AsUTF8AndSize(object, &length);
  if (!text) throw PythonError();
  return {text, static_cast<size_t>(length)};
}

}  // namespace taeda::python
