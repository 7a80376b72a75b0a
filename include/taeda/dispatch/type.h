// The types that schemas, boxed values and programs speak of: one tree of immutable nodes. A node is made once and
// lives as long as the process, so that equal types are equal pointers. Nothing is made before someone asks.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "taeda/core/error.h"

namespace taeda {

// In the order in which a union lists its members.
enum class TypeKind : uint8_t {
  Any,
  Enum,
  AnyEnum,
  Tensor,
  Storage,
  Tuple,
  List,
  Dict,
  Number,
  Float,
  Complex,
  Future,
  Await,
  RRef,
  Int,
  None,
  String,
  Generator,
  Quantizer,
  Bool,
  Optional,
  Var,  // of a generic op: 't'
  Device,
  Stream,
  Class,
  Interface,
  PyObject,
  Capsule,
  QScheme,
  AnyList,
  AnyTuple,
  ScalarType,
  Layout,
  MemoryFormat,
  AnyClass,
  SymInt,
  SymFloat,
  SymBool,
  Union
};

class Type;
using TypePtr = const Type*;

class TAEDA_API Type {
 public:
  virtual ~Type() = default;
  Type(const Type&) = delete;

  TypeKind kind() const { return kind_; }
  bool is(TypeKind kind) const { return kind_ == kind; }
  // The types it is made of: a list's element, a dict's key and value, a tuple's elements.
  std::span<const TypePtr> contained() const { return {contained_.data(), contained_.size()}; }
  TypePtr contained(size_t i) const { return contained_[i]; }
  // Of a class, an enumeration, an interface, a named tuple or a variable; empty otherwise.
  const std::string& name() const { return name_; }
  std::span<const std::string> fields() const { return {fields_.data(), fields_.size()}; }  // of a named tuple
  const std::string& str() const { return text_; }               // as a schema spells it: int[]?
  const std::string& annotation() const { return annotation_; }  // as Python does: Optional[List[int]]

  // Whether every value of this type is one of `other`; `why`, if given, tells of an interface what is missing.
  bool is_subtype_of(TypePtr other, std::string* why = nullptr) const;
  bool has_variables() const;

  struct Parts {
    TypeKind kind;
    std::vector<TypePtr> contained;
    std::string name;
    std::vector<std::string> fields;
    bool operator==(const Parts&) const = default;
  };

 protected:
  explicit Type(Parts parts);
  friend struct Types;

 private:
  TypeKind kind_;
  std::vector<TypePtr> contained_;
  std::string name_;
  std::vector<std::string> fields_;
  std::string text_, annotation_;
};

// --- Making types
TAEDA_API TypePtr plain_type(TypeKind kind);  // of a kind that is not made of others and has no name
TAEDA_API TypePtr optional_type(TypePtr type);
TAEDA_API TypePtr list_type(TypePtr element);
TAEDA_API TypePtr future_type(TypePtr value);
TAEDA_API TypePtr await_type(TypePtr value);
TAEDA_API TypePtr rref_type(TypePtr value);
TAEDA_API TypePtr dict_type(TypePtr key, TypePtr value);
TAEDA_API TypePtr tuple_type(std::vector<TypePtr> elements);
TAEDA_API TypePtr named_tuple_type(std::string name, std::vector<std::string> fields, std::vector<TypePtr> elements);
// In one form: no unions in it, no member that another covers, with None and one other an optional, alone the member.
TAEDA_API TypePtr union_type(std::vector<TypePtr> members);
TAEDA_API TypePtr variable_type(std::string name);
// The class, enumeration or interface of this name (class_type.h); until someone declares it, a class without members.
TAEDA_API TypePtr named_type(const std::string& name);

// --- What programs need
// The least type that covers both; null when there is none, or their union if that will do.
TAEDA_API TypePtr unify(TypePtr a, TypePtr b, bool or_union = false);
// What compiled programs and callers see: dtypes, layouts and memory formats are ints, sizes too.
TAEDA_API TypePtr shown_type(TypePtr type);
// Of generic ops: binds the formal type's variables so that it covers the actual one, and puts them in.
using TypeVariables = std::unordered_map<std::string, TypePtr>;
TAEDA_API bool match_variables(TypePtr formal, TypePtr actual, TypeVariables& variables);
TAEDA_API TypePtr put_variables(TypePtr formal, const TypeVariables& variables);

// Of a schema's text: "Dict(str, Tensor)[]?". RuntimeError that shows where it went wrong.
TAEDA_API TypePtr parse_type(std::string_view text);
// The kind of a plain type as schemas name it ("ScalarType"); null if it is none.
TAEDA_API TypePtr plain_type_named(std::string_view name);
TAEDA_API std::string_view kind_name(TypeKind kind);  // "TensorType"

}  // namespace taeda
