// Schemas read at run time: the field's grammar for native functions and for programs' own.
//   ns::name.overload(Tensor(a!) self, SymInt[2] size=1, *, Dict(str, Tensor)? p=None, ...) -> (Tensor(a!) out,
//   int[][])
// This is the one parser of the run time; taedagen has its own, which tests hold against it.
#pragma once
#include <memory>
#include <optional>

#include "taeda/dispatch/op.h"
#include "taeda/dispatch/type.h"

namespace taeda {

// Tensor(a! -> b|c): the memory that a value shares. "*" stands for any.
struct AliasInfo {
  bool is_write = false;
  bool of_elements = false;  // Tensor(a)[], where Tensor[](a) is of the list itself
  std::vector<std::string> before, after;
};

// A parameter or a result.
struct SchemaArgument {
  TypePtr type = nullptr;
  std::string name;  // of a result it may be empty
  std::optional<AliasInfo> alias;
  int list_size = 0;  // int[2]; 0 for any
  bool keyword_only = false;
  std::optional<std::string> default_text;
  Value default_value;  // what the text stands for

  bool is_write() const { return alias && alias->is_write; }
  bool is_optional() const { return type->is(TypeKind::Optional); }
};

struct Schema {
  std::string name;  // with its namespace when the text had one
  std::string overload;
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaArgument> returns;
  bool is_vararg = false, is_varret = false;  // more of any type follow
};

// RuntimeError that shows where the text went wrong.
TAEDA_API Schema parse_schema(std::string_view text);
// The one spelling of a schema, an argument.
TAEDA_API std::string schema_text(const Schema& schema);
TAEDA_API std::string schema_text(const SchemaArgument& argument);

// What a text after '=' stands for. RuntimeError when it is no value of the type.
TAEDA_API Value parse_default(std::string_view text, TypePtr type, int list_size = 0);
// Likewise of a parameter that is constant data. RuntimeError when it has no default.
TAEDA_API Value default_value(const Param& param);
// The type that a parameter's constant data stands for; Any where it says no more.
TAEDA_API TypePtr type_of(const Param& param);
// The types of all parameters of an op, read from its schema.
TAEDA_API std::vector<TypePtr> parameter_types(const Op& op);
// How calls treat values of a type (but for the optional around it).
TAEDA_API ArgType arg_type(TypePtr type);

// An op with the strings that its constant data points to.
class TAEDA_API DefinedOp {
 public:
  DefinedOp(Schema schema, std::string text, std::string file, int line);
  DefinedOp(const DefinedOp&) = delete;
  const Op& op() const { return op_; }
  std::string where() const;

 private:
  Schema schema_;
  std::string text_;
  std::string file_;
  std::vector<Param> params_;
  OpInfo info_;
  Op op_;
};

}  // namespace taeda
