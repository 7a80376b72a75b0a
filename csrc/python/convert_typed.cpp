// Python objects as values of any type that a schema can say, and collections back.
#include <algorithm>
#include <unordered_map>

#include "python/convert_value.h"
#include "python/items.h"
#include "python/jit/containers.h"
#include "python/parser.h"
#include "python/type_objects.h"
#include "python/types.h"
#include "taeda/dispatch/schema.h"

namespace taeda::python {

namespace {

// --- Enumerations and named tuples: Python classes by type. They live as long as the types do, for ever.
std::unordered_map<TypePtr, PyObject*>& classes() {
  static auto* table = new std::unordered_map<TypePtr, PyObject*>;
  return *table;
}

bool is_enum_member(PyObject* object) {
  static PyObject* const base = [] {
    Owned module(check(PyImport_ImportModule("enum")));
    return check(PyObject_GetAttrString(module.get(), "Enum"));
  }();
  int found = PyObject_IsInstance(object, base);
  check(found);
  return found;
}

PyObject* named_tuple_class(TypePtr type) {
  PyObject*& cls = classes()[type];
  if (cls) return cls;
  Owned module(check(PyImport_ImportModule("collections"))), fields(check(PyList_New(0)));
  for (const std::string& field : type->fields())
    check(PyList_Append(fields.get(), Owned(check(PyUnicode_FromString(field.c_str()))).get()));
  std::string_view name = type->name();
  name.remove_prefix(name.rfind('.') + 1);  // npos + 1 is 0
  return cls = check(PyObject_CallMethod(module.get(), "namedtuple", "s#O", name.data(),
                                         static_cast<Py_ssize_t>(name.size()), fields.get()));
}

PyObject* tuple_of(const std::vector<Value>& items) {
  Owned tuple(check(PyTuple_New(static_cast<Py_ssize_t>(items.size()))));
  for (size_t i = 0; i < items.size(); ++i)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), check(wrap(items[i])));
  return tuple.release();
}

PyObject* list_of(const std::vector<Value>& items) {
  Owned list(check(PyList_New(static_cast<Py_ssize_t>(items.size()))));
  for (size_t i = 0; i < items.size(); ++i)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), check(wrap(items[i])));
  return list.release();
}

PyObject* dict_of(const Dict& from) {
  Owned dict(check(PyDict_New()));
  for (const auto& [key, value] : from.entries()) {
    Owned wrapped_key(check(wrap(key))), wrapped_value(check(wrap(value)));
    check(PyDict_SetItem(dict.get(), wrapped_key.get(), wrapped_value.get()));
  }
  return dict.release();
}

PyObject* enum_member(const EnumMember& member) {
  auto found = classes().find(member.type);
  TAEDA_CHECK_TYPE(found != classes().end(), "the enumeration ", member.type->name(), " has no Python class");
  return check(PyObject_GetAttrString(found->second, member.name().c_str()));
}

}  // namespace

std::string qualified_name(PyObject* cls) {
  Owned module(check(PyObject_GetAttrString(cls, "__module__")));
  Owned own_name(check(PyObject_GetAttrString(cls, "__name__")));
  std::string_view package = to_text(module.get(), "__module__"), own = to_text(own_name.get(), "__name__");
  if (package == "__main__") return str("__torch__.", own);
  // Programs are exchanged with PyTorch, where our modules have this name.
  bool is_ours = package == "taeda" || package.starts_with("taeda.");
  std::string name = str("__torch__.", is_ours ? "torch" : "", package.substr(is_ours ? 5 : 0), ".", own);
  // What modules of packages are called, "<torch_package_0>.net", is no word of schemas.
  std::ranges::replace_if(name, [](char c) { return c == '<' || c == '>'; }, '_');
  return name;
}

void set_class_of(TypePtr type, PyObject* cls) {
  if (PyObject*& known = classes()[type]; !known) known = Py_NewRef(cls);
}

namespace {

// Another class may have had the name.
const EnumType* new_enum_type(const std::string& name, TypePtr value_type, const std::vector<EnumType::Member>& members,
                              PyObject* cls) {
  std::string free = name;
  for (int number = 0; TypePtr taken = find_named_type(free); ++number) {
    auto known = classes().find(taken);
    bool same = taken->is(TypeKind::Enum) && static_cast<const EnumType*>(taken)->same_as(value_type, members);
    if (same && (known == classes().end() || known->second == cls)) break;
    free = str("__torch__.___torch_mangle_", number, name.substr(std::string_view("__torch__").size()));
  }
  return enum_type(free, value_type, members);
}

std::unordered_map<PyObject*, const EnumType*>& enum_types() {
  static auto* table = new std::unordered_map<PyObject*, const EnumType*>;
  return *table;
}

}  // namespace

