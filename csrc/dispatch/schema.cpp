#include "taeda/dispatch/schema.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace taeda {

namespace {

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

struct BaseType {
  std::string_view name;
  ArgType single;
  ArgType list;
};
constexpr BaseType kBaseTypes[] = {
    {"Tensor", ArgType::Tensor, ArgType::TensorList}, {"Scalar", ArgType::Scalar, ArgType::ScalarList},
    {"number", ArgType::Scalar, ArgType::ScalarList}, {"int", ArgType::Int, ArgType::IntList},
    {"SymInt", ArgType::Int, ArgType::IntList},       {"float", ArgType::Float, ArgType::FloatList},
    {"bool", ArgType::Bool, ArgType::BoolList},       {"SymBool", ArgType::Bool, ArgType::BoolList},
    {"str", ArgType::String, ArgType::Any},           {"ScalarType", ArgType::DType, ArgType::Any},
    {"Device", ArgType::Device, ArgType::Any},        {"DeviceIndex", ArgType::Int, ArgType::Any},
    {"Layout", ArgType::Layout, ArgType::Any},        {"MemoryFormat", ArgType::MemoryFormat, ArgType::Any},
    {"Generator", ArgType::Generator, ArgType::Any},  {"Any", ArgType::Any, ArgType::Any},
    {"Storage", ArgType::Any, ArgType::Any},          {"Stream", ArgType::Any, ArgType::Any},
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Schema parse() {
    Schema schema;
    schema.name = identifier("the op's name");
    if (take("::")) schema.name += str("::", identifier("the op's name"));
    if (take(".")) schema.overload = identifier("the overload's name");
    arguments(schema);
    expect("->");
    returns(schema);
    space();
    if (at_ != text_.size()) wrong("the end");
    return schema;
  }

 private:
  void arguments(Schema& schema) {
    bool keyword_only = false;
    expect("(");
    if (take(")")) return;
    do {
      if (take("*")) {
        if (keyword_only) wrong("only one '*'");
        keyword_only = true;
        continue;
      }
      SchemaArgument argument;
      argument.type = type();
      argument.name = identifier("a parameter's name");
      argument.keyword_only = keyword_only;
      if (take("=")) argument.default_text = default_text();
      for (const SchemaArgument& other : schema.arguments)
        if (other.name == argument.name) wrong("another parameter name");
      schema.arguments.push_back(std::move(argument));
    } while (take(","));
    expect(")");
  }

  void returns(Schema& schema) {
    if (!take("(")) return schema.returns.push_back({type(), ""});
    if (take(")")) return;
    do {
      SchemaReturn result{type(), ""};
      space();
      if (at_ < text_.size() && is_name_char(text_[at_])) result.name = identifier("a result's name");
      schema.returns.push_back(std::move(result));
    } while (take(","));
    expect(")");
  }

  SchemaType type() {
    std::string name = identifier("a type");
    // A class of a program's own: its values are objects.
    bool known = false;
    while (take(".")) name += "." + identifier("a type");
    SchemaType result;
    ArgType list = ArgType::Any;
    for (const BaseType& base : kBaseTypes)
      if (base.name == name) {
        result.type = base.single;
        list = base.list;
        known = true;
      }
    if (!known && name.find('.') == std::string::npos) wrong(str("a type; '", name, "' is none"));
    alias(result);
    suffixes(result, list);
    return result;
  }

  void alias(SchemaType& result) {
    if (!take("(")) return;
    do {
      result.alias = take("*") ? "*" : identifier("an alias set");
    } while (take("|"));
    result.is_mutable = take("!");
    if (take("->") && !take("*")) {
      identifier("an alias set");
      while (take("|")) identifier("an alias set");
    }
    expect(")");
  }

  void suffixes(SchemaType& result, ArgType list) {
    bool is_list = false, optional_element = false;
    for (;;) {
      if (take("?")) {
        if (result.optional) wrong("one '?'");
        result.optional = true;
      } else if (take("[")) {
        if (is_list) wrong("a list of one level");
        is_list = true;
        optional_element = std::exchange(result.optional, false);
        result.list_size = number_or_zero();
        expect("]");
      } else {
        break;
      }
      if (is_list) alias(result);  // Tensor[](a!)
    }
    if (!is_list) return;
    result.type = list == ArgType::TensorList && optional_element ? ArgType::OptTensorList : list;
  }

  int number_or_zero() {
    space();
    int number = 0;
    auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (code == std::errc::result_out_of_range || number < 0 || number > INT8_MAX) wrong("a list size up to 127");
    at_ = static_cast<size_t>(end - text_.data());
    return number;
  }

  // Up to the comma or bracket that ends the parameter, whatever brackets and quotes lie between.
  std::string default_text() {
    space();
    size_t begin = at_;
    int depth = 0;
    char quote = 0;
    for (; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (quote) {
        if (c == '\\')
          ++at_;
        else if (c == quote)
          quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '[' || c == '(') {
        ++depth;
      } else if ((c == ',' || c == ')' || c == ']') && depth == 0) {
        break;
      } else if (c == ')' || c == ']') {
        --depth;
      }
    }
    at_ = std::min(at_, text_.size());
    std::string_view found = text_.substr(begin, at_ - begin);
    while (!found.empty() && found.back() == ' ') found.remove_suffix(1);
    if (found.empty()) wrong("a default");
    return std::string(found);
  }

  void space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool take(std::string_view token) {
    space();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) wrong(str("'", token, "'"));
  }
  std::string identifier(std::string_view what) {
    space();
    size_t begin = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    if (begin == at_) wrong(what);
    return std::string(text_.substr(begin, at_ - begin));
  }
  [[noreturn]] void wrong(std::string_view wanted) const {
    TAEDA_FAIL(Runtime, "the schema '", text_, "' is malformed at character ", at_, " ('", text_.substr(at_, 12),
               "'): expected ", wanted);
  }

