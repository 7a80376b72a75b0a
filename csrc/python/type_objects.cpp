// _C._TypeBase: the types of schemas, and schemas themselves, as Python sees them. taeda/_schema is their face.
#include "python/type_objects.h"

#include <unordered_map>

#include "python/convert_value.h"
#include "python/items.h"
#include "python/op_objects.h"
#include "python/types.h"
#include "taeda/dispatch/schema.h"

namespace taeda::python {

namespace {

struct TypeObject {
  PyObject_HEAD
  TypePtr type;
};
PyTypeObject g_type = static_type("taeda._C._TypeBase", sizeof(TypeObject));
PyObject* g_classes = nullptr;  // by kind_name, from taeda/_schema/types.py
TypePtr type_of_self(PyObject* self) { return reinterpret_cast<TypeObject*>(self)->type; }

PyObject* text(const std::string& from) {
  return PyUnicode_FromStringAndSize(from.data(), static_cast<Py_ssize_t>(from.size()));
}

PyTypeObject* class_for(TypePtr type) {
  if (!g_classes) Owned(check(PyImport_ImportModule("taeda._schema.types")));
  PyObject* cls = g_classes ? PyDict_GetItemString(g_classes, kind_name(type->kind()).data()) : nullptr;
  if (!cls && g_classes) cls = PyDict_GetItemString(g_classes, "");
  return cls ? reinterpret_cast<PyTypeObject*>(cls) : &g_type;
}

template <class Range, class Make>
PyObject* list_from(const Range& range, Make&& make) {
  Owned list(check(PyList_New(0)));
  for (const auto& item : range) check(PyList_Append(list.get(), Owned(check(make(item))).get()));
  return list.release();
}

std::vector<TypePtr> to_types(PyObject* object) {
  Owned items(check(PySequence_Fast(object, "takes a sequence of types")));
  std::vector<TypePtr> types;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i)
    types.push_back(to_type(item_at(items.get(), i).get(), "type"));
  return types;
}

// --- Methods
PyObject* schema_spelling(PyObject* self, PyObject*) { return text(type_of_self(self)->str()); }
PyObject* kind(PyObject* self, PyObject*) { return text(std::string(kind_name(type_of_self(self)->kind()))); }
PyObject* contained_types(PyObject* self, PyObject*) {
  return guarded("Type.containedTypes",
                 [&] { return list_from(type_of_self(self)->contained(), [](TypePtr type) { return wrap(type); }); });
}
PyObject* is_subtype(PyObject* self, PyObject* other) {
  return guarded("Type.isSubtypeOf",
                 [&] { return PyBool_FromLong(type_of_self(self)->is_subtype_of(to_type(other, "other"))); });
}
PyObject* is_interface(PyObject* self, PyObject*) {
  return PyBool_FromLong(type_of_self(self)->is(TypeKind::Interface));
}
PyObject* annotation(PyObject* self, void*) { return text(type_of_self(self)->annotation()); }
PyObject* repr(PyObject* self) { return text(type_of_self(self)->annotation()); }
PyObject* name(PyObject* self, void*) { return text(type_of_self(self)->name()); }
PyObject* fields(PyObject* self, void*) {
  return guarded("Type", [&] { return list_from(type_of_self(self)->fields(), text); });
}

PyMethodDef g_methods[] = {
    {"str", schema_spelling, METH_NOARGS, "How a schema spells it: ``int[]?``."},
    {"kind", kind, METH_NOARGS, "The name of its class."},
    {"containedTypes", contained_types, METH_NOARGS, "The types it is made of."},
    {"isSubtypeOf", is_subtype, METH_O, "isSubtypeOf(other)\n--\n\nWhether a value of this type is one of the other."},
    {"is_interface_type", is_interface, METH_NOARGS, "Whether it is an interface."},
    {}};
PyGetSetDef g_getset[] = {{"annotation_str", annotation, nullptr, "How Python spells it.", nullptr},
                          {"_name", name, nullptr, nullptr, nullptr},
                          {"_fields", fields, nullptr, nullptr, nullptr},
                          {}};

// --- Making
TypePtr single(const std::vector<TypePtr>& parts) {
  TAEDA_CHECK_TYPE(parts.size() == 1, "takes one type");
  return parts[0];
}

TypePtr made(std::string_view kind, std::vector<TypePtr> parts) {
  if (kind == "OptionalType") return optional_type(single(parts));
  if (kind == "ListType") return list_type(single(parts));
  if (kind == "FutureType") return future_type(single(parts));
  if (kind == "AwaitType") return await_type(single(parts));
  if (kind == "RRefType") return rref_type(single(parts));
  if (kind == "UnionType") return union_type(std::move(parts));
  if (kind == "TupleType") return tuple_type(std::move(parts));
  TAEDA_CHECK_TYPE(kind == "DictType" && parts.size() == 2, "takes the key's type and the value's");
  return dict_type(parts[0], parts[1]);
}

PyObject* make(PyObject*, PyObject* args) {
  const char* kind;
  PyObject* parts;
  if (!PyArg_ParseTuple(args, "sO", &kind, &parts)) return nullptr;
  return guarded(kind, [&] { return wrap(made(kind, to_types(parts))); });
}

PyObject* parse(PyObject*, PyObject* spelling) {
  return guarded("parse_type", [&] { return wrap(parse_type(to_text(spelling, "text"))); });
}

PyObject* unify_list(PyObject*, PyObject* list) {
  return guarded("unify_type_list", [&] {
    std::vector<TypePtr> types = to_types(list);
    TAEDA_CHECK(!types.empty(), "takes at least one type");
    TypePtr all = types[0];
    for (size_t i = 1; i < types.size(); ++i) {
      TypePtr both = unify(all, types[i]);
      TAEDA_CHECK(both, "item ", i, ", of type ", types[i]->annotation(),
                  ", does not go with those before it, of type ", all->annotation());
      all = both;
    }
    return wrap(all);
  });
}

PyObject* infer(PyObject*, PyObject* object) {
  return guarded("_type_of", [&] { return wrap(type_of(to_value(object))); });
}

// What becomes of an object on its way through a value of a type: (value of the type, its own type).
PyObject* convert(PyObject*, PyObject* args) {
  PyObject *object, *type;
  if (!PyArg_ParseTuple(args, "OO", &object, &type)) return nullptr;
  return guarded("_convert", [&] {
    TypePtr wanted = to_type(type, "type");
    Value value;
    bool fits = read_typed(object, wanted, value);
    if (PyErr_Occurred()) throw PythonError();
    TAEDA_CHECK_TYPE(fits, "a ", Py_TYPE(object)->tp_name, " is no ", wanted->annotation());
    return Py_BuildValue("NN", check(wrap(value)), check(wrap(type_of(value))));
  });
}

PyObject* enum_of(PyObject*, PyObject* cls) {
  return guarded("_enum_type", [&] { return wrap(register_enum(cls)); });
}

PyObject* set_classes(PyObject*, PyObject* classes) {
  Py_XSETREF(g_classes, Py_NewRef(classes));
  Py_RETURN_NONE;
}

// --- Schemas
PyObject* wrap_set(const std::vector<std::string>& names) {
  Owned list(list_from(names, text));
  return check(PySet_New(list.get()));
}

PyObject* wrap_alias(const std::optional<AliasInfo>& alias) {
  if (!alias) return Py_NewRef(Py_None);
  Owned before(wrap_set(alias->before)), after(wrap_set(alias->after));
  return Py_BuildValue("OOOO", alias->is_write ? Py_True : Py_False, before.get(), after.get(),
                       alias->of_elements ? Py_True : Py_False);
}

// (name, type, as it is shown, size, alias, keyword only, has a default, the default)
PyObject* wrap_argument(const SchemaArgument& argument) {
  Owned size(argument.list_size ? check(PyLong_FromLong(argument.list_size)) : Py_NewRef(Py_None));
  return Py_BuildValue("sNNONOON", argument.name.c_str(), check(wrap(argument.type)),
                       check(wrap(shown_type(argument.type))), size.get(), check(wrap_alias(argument.alias)),
                       argument.keyword_only ? Py_True : Py_False, argument.default_text ? Py_True : Py_False,
                       check(wrap(argument.default_value)));
}

// (name, overload, arguments, results, more arguments, more results, the one spelling)
PyObject* parse_schema_text(PyObject*, PyObject* given) {
  return guarded("parse_schema", [&] {
    Schema schema = parse_schema(to_text(given, "text"));
    return Py_BuildValue("ssNNOON", schema.name.c_str(), schema.overload.c_str(),
                         list_from(schema.arguments, wrap_argument), list_from(schema.returns, wrap_argument),
                         schema.is_vararg ? Py_True : Py_False, schema.is_varret ? Py_True : Py_False,
                         check(text(schema_text(schema))));
  });
}

PyMethodDef g_functions[] = {{"_make_type", make, METH_VARARGS, nullptr},
                             {"_parse_type", parse, METH_O, nullptr},
                             {"_parse_schema", parse_schema_text, METH_O, nullptr},
                             {"unify_type_list", unify_list, METH_O,
                              "unify_type_list(types)\n--\n\nThe least type that covers all of them; RuntimeError if "
                              "there is none."},
                             {"_type_of", infer, METH_O, nullptr},
                             {"_convert", convert, METH_VARARGS, nullptr},
                             {"_enum_type", enum_of, METH_O, nullptr},
                             {"_set_type_classes", set_classes, METH_O, nullptr},
                             {}};

}  // namespace

