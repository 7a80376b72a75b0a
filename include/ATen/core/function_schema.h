// An op's schema, with PyTorch's names for its questions.
#pragma once
#include <ATen/core/ivalue.h>
#include <taeda/dispatch/schema.h>

namespace c10 {

struct OperatorName {
  std::string name, overload_name;
  std::optional<std::string_view> getNamespace() const {
    const size_t end = name.find("::");
    return end == std::string::npos ? std::nullopt : std::optional(std::string_view(name).substr(0, end));
  }
  // Whether it had none.
  bool setNamespaceIfNotSet(const char* ns) {
    if (getNamespace()) return false;
    name = std::string(ns) + "::" + name;
    return true;
  }
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
  C10_API Argument(std::string name = {}, const TypePtr& type = nullptr, std::optional<int32_t> N = std::nullopt,
                   std::optional<IValue> default_value = std::nullopt, bool kwarg_only = false,
                   std::optional<AliasInfo> alias_info = std::nullopt);
  explicit Argument(::taeda::SchemaArgument argument) : SchemaArgument(std::move(argument)) {}
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

// What PyTorch's compiler may take for granted of an op. Here it is not asked: a program keeps the calls of ops that
// give nothing, and of others those whose results it uses.
enum class AliasAnalysisKind : uint8_t { INTERNAL_SPECIAL_CASE, CONSERVATIVE, FROM_SCHEMA, PURE_FUNCTION };

class FunctionSchema {
 public:
  FunctionSchema(::taeda::Schema schema) : schema_(std::move(schema)) {}
  FunctionSchema(std::string name, std::string overload_name, const std::vector<Argument>& arguments,
                 const std::vector<Argument>& returns, bool is_vararg = false, bool is_varret = false)
      : schema_{std::move(name),
                std::move(overload_name),
                {arguments.begin(), arguments.end()},
                {returns.begin(), returns.end()},
                is_vararg,
                is_varret} {}
  void setAliasAnalysis(AliasAnalysisKind) {}
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
