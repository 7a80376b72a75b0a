#include "taeda/dispatch/type.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "taeda/core/fork.h"
#include "taeda/dispatch/class_type.h"

namespace taeda {

namespace {

struct Spelling {
  TypeKind kind;
  const char* class_name;
  const char* schema;      // null for kinds that are made of others
  const char* annotation;  // null where it is the schema's
};
constexpr Spelling kSpellings[] = {
    {TypeKind::Any, "AnyType", "Any", nullptr},
    {TypeKind::Enum, "EnumType", nullptr, nullptr},
    {TypeKind::AnyEnum, "AnyEnumType", "AnyEnumType", nullptr},
    {TypeKind::Tensor, "TensorType", "Tensor", nullptr},
    {TypeKind::Storage, "StorageType", "Storage", nullptr},
    {TypeKind::Tuple, "TupleType", nullptr, nullptr},
    {TypeKind::List, "ListType", nullptr, nullptr},
    {TypeKind::Dict, "DictType", nullptr, nullptr},
    {TypeKind::Number, "NumberType", "Scalar", "number"},
    {TypeKind::Float, "FloatType", "float", nullptr},
    {TypeKind::Complex, "ComplexType", "complex", nullptr},
    {TypeKind::Future, "FutureType", nullptr, nullptr},
    {TypeKind::Await, "AwaitType", nullptr, nullptr},
    {TypeKind::RRef, "RRefType", nullptr, nullptr},
    {TypeKind::Int, "IntType", "int", nullptr},
    {TypeKind::None, "NoneType", "NoneType", nullptr},
    {TypeKind::String, "StringType", "str", nullptr},
    {TypeKind::Generator, "GeneratorType", "Generator", nullptr},
    {TypeKind::Quantizer, "QuantizerType", "Quantizer", nullptr},
    {TypeKind::Bool, "BoolType", "bool", nullptr},
    {TypeKind::Optional, "OptionalType", nullptr, nullptr},
    {TypeKind::Var, "VarType", nullptr, nullptr},
    {TypeKind::Device, "DeviceObjType", "Device", nullptr},
    {TypeKind::Stream, "StreamObjType", "Stream", nullptr},
    {TypeKind::Class, "ClassType", nullptr, nullptr},
    {TypeKind::Interface, "InterfaceType", nullptr, nullptr},
    {TypeKind::PyObject, "PyObjectType", "PyObject", nullptr},
    {TypeKind::Capsule, "CapsuleType", "Capsule", nullptr},
    {TypeKind::QScheme, "QSchemeType", "QScheme", nullptr},
    {TypeKind::AnyList, "AnyListType", "AnyListType", "list"},
    {TypeKind::AnyTuple, "AnyTupleType", "AnyTupleType", "tuple"},
    {TypeKind::ScalarType, "ScalarTypeType", "ScalarType", nullptr},
    {TypeKind::Layout, "LayoutType", "Layout", nullptr},
    {TypeKind::MemoryFormat, "MemoryFormatType", "MemoryFormat", nullptr},
    {TypeKind::AnyClass, "AnyClassType", "AnyClassType", nullptr},
    {TypeKind::SymInt, "SymIntType", "SymInt", "int"},
    {TypeKind::SymFloat, "SymFloatType", "SymFloat", "float"},
    {TypeKind::SymBool, "SymBoolType", "SymBool", "bool"},
    {TypeKind::Union, "UnionType", nullptr, nullptr},
};
constexpr bool in_order() {
  for (size_t i = 0; i < std::size(kSpellings); ++i)
    if (static_cast<size_t>(kSpellings[i].kind) != i) return false;
  return std::size(kSpellings) == static_cast<size_t>(TypeKind::Union) + 1;
}
static_assert(in_order(), "kSpellings has one row for each TypeKind, in its order");

const Spelling& spelling(TypeKind kind) { return kSpellings[static_cast<size_t>(kind)]; }

std::string joined(std::span<const TypePtr> types, const std::string& (Type::*text)() const) {
  std::string all;
  for (TypePtr type : types) all += str(all.empty() ? "" : ", ", (type->*text)());
  return all;
}

std::string schema_text(const Type::Parts& parts) {
  auto inner = [&] { return joined(parts.contained, &Type::str); };
  switch (parts.kind) {
    case TypeKind::Optional:
      return inner() + "?";
    case TypeKind::List:
      return inner() + "[]";
    case TypeKind::Future:
      return str("Future[", inner(), "]");
    case TypeKind::RRef:
      return str("RRef[", inner(), "]");
    case TypeKind::Await:
      return str("Await(", inner(), ")");
    case TypeKind::Dict:
      return str("Dict(", inner(), ")");
    case TypeKind::Union:
      return str("Union(", inner(), ")");
    case TypeKind::Tuple: {
      if (parts.name.empty()) return str("(", inner(), ")");
      std::string text;
      for (size_t i = 0; i < parts.fields.size(); ++i)
        text += str(i ? ", " : "", parts.fields[i], " : ", parts.contained[i]->annotation());
      return str("NamedTuple(", text, ")");
    }
    case TypeKind::Enum:
      return str("Enum<", parts.name, ">");
    default:
      return parts.name.empty() ? spelling(parts.kind).schema : parts.name;
  }
}

std::string annotation_text(const Type::Parts& parts) {
  auto of = [&](const char* name) { return str(name, "[", joined(parts.contained, &Type::annotation), "]"); };
  switch (parts.kind) {
    case TypeKind::Optional:
      return of("Optional");
    case TypeKind::List:
      return of("List");
    case TypeKind::Future:
      return of("Future");
    case TypeKind::RRef:
      return of("RRef");
    case TypeKind::Await:
      return of("Await");
    case TypeKind::Dict:
      return of("Dict");
    case TypeKind::Union:
      return of("Union");
    case TypeKind::Tuple:
      if (!parts.name.empty()) return parts.name;
      return parts.contained.empty() ? "Tuple[()]" : of("Tuple");
    default:
      if (!parts.name.empty()) return parts.name;
      return spelling(parts.kind).annotation ? spelling(parts.kind).annotation : spelling(parts.kind).schema;
  }
}

}  // namespace

Type::Type(Parts parts)
    : kind_(parts.kind),
      contained_(std::move(parts.contained)),
      name_(std::move(parts.name)),
      fields_(std::move(parts.fields)),
      text_(schema_text({kind_, contained_, name_, fields_})),
      annotation_(annotation_text({kind_, contained_, name_, fields_})) {}

// All nodes but those with members of their own.
struct Types {
  struct Hash {
    size_t operator()(const Type::Parts& parts) const {
      size_t hash = static_cast<size_t>(parts.kind) ^ std::hash<std::string>()(parts.name);
      for (TypePtr type : parts.contained) hash = hash * 1000003 ^ std::hash<TypePtr>()(type);
      for (const std::string& field : parts.fields) hash = hash * 1000003 ^ std::hash<std::string>()(field);
      return hash;
    }
  };

