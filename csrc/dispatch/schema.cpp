#include "taeda/dispatch/schema.h"

#include <algorithm>
#include <limits>

namespace taeda {

namespace {

// --- Spelling
std::string set_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += str(text.empty() ? "" : "|", name);
  return text;
}

std::string alias_text(const AliasInfo& alias) {
  std::string after = alias.after == alias.before ? "" : str(" -> ", set_text(alias.after));
  return str("(", set_text(alias.before), alias.is_write ? "!" : "", after, ")");
}

std::string type_text(TypePtr type, const SchemaArgument& argument) {
  std::string alias = argument.alias ? alias_text(*argument.alias) : "";
  if (type->is(TypeKind::Optional)) return type_text(type->contained(0), argument) + "?";
  if (!type->is(TypeKind::List)) return type->str() + alias;
  std::string size = argument.list_size ? str("[", argument.list_size, "]") : "[]";
  bool of_elements = argument.alias && argument.alias->of_elements;
  SchemaArgument element;
  if (of_elements) element.alias = argument.alias;
  return str(of_elements ? type_text(type->contained(0), element) : type->contained(0)->str(), size,
             of_elements ? "" : alias);
}

}  // namespace

std::string schema_text(const SchemaArgument& argument) {
  std::string text = type_text(argument.type, argument);
  if (!argument.name.empty()) text += " " + argument.name;
  if (argument.default_text) text += "=" + *argument.default_text;
  return text;
}

std::string schema_text(const Schema& schema) {
  std::string text = schema.name + (schema.overload.empty() ? "" : "." + schema.overload) + "(";
  std::string_view comma = "";
  bool keyword_only = false;
  auto add = [&](std::string_view part) {
    text += str(comma, part);
    comma = ", ";
  };
  for (const SchemaArgument& argument : schema.arguments) {
    if (argument.keyword_only && !std::exchange(keyword_only, true)) add("*");
    add(schema_text(argument));
  }
  if (schema.is_vararg) add("...");
  text += ") -> ";
  bool is_lone = schema.returns.size() + schema.is_varret == 1 &&
                 (schema.is_varret || !schema.returns[0].type->is(TypeKind::Tuple));
  comma = "";
  if (!is_lone) text += "(";
  for (const SchemaArgument& result : schema.returns) add(schema_text(result));
  if (schema.is_varret) add("...");
  return is_lone ? text : text + ")";
}

// --- From and to what calls know of types
namespace {

struct Kinds {
  TypeKind kind;
  ArgType single, list;
};
// The first row of an ArgType is the type that it stands for.
constexpr Kinds kKinds[] = {
    {TypeKind::Tensor, ArgType::Tensor, ArgType::TensorList},
    {TypeKind::Number, ArgType::Scalar, ArgType::ScalarList},
    {TypeKind::Int, ArgType::Int, ArgType::IntList},
    {TypeKind::SymInt, ArgType::Int, ArgType::IntList},
    {TypeKind::Float, ArgType::Float, ArgType::FloatList},
    {TypeKind::SymFloat, ArgType::Float, ArgType::FloatList},
    {TypeKind::Bool, ArgType::Bool, ArgType::BoolList},
    {TypeKind::SymBool, ArgType::Bool, ArgType::BoolList},
    {TypeKind::String, ArgType::String, ArgType::Any},
    {TypeKind::ScalarType, ArgType::DType, ArgType::Any},
    {TypeKind::Device, ArgType::Device, ArgType::Any},
    {TypeKind::Layout, ArgType::Layout, ArgType::Any},
    {TypeKind::MemoryFormat, ArgType::MemoryFormat, ArgType::Any},
    {TypeKind::Generator, ArgType::Generator, ArgType::Any},
};

}  // namespace

ArgType arg_type(TypePtr type) {
  if (type->is(TypeKind::Optional)) type = type->contained(0);
  bool is_list = type->is(TypeKind::List);
  if (is_list) type = type->contained(0);
  if (is_list && type->is(TypeKind::Optional))
    return type->contained(0)->is(TypeKind::Tensor) ? ArgType::OptTensorList : ArgType::Any;
  for (const Kinds& row : kKinds)
    if (row.kind == type->kind()) return is_list ? row.list : row.single;
  return ArgType::Any;
}

TypePtr type_of(const Param& param) {
  TypePtr found = plain_type(TypeKind::Any);
  if (param.type == ArgType::OptTensorList) found = list_type(optional_type(plain_type(TypeKind::Tensor)));
  for (const Kinds& row : kKinds) {
    if (param.type != row.single && param.type != row.list) continue;
    if (param.type == ArgType::Any) break;
    found = param.type == row.single ? plain_type(row.kind) : list_type(plain_type(row.kind));
    break;
  }
  return param.optional ? optional_type(found) : found;
}

std::vector<TypePtr> parameter_types(const Op& op) {
  std::vector<TypePtr> types;
  for (const SchemaArgument& argument : parse_schema(op.info().schema).arguments) types.push_back(argument.type);
  return types;
}

Value default_value(const Param& param) {
  TAEDA_CHECK(param.has_default(), "the parameter '", param.name, "' has no default");
  return parse_default(param.default_text, type_of(param), param.list_size);
}

// --- Ops that are defined at run time
namespace {

Param param_of(const SchemaArgument& argument) {
  return {argument.name.c_str(),
          arg_type(argument.type),
          argument.default_text ? argument.default_text->c_str() : nullptr,
          argument.is_optional(),
          argument.keyword_only,
          argument.is_write(),
          static_cast<int8_t>(argument.list_size)};
}

uint8_t small_count(size_t count, std::string_view what) {
  TAEDA_CHECK(count <= UINT8_MAX, "an op has at most 255 ", what, "; got ", count);
  return static_cast<uint8_t>(count);
}

}  // namespace

DefinedOp::DefinedOp(Schema schema, std::string text, std::string file, int line)
    : schema_(std::move(schema)), text_(std::move(text)), file_(std::move(file)), info_{}, op_(info_) {
  TAEDA_CHECK(!schema_.is_vararg && !schema_.is_varret, "the op ", schema_.name,
              " takes or gives a fixed number of values; '...' is for a program's own functions");
  uint8_t out_count = 0;
  uint16_t tags = 0;
  bool returns_mutable = !schema_.returns.empty();
  for (const SchemaArgument& result : schema_.returns) {
    returns_mutable = returns_mutable && result.is_write();
    if (result.alias && !result.is_write()) tags |= kViewOp;
  }
  for (const SchemaArgument& argument : schema_.arguments) {
    params_.push_back(param_of(argument));
    if (argument.is_write() && argument.keyword_only) ++out_count;
  }
  if (out_count)
    tags |= kOutOp;
  else if (schema_.name.ends_with('_') && !params_.empty() && params_[0].is_mutable)
    tags |= kInplaceOp;
  info_.name = schema_.name.c_str();
  info_.overload = schema_.overload.c_str();
  info_.schema = text_.c_str();
  info_.params = params_.data();
  info_.file = file_.c_str();
  info_.line = static_cast<uint16_t>(std::clamp(line, 0, UINT16_MAX));
  info_.param_count = small_count(params_.size(), "parameters");
  info_.return_count = small_count(schema_.returns.size(), "results");
  info_.out_count = out_count;
  info_.returns_mutable = returns_mutable;
  info_.tags = tags;
}

std::string DefinedOp::where() const { return str(file_, ":", static_cast<int>(info_.line)); }

}  // namespace taeda