const EnumType* register_enum(PyObject* cls) {
  if (auto found = enum_types().find(cls); found != enum_types().end()) return found->second;
  Owned items(check(PySequence_List(cls)));
  std::vector<EnumType::Member> members;
  TypePtr value_type = nullptr;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
    Owned item(item_at(items.get(), i));
    Owned name(check(PyObject_GetAttrString(item.get(), "name"))),
        value(check(PyObject_GetAttrString(item.get(), "value")));
    members.emplace_back(to_text(name.get(), "name"), to_value(value.get()));
    TypePtr type = type_of(members.back().second);
    value_type = value_type ? unify(value_type, type) : type;
    TAEDA_CHECK_TYPE(value_type, "the values of ", qualified_name(cls), " are of several types");
  }
  TAEDA_CHECK_TYPE(value_type, "the enumeration ", qualified_name(cls), " has no members");
  const EnumType* type = new_enum_type(qualified_name(cls), value_type, members, cls);
  set_class_of(type, cls);
  return enum_types()[Py_NewRef(cls)] = type;
}

PyObject* wrap_collection(const Value& value) {
  switch (value.tag()) {
    case Value::Tag::List:
      return list_of(value.to_list().items);
    case Value::Tag::Tuple: {
      Owned items(tuple_of(value.to_tuple().items));
      TypePtr type = value.to_tuple().type;
      return type ? check(PyObject_CallObject(named_tuple_class(type), items.get())) : items.release();
    }
    case Value::Tag::Dict:
      return dict_of(value.to_dict());
    case Value::Tag::Enum:
      return enum_member(value.to_enum());
    default:
      return wrap_instance(Ref<Instance>(&value.to_instance()));
  }
}

// --- By type
namespace {

bool read_sequence(PyObject* object, TypePtr element, Value& value) {
  if (!PyList_Check(object) && !PyTuple_Check(object)) return false;
  ListRef list = ListRef::of(element);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
    Value item;
    if (!read_typed(item_at(object, i).get(), element, item)) return false;
    list.append(item);
  }
  value = list.value();
  return true;
}

bool read_tuple(PyObject* object, TypePtr type, Value& value) {
  size_t size = type->contained().size();
  if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) != static_cast<Py_ssize_t>(size)) return false;
  std::vector<Value> items(size);
  for (size_t i = 0; i < size; ++i)
    if (!read_typed(PyTuple_GET_ITEM(object, static_cast<Py_ssize_t>(i)), type->contained(i), items[i])) return false;
  value = make_ref<Tuple>(std::move(items), type->name().empty() ? nullptr : type);
  return true;
}

bool read_dict(PyObject* object, TypePtr type, Value& value) {
  if (!PyDict_Check(object)) return false;
  auto dict = make_ref<Dict>(type->contained(0), type->contained(1));
  Owned items(check(PyDict_Items(object)));  // reading one may change the dict
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
    PyObject* item = PyList_GET_ITEM(items.get(), i);
    Value key, entry;
    if (!read_typed(PyTuple_GET_ITEM(item, 0), type->contained(0), key) ||
        !read_typed(PyTuple_GET_ITEM(item, 1), type->contained(1), entry))
      return false;
    dict->set(key, std::move(entry));
  }
  value = std::move(dict);
  return true;
}

bool read_enum(PyObject* object, TypePtr type, Value& value) {
  if (!is_enum_member(object) || register_enum(reinterpret_cast<PyObject*>(Py_TYPE(object))) != type) return false;
  Owned name(check(PyObject_GetAttrString(object, "name")));
  auto* members = static_cast<const EnumType*>(type);
  value = make_ref<EnumMember>(members, members->index_of(to_text(name.get(), "name")));
  return true;
}

bool read_union(PyObject* object, TypePtr type, Value& value) {
  // An int is a float's value too: first the member that the object shows.
  Value shown = to_value(object);
  TypePtr shown_as = type_of(shown);
  for (TypePtr member : type->contained())
    if (shown_as == member) return value = std::move(shown), true;
  for (TypePtr member : type->contained())
    if (read_typed(object, member, value)) return true;
  return false;
}

// A class that programs declared; of others (torchbind, streams) the objects are Python's own.
bool is_compiled(TypePtr type) {
  if (type->is(TypeKind::Interface)) return true;
  auto* cls = static_cast<const ClassType*>(type);
  return cls->is_module || !cls->attributes().empty() || !cls->methods().empty();
}

bool hold(PyObject* object, Value& value) {
  value = Value::object(make_ref<HeldObject>(object));
  return true;
}

}  // namespace

