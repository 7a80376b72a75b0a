// _C._jit.Container: a list or dict of a program that Python holds. What programs write is seen by Python, and the
// other way round. taeda/jit/_containers.py gives it the methods of Python's lists and dicts.
#include "python/jit/containers.h"

#include "jit/dtype_numbers.h"
#include "python/convert_value.h"
#include "python/jit/parts.h"
#include "python/type_objects.h"
#include "python/types.h"
#include "taeda/dispatch/collections.h"

namespace taeda::python {

namespace {

struct ContainerObject {
  PyObject_HEAD
  Value value;
  TypePtr type;
};
PyTypeObject g_type = static_type("taeda._C._jit.Container", sizeof(ContainerObject));

ContainerObject& as_container(PyObject* self) { return *reinterpret_cast<ContainerObject*>(self); }
bool is_dict(PyObject* self) { return as_container(self).value.tag() == Value::Tag::Dict; }

const char* name(PyObject* self) { return is_dict(self) ? "ScriptDict" : "ScriptList"; }

ListRef list_of(PyObject* self) {
  TAEDA_CHECK_TYPE(!is_dict(self), "this container is a dict");
  return ListRef(as_container(self).value);
}
Dict& dict_of(PyObject* self) {
  TAEDA_CHECK_TYPE(is_dict(self), "this container is a list");
  return as_container(self).value.to_dict();
}

// An item of a list, or a key (0) or value (1) of a dict; TypeError for any other.
Value read_part(PyObject* self, PyObject* object, size_t which = 0) {
  TypePtr type = as_container(self).type;
  TypePtr wanted = type->contained(which);
  Value value;
  bool fits = read_loosely(object, wanted, value);
  if (!fits && PyErr_Occurred()) throw PythonError();
  TAEDA_CHECK_TYPE(fits, "a ", type->annotation(), " holds no ", Py_TYPE(object)->tp_name);
  jit::to_program(value);
  return value;
}

void deallocate(PyObject* self) {
  as_container(self).value.~Value();
  Py_TYPE(self)->tp_free(self);
}

// Container(object, type): with a copy of what the object holds.
PyObject* make(PyTypeObject*, PyObject* args, PyObject*) {
  PyObject *object, *type;
  if (!PyArg_ParseTuple(args, "OO", &object, &type)) return nullptr;
  return guarded("jit.script", [&] {
    TypePtr wanted = to_type(type, "type");
    TAEDA_CHECK_TYPE(wanted->is(TypeKind::List) || wanted->is(TypeKind::Dict), "takes the type of a list or dict; got ",
                     wanted->annotation());
    Value value;
    bool fits = read_loosely(object, wanted, value);
    if (!fits && PyErr_Occurred()) throw PythonError();
    TAEDA_CHECK_TYPE(fits, "a ", Py_TYPE(object)->tp_name, " of these items is no ", wanted->annotation());
    PyObject* self = check(g_type.tp_alloc(&g_type, 0));
    new (&as_container(self).value) Value(std::move(value));
    as_container(self).type = wanted;
    return self;
  });
}

PyObject* type(PyObject* self, PyObject*) {
  return guarded(name(self), [&] { return wrap(as_container(self).type); });
}

PyObject* plain(PyObject* self, PyObject*) {
  return guarded(name(self), [&] { return check(wrap(as_container(self).value)); });
}

Py_ssize_t size(PyObject* self) {
  return static_cast<Py_ssize_t>(is_dict(self) ? dict_of(self).size() : list_of(self).size());
}

PyObject* fits(PyObject* self, PyObject* object) {
  return guarded(name(self), [&] {
    read_part(self, object);
    return Py_NewRef(Py_None);
  });
}

// --- Lists
size_t place(PyObject* number) {
  size_t at = PyLong_AsSize_t(number);
  if (at == static_cast<size_t>(-1) && PyErr_Occurred()) throw PythonError();
  return at;
}

PyObject* get(PyObject* self, PyObject* at) {
  return guarded(name(self), [&] { return check(wrap(list_of(self).get(place(at)))); });
}

PyObject* set(PyObject* self, PyObject* args) {
  PyObject *at, *item;
  if (!PyArg_ParseTuple(args, "OO", &at, &item)) return nullptr;
  return guarded(name(self), [&] {
    Value value = read_part(self, item);
    list_of(self).set(place(at), value);
    return Py_NewRef(Py_None);
  });
}

PyObject* insert(PyObject* self, PyObject* args) {
  PyObject *at, *item;
  if (!PyArg_ParseTuple(args, "OO", &at, &item)) return nullptr;
  return guarded(name(self), [&] {
    Value value = read_part(self, item);
    list_of(self).insert(place(at), value);
    return Py_NewRef(Py_None);
  });
}

PyObject* erase(PyObject* self, PyObject* at) {
  return guarded(name(self), [&] {
    list_of(self).erase(place(at));
    return Py_NewRef(Py_None);
  });
}

PyObject* clear(PyObject* self, PyObject*) {
  return guarded(name(self), [&] {
    if (is_dict(self))
      dict_of(self).clear();
    else
      list_of(self).clear();
    return Py_NewRef(Py_None);
  });
}

// --- Dicts
PyObject* find(PyObject* self, PyObject* key) {
  return guarded(name(self), [&]() -> PyObject* {
    Value* found = dict_of(self).find(read_part(self, key));
    return found ? check(PyTuple_Pack(1, Owned(check(wrap(*found))).get())) : Py_NewRef(Py_None);
  });
}

PyObject* put(PyObject* self, PyObject* args) {
  PyObject *key, *item;
  if (!PyArg_ParseTuple(args, "OO", &key, &item)) return nullptr;
  return guarded(name(self), [&] {
    Dict& dict = dict_of(self);
    Value name = read_part(self, key), value = read_part(self, item, 1);
    dict.set(name, std::move(value));
    return Py_NewRef(Py_None);
  });
}

PyObject* drop(PyObject* self, PyObject* key) {
  return guarded(name(self), [&] {
    Value name = read_part(self, key);
    return PyBool_FromLong(dict_of(self).erase(name));
  });
}

PySequenceMethods g_sequence{};
PyMethodDef g_methods[] = {
    {"type", type, METH_NOARGS, "type()\n--\n\nThe type of the list or dict."},
    {"plain", plain, METH_NOARGS, "plain()\n--\n\nA list or dict of Python's with the same items."},
    {"fits", fits, METH_O, "fits(item)\n--\n\nTypeError for what can be no item of the list, no key of the dict."},
    {"get", get, METH_O, "get(place)\n--\n\nAn item of a list."},
    {"set", set, METH_VARARGS, "set(place, item)\n--\n\nSets an item of a list."},
    {"insert", insert, METH_VARARGS, "insert(place, item)\n--\n\nPuts an item before that of a place."},
    {"erase", erase, METH_O, "erase(place)\n--\n\nTakes an item out of a list."},
    {"clear", clear, METH_NOARGS, "clear()\n--\n\nTakes everything out."},
    {"find", find, METH_O, "find(key)\n--\n\nThe value of a key in a tuple; None if the dict has no such key."},
    {"put", put, METH_VARARGS, "put(key, value)\n--\n\nSets the value of a key."},
    {"drop", drop, METH_O, "drop(key)\n--\n\nTakes a key out of a dict; whether it was there."},
    {}};

}  // namespace

bool read_container(PyObject* object, TypePtr type, Value& value) {
  Owned native = native_of(object, g_type);
  if (!native) return false;
  const ContainerObject& container = as_container(native.get());
  if (type && !container.type->is_subtype_of(type)) return false;
  value = container.value;
  return true;
}

int init_jit_containers(PyObject* module) {
  g_type.tp_new = make;
  g_type.tp_dealloc = deallocate;
  g_type.tp_methods = g_methods;
  g_sequence.sq_length = size;
  g_type.tp_as_sequence = &g_sequence;
  g_type.tp_doc = "Container(object, type)\n--\n\nA list or dict that Python and programs share.";
  return add_type(module, g_type);
}

}  // namespace taeda::python
