// Arguments and attributes of programs as PyTorch takes them: a bool for an int, a number for a bool, a list for a
// tuple, a tensor of one element for a number.
#include "python/convert_value.h"
#include "python/items.h"
#include "python/jit/containers.h"
#include "python/jit/parts.h"
#include "python/object.h"
#include "python/types.h"

namespace taeda::python {

namespace {

bool read_number(PyObject* object, TypePtr type, Value& value) {
  if (is_tensor(object)) {
    Owned item(PyObject_CallMethod(object, "item", nullptr));
    if (!item) {  // it has several elements
      PyErr_Clear();
      return false;
    }
    if (type->is(TypeKind::Int) && PyFloat_Check(item.get())) {
      Owned whole(check(PyNumber_Long(item.get())));
      return read_typed(whole.get(), type, value);
    }
    return read_loosely(item.get(), type, value);
  }
  if (type->is(TypeKind::Bool) && (PyLong_Check(object) || PyFloat_Check(object))) {
    int truth = PyObject_IsTrue(object);
    check(truth);
    value = truth == 1;
    return true;
  }
  if (type->is(TypeKind::Int) && PyBool_Check(object)) {
    value = static_cast<int64_t>(object == Py_True);
    return true;
  }
  return false;
}

// The items of a list, tuple or range in a list of what each is.
bool read_items(PyObject* object, TypePtr type, Value& value) {
  if (PyRange_Check(object)) {
    Owned items(check(PySequence_List(object)));
    return read_loosely(items.get(), type, value);
  }
  if (!PyList_Check(object) && !PyTuple_Check(object)) return false;
  auto size = static_cast<size_t>(PySequence_Fast_GET_SIZE(object));
  bool is_tuple = type->is(TypeKind::Tuple);
  if (is_tuple && size != type->contained().size()) return false;
  std::vector<Value> items(size);
  for (size_t i = 0; i < size; ++i) {
    Owned item(item_at(object, static_cast<Py_ssize_t>(i)));
    if (!read_loosely(item.get(), type->contained(is_tuple ? i : 0), items[i])) return false;
  }
  if (is_tuple) {
    value = make_ref<Tuple>(std::move(items), type->name().empty() ? nullptr : type);
    return true;
  }
  ListRef list = ListRef::of(type->contained(0));
  for (const Value& item : items) list.append(item);
  value = list.value();
  return true;
}

bool read_entries(PyObject* object, TypePtr type, Value& value) {
  if (!PyDict_Check(object)) return false;
  auto dict = make_ref<Dict>(type->contained(0), type->contained(1));
  Owned items(check(PyDict_Items(object)));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
    PyObject* pair = PyList_GET_ITEM(items.get(), i);
    Value key, entry;
    if (!read_loosely(PyTuple_GET_ITEM(pair, 0), type->contained(0), key) ||
        !read_loosely(PyTuple_GET_ITEM(pair, 1), type->contained(1), entry))
      return false;
    dict->set(key, std::move(entry));
  }
  value = std::move(dict);
  return true;
}

}  // namespace

bool read_loosely(PyObject* object, TypePtr type, Value& value) {
  if (read_typed(object, type, value)) return true;
  switch (type->kind()) {
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::Float:
    case TypeKind::Complex:
      return read_number(object, type, value);
    case TypeKind::List:
    case TypeKind::Tuple:
      return read_items(object, type, value) || read_container(object, type, value);
    case TypeKind::Dict:
      return read_entries(object, type, value) || read_container(object, type, value);
    case TypeKind::Optional:
      return object != Py_None && read_loosely(object, type->contained(0), value);
    case TypeKind::Interface:  // whether it serves was asked before
      return read_instance(object, nullptr, value);
    default:
      return false;
  }
}

}  // namespace taeda::python