  Mutex mutex;
  std::unordered_map<Type::Parts, std::unique_ptr<const Type>, Hash> nodes;

  static TypePtr node(Type::Parts parts) {
    static Types* types = new Types;
    std::lock_guard lock(types->mutex);
    std::unique_ptr<const Type>& found = types->nodes[parts];
    if (!found) found.reset(new Type(std::move(parts)));
    return found.get();
  }
};

std::string_view kind_name(TypeKind kind) { return spelling(kind).class_name; }

TypePtr plain_type(TypeKind kind) {
  TAEDA_CHECK(spelling(kind).schema, kind_name(kind), " is made of other types or has a name");
  return Types::node({kind, {}, {}, {}});
}

TypePtr plain_type_named(std::string_view name) {
  if (name == "number") return plain_type(TypeKind::Number);
  if (name == "None") return plain_type(TypeKind::None);
  if (name == "DeviceIndex") return plain_type(TypeKind::Int);
  for (const Spelling& row : kSpellings)
    if (row.schema && name == row.schema) return plain_type(row.kind);
  return nullptr;
}

TypePtr optional_type(TypePtr type) {
  if (type->is(TypeKind::Optional) || type->is(TypeKind::None)) return type;
  if (type->is(TypeKind::Union)) {
    std::vector<TypePtr> members(type->contained().begin(), type->contained().end());
    members.push_back(plain_type(TypeKind::None));
    return union_type(std::move(members));
  }
  return Types::node({TypeKind::Optional, {type}, {}, {}});
}

TypePtr list_type(TypePtr element) { return Types::node({TypeKind::List, {element}, {}, {}}); }
TypePtr future_type(TypePtr value) { return Types::node({TypeKind::Future, {value}, {}, {}}); }
TypePtr await_type(TypePtr value) { return Types::node({TypeKind::Await, {value}, {}, {}}); }
TypePtr rref_type(TypePtr value) { return Types::node({TypeKind::RRef, {value}, {}, {}}); }
TypePtr dict_type(TypePtr key, TypePtr value) { return Types::node({TypeKind::Dict, {key, value}, {}, {}}); }
TypePtr tuple_type(std::vector<TypePtr> elements) {
  return Types::node({TypeKind::Tuple, std::move(elements), {}, {}});
}
TypePtr variable_type(std::string name) { return Types::node({TypeKind::Var, {}, std::move(name), {}}); }

TypePtr named_tuple_type(std::string name, std::vector<std::string> fields, std::vector<TypePtr> elements) {
  TAEDA_CHECK_VALUE(fields.size() == elements.size(), "the named tuple ", name, " has ", fields.size(), " names for ",
                    elements.size(), " elements");
  return Types::node({TypeKind::Tuple, std::move(elements), std::move(name), std::move(fields)});
}

namespace {

void flatten(TypePtr type, std::vector<TypePtr>& members) {
  if (type->is(TypeKind::Union)) {
    for (TypePtr member : type->contained()) flatten(member, members);
  } else if (type->is(TypeKind::Optional)) {
    flatten(type->contained(0), members);
    members.push_back(plain_type(TypeKind::None));
  } else {
    members.push_back(type);
  }
}

// int, float and complex together are a number.
void join_numbers(std::vector<TypePtr>& members) {
  auto is_part = [](TypePtr type) {
    return type->is(TypeKind::Int) || type->is(TypeKind::Float) || type->is(TypeKind::Complex);
  };
  std::vector<TypePtr> parts;
  for (TypePtr member : members)
    if (is_part(member) && std::ranges::find(parts, member) == parts.end()) parts.push_back(member);
  if (parts.size() < 3) return;
  std::erase_if(members, is_part);
  members.push_back(plain_type(TypeKind::Number));
}

}  // namespace

TypePtr union_type(std::vector<TypePtr> members) {
  TAEDA_CHECK_VALUE(!members.empty(), "a union has at least one member");
  std::vector<TypePtr> flat, kept;
  for (TypePtr member : members) flatten(member, flat);
  join_numbers(flat);
  for (TypePtr member : flat) {
    auto covers = [&](TypePtr other) { return other != member && member->is_subtype_of(other); };
    if (std::ranges::find(kept, member) == kept.end() && std::ranges::none_of(flat, covers)) kept.push_back(member);
  }
  if (kept.size() == 1) return kept[0];
  TypePtr none = plain_type(TypeKind::None);
  if (kept.size() == 2 && kept[0] == none) return optional_type(kept[1]);
  if (kept.size() == 2 && kept[1] == none) return optional_type(kept[0]);
  std::ranges::sort(
      kept, [](TypePtr a, TypePtr b) { return a->kind() != b->kind() ? a->kind() < b->kind() : a->str() < b->str(); });
  return Types::node({TypeKind::Union, std::move(kept), {}, {}});
}

namespace {

bool covers_all(TypePtr other, std::span<const TypePtr> types, std::string* why) {
  return std::ranges::all_of(types, [&](TypePtr type) { return type->is_subtype_of(other, why); });
}

bool is_tuple_subtype(const Type& type, TypePtr other, std::string* why) {
  if (!type.is(TypeKind::Tuple) || type.contained().size() != other->contained().size()) return false;
  if (!other->name().empty() && (type.name() != other->name() || !std::ranges::equal(type.fields(), other->fields())))
    return false;
  for (size_t i = 0; i < type.contained().size(); ++i)
    if (!type.contained(i)->is_subtype_of(other->contained(i), why)) return false;
  return true;
}

}  // namespace

bool Type::is_subtype_of(TypePtr other, std::string* why) const {
  if (this == other || other->is(TypeKind::Any)) return true;
  if (is(TypeKind::Union)) return covers_all(other, contained(), why);
  switch (other->kind()) {
    case TypeKind::Number:
      return is(TypeKind::Int) || is(TypeKind::Float) || is(TypeKind::Complex);
    case TypeKind::Optional:
      if (is(TypeKind::None)) return true;
      return (is(TypeKind::Optional) ? contained(0) : this)->is_subtype_of(other->contained(0), why);
    case TypeKind::Union:
      if (is(TypeKind::Optional))
        return contained(0)->is_subtype_of(other, why) && plain_type(TypeKind::None)->is_subtype_of(other, why);
      return std::ranges::any_of(other->contained(), [&](TypePtr member) { return is_subtype_of(member, why); });
    case TypeKind::Tuple:
      return is_tuple_subtype(*this, other, why);
    case TypeKind::Future:
    case TypeKind::Await:
    case TypeKind::RRef:
      return kind() == other->kind() && contained(0)->is_subtype_of(other->contained(0), why);
    case TypeKind::AnyList:
      return is(TypeKind::List);
    case TypeKind::AnyTuple:
      return is(TypeKind::Tuple);
    case TypeKind::AnyClass:
      return is(TypeKind::Class);
    case TypeKind::AnyEnum:
      return is(TypeKind::Enum);
    case TypeKind::Interface:
      return static_cast<const InterfaceType*>(other)->is_served_by(*this, why);
    default:
      return false;
  }
}

bool Type::has_variables() const {
  return is(TypeKind::Var) || std::ranges::any_of(contained_, [](TypePtr type) { return type->has_variables(); });
}

namespace {

// The same kind of node over other types.
TypePtr rebuilt(TypePtr type, std::vector<TypePtr> contained) {
  switch (type->kind()) {
    case TypeKind::Optional:
      return optional_type(contained[0]);
    case TypeKind::Union:
      return union_type(std::move(contained));
    case TypeKind::Tuple:
      if (!type->name().empty())
        return named_tuple_type(type->name(), {type->fields().begin(), type->fields().end()}, std::move(contained));
      return tuple_type(std::move(contained));
    case TypeKind::List:
      return list_type(contained[0]);
    case TypeKind::Dict:
      return dict_type(contained[0], contained[1]);
    case TypeKind::Future:
      return future_type(contained[0]);
    case TypeKind::Await:
      return await_type(contained[0]);
    default:
      return rref_type(contained[0]);
  }
}

template <class Change>
TypePtr mapped(TypePtr type, Change&& change) {
  if (type->contained().empty()) return type;
  std::vector<TypePtr> contained;
  for (TypePtr part : type->contained()) contained.push_back(change(part));
  return std::ranges::equal(contained, type->contained()) ? type : rebuilt(type, std::move(contained));
}

// Element by element, for kinds whose values are never written to through it; null if some do not unify.
TypePtr unify_parts(TypePtr a, TypePtr b, bool or_union) {
  bool readable = a->is(TypeKind::Tuple) || a->is(TypeKind::Future) || a->is(TypeKind::Await);
  if (!readable || a->kind() != b->kind() || a->name() != b->name() || a->contained().size() != b->contained().size())
    return nullptr;
  std::vector<TypePtr> parts;
  for (size_t i = 0; i < a->contained().size(); ++i) {
    parts.push_back(unify(a->contained(i), b->contained(i), or_union));
    if (!parts.back()) return nullptr;
  }
  return rebuilt(a, std::move(parts));
}

TypePtr without_none(TypePtr type) { return type->is(TypeKind::Optional) ? type->contained(0) : type; }

}  // namespace

TypePtr unify(TypePtr a, TypePtr b, bool or_union) {
  if (a->is_subtype_of(b)) return b;
  if (b->is_subtype_of(a)) return a;
  if (a->is(TypeKind::None)) return optional_type(b);
  if (b->is(TypeKind::None)) return optional_type(a);
  if (TypePtr parts = unify_parts(a, b, or_union)) return parts;
  if (a->is(TypeKind::Optional) || b->is(TypeKind::Optional))
    if (TypePtr inner = unify(without_none(a), without_none(b))) return optional_type(inner);
  return or_union ? union_type({a, b}) : nullptr;
}

TypePtr shown_type(TypePtr type) {
  switch (type->kind()) {
    case TypeKind::ScalarType:
    case TypeKind::Layout:
    case TypeKind::MemoryFormat:
    case TypeKind::SymInt:
      return plain_type(TypeKind::Int);
    default:
      return mapped(type, shown_type);
  }
}

bool match_variables(TypePtr formal, TypePtr actual, TypeVariables& variables) {
  if (!formal->has_variables()) return actual->is_subtype_of(formal);
  if (formal->is(TypeKind::Var)) {
    TypePtr& bound = variables[formal->name()];
    TypePtr both = bound ? unify(bound, actual) : actual;
    if (both) bound = both;
    return both;
  }
  if (formal->is(TypeKind::Optional)) {
    if (actual->is(TypeKind::None)) return true;
    return match_variables(formal->contained(0), without_none(actual), variables);
  }
  if (formal->kind() != actual->kind() || formal->contained().size() != actual->contained().size()) return false;
  for (size_t i = 0; i < formal->contained().size(); ++i)
    if (!match_variables(formal->contained(i), actual->contained(i), variables)) return false;
  return true;
}

TypePtr put_variables(TypePtr formal, const TypeVariables& variables) {
  if (formal->is(TypeKind::Var)) {
    auto found = variables.find(formal->name());
    TAEDA_CHECK(found != variables.end(), "no argument says what the type '", formal->name(), "' is");
    return found->second;
  }
  return mapped(formal, [&](TypePtr part) { return put_variables(part, variables); });
}

}  // namespace taeda