  std::string_view text_;
  size_t at_ = 0;
};

// --- Defaults
bool parse_whole(std::string_view text, auto& number) {
  if (text.starts_with('+')) text.remove_prefix(1);
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size();
}

std::optional<Value> single_default(std::string_view text, ArgType type) {
  if (text == "None") return Value();
  if (text == "True" || text == "true") return Value(true);
  if (text == "False" || text == "false") return Value(false);
  int64_t integer;
  double number;
  if (parse_whole(text, integer)) return type == ArgType::Float ? Value(static_cast<double>(integer)) : Value(integer);
  if (parse_whole(text, number)) return Value(number);
  if (text == "Mean") return Value(int64_t{1});  // reductions of losses
  if (text == "Sum") return Value(int64_t{2});
  if (text == "contiguous_format") return Value(MemoryFormat::Contiguous);
  if (text == "preserve_format") return Value(MemoryFormat::Preserve);
  if (text == "strided") return Value(Layout::Strided);
  if (text == "long" || text == "int64") return Value(DType::Int64);
  if (text == "float" || text == "float32") return Value(DType::Float32);
  if (text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0])
    return Value(text.substr(1, text.size() - 2));
  return std::nullopt;
}

bool is_list(ArgType type) {
  return type == ArgType::IntList || type == ArgType::FloatList || type == ArgType::BoolList ||
         type == ArgType::ScalarList || type == ArgType::TensorList || type == ArgType::OptTensorList;
}

std::vector<Value> elements(std::string_view text, const Param& param) {
  std::vector<Value> values;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    ArgType type = param.type == ArgType::FloatList ? ArgType::Float : ArgType::Any;
    std::optional<Value> value = single_default(part, type);
    TAEDA_CHECK(value, "the default ", param.default_text, " of '", param.name, "' is not understood");
    values.push_back(std::move(*value));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return values;
}

Value list_default(const std::vector<Value>& values, ArgType type) {
  if (type == ArgType::TensorList || type == ArgType::OptTensorList) return std::vector<Tensor>(values.size());
  if (type == ArgType::ScalarList) {
    std::vector<Scalar> list;
    for (const Value& value : values) list.push_back(value.to_scalar());
    return list;
  }
  if (type == ArgType::FloatList) {
    std::vector<double> list;
    for (const Value& value : values) list.push_back(value.to_float());
    return list;
  }
  std::vector<int64_t> list;
  for (const Value& value : values) list.push_back(value.to_int());
  return type == ArgType::BoolList ? Value::bool_list(std::move(list)) : Value(std::move(list));
}

Param param_of(const SchemaArgument& argument) {
  return {argument.name.c_str(),
          argument.type.type,
          argument.default_text ? argument.default_text->c_str() : nullptr,
          argument.type.optional,
          argument.keyword_only,
          argument.type.is_mutable,
          static_cast<int8_t>(argument.type.list_size)};
}

uint8_t small_count(size_t count, std::string_view what) {
  TAEDA_CHECK(count <= UINT8_MAX, "an op has at most 255 ", what, "; got ", count);
  return static_cast<uint8_t>(count);
}

}  // namespace

Schema parse_schema(std::string_view text) { return Parser(text).parse(); }

Value default_value(const Param& param) {
  TAEDA_CHECK(param.has_default(), "the parameter '", param.name, "' has no default");
  std::string_view text = param.default_text;
  if (is_list(param.type) && text != "None") {
    if (text.starts_with('[')) return list_default(elements(text, param), param.type);
    size_t copies = static_cast<size_t>(std::max<int8_t>(param.list_size, 1));
    return list_default(std::vector<Value>(copies, elements(str("[", text, "]"), param).at(0)), param.type);
  }
  std::optional<Value> value = single_default(text, param.type);
  TAEDA_CHECK(value, "the default ", text, " of '", param.name, "' is not understood");
  return std::move(*value);
}

DefinedOp::DefinedOp(Schema schema, std::string text, std::string file, int line)
    : schema_(std::move(schema)), text_(std::move(text)), file_(std::move(file)), info_{}, op_(info_) {
  uint8_t out_count = 0;
  uint16_t tags = 0;
  bool returns_mutable = !schema_.returns.empty();
  for (const SchemaReturn& result : schema_.returns) {
    returns_mutable = returns_mutable && result.type.is_mutable;
    if (!result.type.alias.empty() && !result.type.is_mutable) tags |= kViewOp;
    if (result.type.type == ArgType::TensorList) tags |= kTensorListReturn;
  }
  for (const SchemaArgument& argument : schema_.arguments) {
    params_.push_back(param_of(argument));
    if (argument.type.is_mutable && argument.keyword_only) ++out_count;
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
