// An op's schema, with PyTorch's names for its questions.
#pragma once
#include <ATen/core/ivalue.h>
#include <taeda/dispatch/schema.h>

namespace c10 {

struct OperatorName {
  std::string name, overload_name;
  bool operator==(const OperatorName&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const OperatorName& name) {
  return out << name.name << (name.overload_name.empty() ? "" : ".") << name.overload_name;
}
inline std::string toString(const OperatorName& name) { return str(name); }

// Which memory a value shares, and whether it is written to.
struct AliasInfo : ::taeda::AliasInfo {
  bool isWrite() const { return is_write; }
  const std::vector<std::string>& beforeSets() const { return before; }
  const std::vector<std::string>& afterSets() const { return after; }
};

// A parameter or a result.
struct Argument : ::taeda::SchemaArgument {
  const std::string& name() const { return SchemaArgument::name; }
  TypePtr type() const { return SchemaArgument::type; }
  std::optional<int32_t> N() const { return list_size ? std::optional<int32_t>(list_size) : std::nullopt; }
  std::optional<IValue> default_value() const {
    return default_text ? std::optional<IValue>(SchemaArgument::default_value) : std::nullopt;
  }
  bool kwarg_only() const { return keyword_only; }
  bool is_out() const { return keyword_only && is_write(); }
  const AliasInfo* alias_info() const { return alias ? static_cast<const AliasInfo*>(&*alias) : nullptr; }
};
static_assert(sizeof(Argument) == sizeof(::taeda::SchemaArgument));

class FunctionSchema {
 public:
  FunctionSchema(::taeda::Schema schema) : schema_(std::move(schema)) {}
  // The schema itself, as one.
  static const FunctionSchema& of(const ::taeda::Schema& schema) {
    return reinterpret_cast<const FunctionSchema&>(schema);
  }
  const std::string& name() const { return schema_.name; }
  const std::string& overload_name() const { return schema_.overload; }
  OperatorName operator_name() const { return {name(), overload_name()}; }
  ArrayRef<Argument> arguments() const { return as_list(schema_.arguments); }
  ArrayRef<Argument> returns() const { return as_list(schema_.returns); }
  bool is_vararg() const { return schema_.is_vararg; }
  bool is_varret() const { return schema_.is_varret; }
  bool is_mutable() const {
    for (const Argument& argument : arguments())
      if (argument.is_write()) return true;
    return false;
  }
  std::optional<int> argumentIndexWithName(std::string_view wanted) const {
    for (size_t i = 0; i < arguments().size(); ++i)
      if (arguments()[i].name() == wanted) return static_cast<int>(i);
    return std::nullopt;
  }
  friend std::ostream& operator<<(std::ostream& out, const FunctionSchema& schema) {
    return out << ::taeda::schema_text(schema.schema_);
  }

 private:
  static ArrayRef<Argument> as_list(const std::vector<::taeda::SchemaArgument>& list) {
    return {static_cast<const Argument*>(list.data()), list.size()};
  }
  ::taeda::Schema schema_;  // and nothing else
};
static_assert(sizeof(FunctionSchema) == sizeof(::taeda::Schema));

}  // namespace c10
