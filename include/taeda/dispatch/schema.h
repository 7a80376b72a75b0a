// Schemas read at run time, for ops that a program defines. The grammar is that of the field's native functions:
//   ns::name.overload(Tensor(a!) self, SymInt[2] size=1, *, float? p=None) -> (Tensor(a!) out, Tensor[] rest)
#pragma once
#include <memory>

#include "taeda/dispatch/op.h"

namespace taeda {

struct SchemaType {
  ArgType type = ArgType::Any;
  bool optional = false;
  bool is_mutable = false;
  int list_size = 0;
  std::string alias;  // "a" of Tensor(a!); "*" for the wildcard
};

struct SchemaArgument {
  SchemaType type;
  std::string name;
  std::optional<std::string> default_text;
  bool keyword_only = false;
};

struct SchemaReturn {
  SchemaType type;
  std::string name;  // may be empty
};

struct Schema {
  std::string name;  // with its namespace when the text had one
  std::string overload;
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaReturn> returns;
};

// RuntimeError that shows where the text went wrong.
TAEDA_API Schema parse_schema(std::string_view text);
// The value that a parameter's default text stands for. RuntimeError when it has none.
TAEDA_API Value default_value(const Param& param);

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
