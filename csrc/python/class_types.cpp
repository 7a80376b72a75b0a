// Types with a name and members, made and read by Python: classes, interfaces, enumerations, named tuples.
#include "python/convert_value.h"
#include "python/items.h"
#include "python/type_objects.h"
#include "python/types.h"
#include "taeda/dispatch/class_type.h"

namespace taeda::python {

namespace {

// One tuple for each item.
template <class Range, class Make>
PyObject* rows(const Range& range, Make&& make) {
  Owned list(check(PyList_New(0)));
  for (const auto& item : range) check(PyList_Append(list.get(), Owned(check(make(item))).get()));
  return list.release();
}

template <class Read>
auto items_of(PyObject* object, Read&& read) {
  Owned items(check(PySequence_Fast(object, "takes a sequence")));
  std::vector<decltype(read(items.get()))> all;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i)
    all.push_back(read(item_at(items.get(), i).get()));
  return all;
}
std::vector<std::string> texts_of(PyObject* object) {
  return items_of(object, [](PyObject* item) { return std::string(to_text(item, "name")); });
}

template <class Named>
const Named& named(PyObject* object, TypeKind kind) {
  TypePtr type = to_type(object, "type");
  TAEDA_CHECK_TYPE(type->is(kind), "takes a ", kind_name(kind), "; got ", type->annotation());
  return static_cast<const Named&>(*type);
}
const ClassType& class_in(PyObject* object) { return named<ClassType>(object, TypeKind::Class); }
// Types are constant for whoever reads them; whoever declares a class looks it up by its name.
ClassType& declared(PyObject* object) { return class_type(class_in(object).name()); }

PyObject* new_class(PyObject*, PyObject* args) {
  const char* name;
  int is_module;
  if (!PyArg_ParseTuple(args, "sp", &name, &is_module)) return nullptr;
  return guarded("_class_type", [&] {
    ClassType& type = class_type(name);
    type.is_module = is_module;
    return wrap(&type);
  });
}

PyObject* add_attribute(PyObject*, PyObject* args) {
  PyObject *self, *type;
  const char* name;
  int kind = 0;
  if (!PyArg_ParseTuple(args, "OsO|i", &self, &name, &type, &kind)) return nullptr;
  return guarded("_add_class_attribute", [&] {
    TAEDA_CHECK_VALUE(kind >= 0 && kind <= 2, "the kind is 0, 1 (a parameter) or 2 (a buffer); got ", kind);
    return PyLong_FromSize_t(
        declared(self).add_attribute({name, to_type(type, "type"), static_cast<Attribute::Kind>(kind)}));
  });
}

PyObject* attributes(PyObject*, PyObject* self) {
  return guarded("_class_attributes", [&] {
    return rows(class_in(self).attributes(), [](const Attribute& attribute) {
      return Py_BuildValue("sNi", attribute.name.c_str(), check(wrap(attribute.type)),
                           static_cast<int>(attribute.kind));
    });
  });
}

PyObject* add_constant(PyObject*, PyObject* args) {
  PyObject *self, *value;
  const char* name;
  if (!PyArg_ParseTuple(args, "OsO", &self, &name, &value)) return nullptr;
  return guarded("_add_class_constant", [&] {
    declared(self).add_constant(name, to_value(value));
    return Py_NewRef(Py_None);
  });
}

PyObject* constants(PyObject*, PyObject* self) {
  return guarded("_class_constants", [&] {
    return rows(class_in(self).constants(),
                [](const auto& entry) { return Py_BuildValue("sN", entry.first.c_str(), check(wrap(entry.second))); });
  });
}

PyObject* is_module(PyObject*, PyObject* self) {
  return guarded("_is_module_class", [&] { return PyBool_FromLong(class_in(self).is_module); });
}

// Whoever still calls a method is told that there is none.
PyObject* forget_methods(PyObject*, PyObject* self) {
  return guarded("_forget_methods", [&] {
    ClassType& type = declared(self);
    for (const Method* method : type.methods()) type.define_method({method->name, nullptr, {}});
    return Py_NewRef(Py_None);
  });
}

PyObject* new_interface(PyObject*, PyObject* args) {
  const char* name;
  PyObject* methods;
  if (!PyArg_ParseTuple(args, "sO", &name, &methods)) return nullptr;
  return guarded("_interface_type", [&] {
    return wrap(
        interface_type(name, items_of(methods, [](PyObject* text) { return parse_schema(to_text(text, "schema")); })));
  });
}

PyObject* interface_methods(PyObject*, PyObject* self) {
  return guarded("_interface_methods", [&] {
    return rows(named<InterfaceType>(self, TypeKind::Interface).methods(),
                [](const Schema& schema) { return PyUnicode_FromString(schema_text(schema).c_str()); });
  });
}

PyObject* new_enum(PyObject*, PyObject* args) {
  const char* name;
  PyObject *value_type, *members;
  if (!PyArg_ParseTuple(args, "sOO", &name, &value_type, &members)) return nullptr;
  return guarded("_make_enum_type", [&] {
    return wrap(enum_type(name, to_type(value_type, "value_type"), items_of(members, [](PyObject* entry) {
                            const char* member;
                            PyObject* value;
                            if (!PyArg_ParseTuple(entry, "sO", &member, &value)) throw PythonError();
                            return EnumType::Member(member, to_value(value));
                          })));
  });
}

PyObject* enum_members(PyObject*, PyObject* self) {
  return guarded("_enum_members", [&] {
    return rows(named<EnumType>(self, TypeKind::Enum).members(), [](const EnumType::Member& member) {
      return Py_BuildValue("sN", member.first.c_str(), check(wrap(member.second)));
    });
  });
}

// With a class, results of the type are objects of it; without, of one that is made for them.
PyObject* new_named_tuple(PyObject*, PyObject* args) {
  const char* name;
  PyObject *fields, *types, *cls = Py_None;
  if (!PyArg_ParseTuple(args, "sOO|O", &name, &fields, &types, &cls)) return nullptr;
  return guarded("_named_tuple_type", [&] {
    TypePtr type =
        named_tuple_type(name, texts_of(fields), items_of(types, [](PyObject* item) { return to_type(item, "type"); }));
    if (cls != Py_None) set_class_of(type, cls);
    return wrap(type);
  });
}

PyObject* find(PyObject*, PyObject* name) {
  return guarded("_find_named_type", [&] {
    TypePtr type = find_named_type(std::string(to_text(name, "name")));
    return type ? wrap(type) : Py_NewRef(Py_None);
  });
}

PyObject* program_name(PyObject*, PyObject* cls) {
  return guarded("_program_name", [&] { return PyUnicode_FromString(qualified_name(cls).c_str()); });
}

}  // namespace

PyMethodDef class_type_functions[] = {{"_class_type", new_class, METH_VARARGS, nullptr},
                                      {"_add_class_attribute", add_attribute, METH_VARARGS, nullptr},
                                      {"_class_attributes", attributes, METH_O, nullptr},
                                      {"_add_class_constant", add_constant, METH_VARARGS, nullptr},
                                      {"_class_constants", constants, METH_O, nullptr},
                                      {"_is_module_class", is_module, METH_O, nullptr},
                                      {"_interface_type", new_interface, METH_VARARGS, nullptr},
                                      {"_interface_methods", interface_methods, METH_O, nullptr},
                                      {"_make_enum_type", new_enum, METH_VARARGS, nullptr},
                                      {"_enum_members", enum_members, METH_O, nullptr},
                                      {"_named_tuple_type", new_named_tuple, METH_VARARGS, nullptr},
                                      {"_find_named_type", find, METH_O, nullptr},
                                      {"_forget_methods", forget_methods, METH_O, nullptr},
                                      {"_program_name", program_name, METH_O, nullptr},
                                      {}};

}  // namespace taeda::python