bool read_typed(PyObject* object, TypePtr type, Value& value) {
  if (ArgType plain = arg_type(type); plain != ArgType::Any) {
    return read_value(object, {"", plain, nullptr, type->is(TypeKind::Optional)}, value, nullptr);
  }
  switch (type->kind()) {
    case TypeKind::Optional:
      if (object != Py_None) return read_typed(object, type->contained(0), value);
      [[fallthrough]];
    case TypeKind::None:
      value = Value();
      return object == Py_None;
    case TypeKind::Any:
      value = to_value(object);
      return true;
    case TypeKind::Complex: {
      Scalar number;
      if (PyBool_Check(object) || !read_number(object, number)) return false;
      value = Value(number.to<complex128>());
      return true;
    }
    case TypeKind::List:
      return read_sequence(object, type->contained(0), value);
    case TypeKind::Tuple:
      return read_tuple(object, type, value);
    case TypeKind::Dict:
      return read_dict(object, type, value);
    case TypeKind::Enum:
      return read_enum(object, type, value);
    case TypeKind::Union:
      return read_union(object, type, value);
    case TypeKind::Future:  // in a program, its result
    case TypeKind::Await:
      return read_typed(object, type->contained(0), value) || hold(object, value);
    case TypeKind::Storage:
      return is_storage(object) && hold(object, value);
    case TypeKind::Class:
    case TypeKind::Interface:
      if (read_instance(object, type, value)) return true;
      return !is_compiled(type) && hold(object, value);
    default:
      return hold(object, value);  // classes, streams, capsules: Python's own
  }
}

// --- By what the object shows
namespace {

// The one type of the items; null when there are none, or they differ.
template <class Items>
TypePtr common_type(const Items& items) {
  TypePtr common = nullptr;
  for (const Value& item : items) {
    TypePtr type = type_of(item);
    common = common ? unify(common, type) : type;
    if (!common) return nullptr;
  }
  return common;
}

std::vector<Value> values_of(PyObject* sequence) {
  std::vector<Value> values;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); ++i)
    values.push_back(to_value(item_at(sequence, i).get()));
  return values;
}

Value list_value(PyObject* object) {
  std::vector<Value> items = values_of(object);
  TypePtr element = common_type(items);
  ListRef list = ListRef::of(element ? element : plain_type(TypeKind::Any));
  for (const Value& item : items) list.append(item);
  return list.value();
}

Value dict_value(PyObject* object) {
  Owned keys(check(PyDict_Keys(object))), values(check(PyDict_Values(object)));
  std::vector<Value> from = values_of(keys.get()), to = values_of(values.get());
  TypePtr any = plain_type(TypeKind::Any), key = common_type(from), value = common_type(to);
  auto dict = make_ref<Dict>(key ? key : any, value ? value : any);
  for (size_t i = 0; i < from.size(); ++i) dict->set(from[i], std::move(to[i]));
  return dict;
}

Value tuple_value(PyObject* object) {
  std::vector<Value> items = values_of(object);
  Owned fields(PyObject_GetAttrString(object, "_fields"));
  if (!fields) {
    PyErr_Clear();
    return make_ref<Tuple>(std::move(items));
  }
  std::vector<std::string> names;
  std::vector<TypePtr> types;
  for (size_t i = 0; i < items.size(); ++i) {
    names.emplace_back(to_text(item_at(fields.get(), static_cast<Py_ssize_t>(i)).get(), "_fields"));
    types.push_back(type_of(items[i]));
  }
  PyObject* cls = reinterpret_cast<PyObject*>(Py_TYPE(object));
  TypePtr type = named_tuple_type(qualified_name(cls), std::move(names), std::move(types));
  set_class_of(type, cls);
  return make_ref<Tuple>(std::move(items), type);
}

Value enum_value(PyObject* object) {
  Value value;
  read_enum(object, register_enum(reinterpret_cast<PyObject*>(Py_TYPE(object))), value);
  return value;
}

bool is_hashable(PyObject* dict) {
  Py_ssize_t at = 0;
  PyObject *key, *value;
  while (PyDict_Next(dict, &at, &key, &value))
    if (!PyUnicode_Check(key) && !PyLong_Check(key) && !PyFloat_Check(key) && !PyComplex_Check(key) &&
        !PyTuple_Check(key) && !is_tensor(key))
      return false;
  return true;
}

}  // namespace

namespace {

// RecursionError where collections hold one another without end.
struct Nesting {
  Nesting() {
    if (Py_EnterRecursiveCall(" while a collection was read")) throw PythonError();
  }
  ~Nesting() { Py_LeaveRecursiveCall(); }
};

}  // namespace

Value to_value(PyObject* object) {
  if (object == Py_None) return Value();
  if (is_tensor(object)) return unwrap(object);
  Value value;
  if (PyBool_Check(object) || PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyComplex_CheckExact(object)) {
    Scalar number;
    if (read_number(object, number)) return number;
  }
  if (PyUnicode_CheckExact(object)) return to_text(object, "text");
  if (is_dtype(object)) return to_dtype(object);
  if (is_device(object)) return to_device(object);
  if (is_layout(object)) return to_layout(object);
  if (is_memory_format(object)) return to_memory_format(object);
  if (is_generator(object)) return to_generator(object);
  if (PyList_CheckExact(object) || PyTuple_Check(object) || (PyDict_CheckExact(object) && is_hashable(object))) {
    Nesting nesting;
    return PyList_CheckExact(object) ? list_value(object)
           : PyTuple_Check(object)   ? tuple_value(object)
                                     : dict_value(object);
  }
  if (is_enum_member(object)) return enum_value(object);
  if (read_instance(object, nullptr, value) || read_container(object, nullptr, value)) return value;
  hold(object, value);
  return value;
}

}  // namespace taeda::python