PyObject* wrap(TypePtr type) {
  static auto* objects = new std::unordered_map<TypePtr, PyObject*>;
  if (auto found = objects->find(type); found != objects->end()) return Py_NewRef(found->second);
  PyTypeObject* cls = class_for(type);
  PyObject* made = check(cls->tp_alloc(cls, 0));
  reinterpret_cast<TypeObject*>(made)->type = type;
  (*objects)[type] = made;
  return Py_NewRef(made);
}

TypePtr to_type(PyObject* object, const char* name) {
  TAEDA_CHECK(object != Py_None, "'", name, "' must be a type as TensorType.get(); got None");
  TAEDA_CHECK_TYPE(PyObject_TypeCheck(object, &g_type), "'", name, "' must be a type as TensorType.get(); got ",
                   Py_TYPE(object)->tp_name);
  return type_of_self(object);
}

int init_schemas(PyObject* module) {
  g_type.tp_flags |= Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  g_type.tp_methods = g_methods;
  g_type.tp_getset = g_getset;
  g_type.tp_repr = repr;
  g_type.tp_doc = "A type of schemas; there is one object of each.";
  if (add_type(module, g_type) < 0 || PyModule_AddFunctions(module, class_type_functions) < 0) return -1;
  return PyModule_AddFunctions(module, g_functions);
}

}  // namespace taeda::python
