// The grammar of schemas, of their types and of their defaults.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "taeda/dispatch/collections.h"
#include "taeda/dispatch/schema.h"

namespace taeda {

namespace {

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// t, t1, tVal: the types of generic ops. A plainer rule would take every misspelt type for one.
bool is_variable(std::string_view name) {
  return name == "t" || (name.size() > 1 && name[0] == 't' && !(name[1] >= 'a' && name[1] <= 'z') && name[1] != '_');
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  Schema schema() {
    Schema schema;
    schema.name = identifier("the op's name");
    if (take("::")) schema.name += str("::", identifier("the op's name"));
    if (take(".")) schema.overload = identifier("the overload's name");
    arguments(schema);
    expect("->");
    returns(schema);
    end();
    return schema;
  }

  TypePtr lone_type() {
    SchemaArgument argument;
    type(argument);
    end();
    return argument.type;
  }

  Value lone_default(TypePtr type, int list_size) {
    Value value = default_of(type, list_size);
    end();
    return value;
  }

 private:
  // --- Arguments and results
  void arguments(Schema& schema) {
    bool keyword_only = false;
    expect("(");
    if (take(")")) return;
    do {
      if (schema.is_vararg) wrong("')', as '...' stands last");
      if (take("...")) {
        schema.is_vararg = true;
      } else if (take("*")) {
        if (keyword_only) wrong("only one '*'");
        keyword_only = true;
      } else {
        schema.arguments.push_back(parameter(schema, keyword_only));
      }
    } while (take(","));
    expect(")");
  }

  SchemaArgument parameter(const Schema& schema, bool keyword_only) {
    SchemaArgument argument;
    type(argument);
    argument.name = identifier("a parameter's name");
    argument.keyword_only = keyword_only;
    for (const SchemaArgument& other : schema.arguments)
      if (other.name == argument.name) wrong("another parameter name");
    if (!take("=")) return argument;
    space();
    size_t begin = at_;
    argument.default_value = default_of(argument.type, argument.list_size);
    argument.default_text = std::string(text_.substr(begin, at_ - begin));
    return argument;
  }

  void returns(Schema& schema) {
    if (take("...")) {
      schema.is_varret = true;
    } else if (is_tuple_of_results()) {
      expect("(");
      if (take(")")) return;
      do {
        if (schema.is_varret) wrong("')', as '...' stands last");
        if (take("..."))
          schema.is_varret = true;
        else
          schema.returns.push_back(result());
      } while (take(","));
      expect(")");
    } else {
      schema.returns.push_back(result());
    }
  }

  // A bracket holds the results, unless it is the one result's own type: (int, int)[].
  bool is_tuple_of_results() {
    space();
    if (at_ == text_.size() || text_[at_] != '(') return false;
    int depth = 0;
    size_t i = at_;
    do {
      depth += (text_[i] == '(') - (text_[i] == ')');
      ++i;
    } while (depth && i < text_.size());
    return text_.find_first_not_of(" \t\n", i) == std::string_view::npos;
  }

  SchemaArgument result() {
    SchemaArgument result;
    type(result);
    space();
    if (at_ < text_.size() && is_name_char(text_[at_])) result.name = identifier("a result's name");
    return result;
  }

  // --- Types
  // Of types within types there are a few; a text that goes on would fill the stack.
  void check_depth(int depth) {
    if (depth > 64) wrong("at most 64 types in each other");
  }

  // Reads a type with what a schema says beside it; of types within types only the type is kept.
  void type(SchemaArgument& into) {
    check_depth(++depth_);
    into.type = base();
    --depth_;
    alias(into);
    bool is_list = false;
    for (int depth = depth_;; check_depth(++depth)) {
      if (take("?")) {
        into.type = optional_type(into.type);
        is_list = false;
      } else if (take("[")) {
        into.list_size = number_or_zero();
        expect("]");
        into.type = list_type(into.type);
        if (into.alias) into.alias->of_elements = true;
        is_list = true;
      } else {
        break;
      }
      if (is_list) alias(into);
    }
  }

  TypePtr inner() {
    SchemaArgument ignored;
    type(ignored);
    return ignored.type;
  }

  std::vector<TypePtr> inner_list(std::string_view close) {
    std::vector<TypePtr> types;
    if (take(close)) return types;
    do types.push_back(inner());
    while (take(","));
    expect(close);
    return types;
  }

  // Future(T) and Future[T], as annotations spell it.
  std::vector<TypePtr> parts(size_t count) {
    bool square = take("[");
    if (!square) expect("(");
    std::vector<TypePtr> types = inner_list(square ? "]" : ")");
    if (count && types.size() != count) wrong(str(count, count == 1 ? " type" : " types", " in the brackets before"));
    return types;
  }

  // As graphs print it, without the name of its class.
  TypePtr named_tuple() {
    std::vector<std::string> fields;
    std::vector<TypePtr> types;
    expect("(");
    if (!take(")")) {
      do {
        fields.push_back(identifier("a name"));
        expect(":");
        types.push_back(inner());
      } while (take(","));
      expect(")");
    }
    return named_tuple_type("__torch__.NamedTuple", std::move(fields), std::move(types));
  }

  TypePtr base() {
    if (take("(")) return tuple_type(inner_list(")"));
    space();
    size_t begin = at_;
    std::string name = identifier("a type");
    while (take(".")) name += "." + identifier("a type");
    if (name == "Dict") {
      std::vector<TypePtr> both = parts(2);
      return dict_type(both[0], both[1]);
    }
    if (name == "Union") return union_type(parts(0));
    if (name == "Future") return future_type(parts(1)[0]);
    if (name == "Await") return await_type(parts(1)[0]);
    if (name == "RRef") return rref_type(parts(1)[0]);
    if (name == "NamedTuple") return named_tuple();
    // Fields of named tuples are spelled as annotations.
    if (name == "Optional") return optional_type(parts(1)[0]);
    if (name == "List") return list_type(parts(1)[0]);
    if (name == "Tuple") return tuple_type(parts(0));
    if (name == "Enum" && take("<")) {
      TypePtr type = inner();
      expect(">");
      return type;
    }
    if (TypePtr plain = plain_type_named(name)) return plain;
    if (name.find('.') != std::string::npos) return named_type(name);
    if (is_variable(name)) return variable_type(name);
    at_ = begin;
    wrong(str("a type; '", name, "' is none"));
  }

  void alias(SchemaArgument& into) {
    if (into.alias && into.alias->of_elements) return;
    if (!take("(")) return;
    AliasInfo found{false, false, alias_set(), {}};
    found.is_write = take("!");
    found.after = take("->") ? alias_set() : found.before;
    expect(")");
    into.alias = std::move(found);
  }

  std::vector<std::string> alias_set() {
    std::vector<std::string> names;
    do names.push_back(take("*") ? "*" : identifier("an alias set"));
    while (take("|"));
    return names;
  }

  int number_or_zero() {
    space();
    int number = 0;
    auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (code == std::errc::result_out_of_range || number < 0 || number > INT8_MAX) wrong("a list size up to 127");
    at_ = static_cast<size_t>(end - text_.data());
    return number;
  }

  // --- Defaults
  Value default_of(TypePtr type, int list_size) {
    space();
    size_t begin = at_;
    if (take_word("None")) {
      bool may_be_none = type->is(TypeKind::Optional) || type->is(TypeKind::Tensor) || type->is(TypeKind::None) ||
                         type->is(TypeKind::Any) || plain_type(TypeKind::None)->is_subtype_of(type);
      if (!may_be_none) at_ = begin, wrong(str("a default of type ", type->str()));
      return Value();
    }
    if (type->is(TypeKind::Optional)) type = type->contained(0);
    switch (type->kind()) {
      case TypeKind::List:
        return list_default(type->contained(0), list_size);
      case TypeKind::Tuple:
        return tuple_default(type);
      case TypeKind::Dict:
        return dict_default(type);
      case TypeKind::String:
        return Value(quoted());
      case TypeKind::Device:
        return Value(parse_device(starts_quote() ? quoted() : device_name()));
      case TypeKind::Union:
        return union_default(type);
      default:
        return word_or_number(type);
    }
  }

  Value list_default(TypePtr element, int list_size) {
    ListRef list = ListRef::of(element);
    if (!take("[")) {
      if (!list_size) wrong("'[', or a size in the type");
      Value lone = default_of(element, 0);
      for (int i = 0; i < list_size; ++i) list.append(lone);
    } else if (!take("]")) {
      do list.append(default_of(element, 0));
      while (take(","));
      expect("]");
    }
    return list.value();
  }

  Value tuple_default(TypePtr type) {
    std::vector<Value> items;
    expect("(");
    for (TypePtr element : type->contained()) {
      if (!items.empty()) expect(",");
      items.push_back(default_of(element, 0));
    }
    expect(")");
    return make_ref<Tuple>(std::move(items), type->name().empty() ? nullptr : type);
  }

  Value dict_default(TypePtr type) {
    auto dict = make_ref<Dict>(type->contained(0), type->contained(1));
    expect("{");
    if (take("}")) return dict;
    do {
      Value key = default_of(type->contained(0), 0);
      expect(":");
      dict->set(key, default_of(type->contained(1), 0));
    } while (take(","));
    expect("}");
    return dict;
  }

  // The first member that the text fits.
  Value union_default(TypePtr type) {
    size_t begin = at_;
    for (TypePtr member : type->contained()) {
      try {
        at_ = begin;
        return default_of(member, 0);
      } catch (const Error&) {
      }
    }
    at_ = begin;
    wrong(str("a default of type ", type->str()));
  }

  Value word_or_number(TypePtr type) {
    size_t begin = at_;
    std::optional<Value> value;
    if (starts_quote())
      value.emplace(quoted());
    else
      value = literal();
    if (value && !fit(*value, type)) value.reset();
    if (!value) at_ = begin, wrong(str("a default of type ", type->str()));
    return std::move(*value);
  }

  struct Word {
    std::string_view text;
    Value value;
  };

  // What is no list: a number or one of the words that schemas know.
  std::optional<Value> literal() {
    static const std::vector<Word>* words = new std::vector<Word>{
        {"True", true},
        {"true", true},
        {"False", false},
        {"false", false},
        {"inf", INFINITY},
        {"-inf", -INFINITY},
        {"nan", std::nan("")},
        {"Mean", int64_t{1}},  // reductions of losses
        {"Sum", int64_t{2}},
        {"contiguous_format", MemoryFormat::Contiguous},
        {"preserve_format", MemoryFormat::Preserve},
        {"channels_last", MemoryFormat::ChannelsLast},
        {"strided", Layout::Strided},
        {"long", DType::Int64},
        {"float", DType::Float32},
    };
    for (const Word& word : *words)
      if (take_word(word.text)) return word.value;
    if (std::optional<Value> found = number()) return found;
    for (int i = 0; i < kDTypes; ++i)
      if (take_word(name(static_cast<DType>(i)))) return Value(static_cast<DType>(i));
    return std::nullopt;
  }

  template <class T>
  bool read(T& value) {
    std::string_view rest = text_.substr(at_ + text_.substr(at_).starts_with('+'));
    auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (code != std::errc()) return false;
    size_t length = static_cast<size_t>(end - text_.data()) - at_;
    if (std::is_integral_v<T> && at_ + length < text_.size() &&
        (is_name_char(text_[at_ + length]) || text_[at_ + length] == '.'))
      return false;  // the beginning of something else
    at_ += length;
    return true;
  }

  std::optional<Value> number() {
    int64_t whole;
    double fraction;
    if (read(whole)) return Value(whole);
    if (!read(fraction)) return std::nullopt;
    return take("j") ? Value(complex128(0, fraction)) : Value(fraction);
  }

  // Makes the value one of the type; false when it is none.
  static bool fit(Value& value, TypePtr type) {
    switch (type->kind()) {
      case TypeKind::Float:
      case TypeKind::SymFloat:
        if (value.tag() != Value::Tag::Int && value.tag() != Value::Tag::Float) return false;
        value = Value(value.to_float());
        return true;
      case TypeKind::Complex:
        if (!value.is_number()) return false;
        value = Value(value.to_scalar().to<complex128>());
        return true;
      case TypeKind::Int:
      case TypeKind::SymInt:
        if (value.tag() == Value::Tag::DType) value = Value(static_cast<int64_t>(value.to_dtype()));
        return value.tag() == Value::Tag::Int;
      case TypeKind::MemoryFormat:  // also as the number that it is in files
        if (value.tag() == Value::Tag::Int && value.to_int() >= 0 && value.to_int() <= 3)
          value = Value(static_cast<MemoryFormat>(value.to_int()));
        return value.tag() == Value::Tag::MemoryFormat;
      case TypeKind::Layout:
        if (value.tag() == Value::Tag::Int && value.to_int() == 0) value = Value(Layout::Strided);
        return value.tag() == Value::Tag::Layout;
      case TypeKind::ScalarType:  // up to there the numbers are the same
        if (value.tag() == Value::Tag::Int && value.to_int() >= 0 && value.to_int() <= 7)
          value = Value(static_cast<DType>(value.to_int()));
        return value.tag() == Value::Tag::DType;
      case TypeKind::SymBool:
        return value.tag() == Value::Tag::Bool;
      case TypeKind::Number:
        return value.is_number();
      default:
        return type_of(value)->is_subtype_of(type);
    }
  }

  bool starts_quote() const { return at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\''); }

  std::string quoted() {
    if (!starts_quote()) wrong("a text in quotes");
    char quote = text_[at_++];
    std::string found;
    while (at_ < text_.size() && text_[at_] != quote) {
      char c = text_[at_++];
      found += c == '\\' ? escaped() : c;
    }
    if (at_ == text_.size()) wrong(str("the quote ", std::string_view(&quote, 1), " that closes the text"));
    ++at_;
    return found;
  }

  char escaped() {
    if (at_ == text_.size()) wrong("a character after the backslash");
    constexpr std::string_view kLetters = "abfnrtv", kMeanings = "\a\b\f\n\r\t\v";
    char c = text_[at_++];
    size_t letter = kLetters.find(c);
    if (letter != std::string_view::npos) return kMeanings[letter];
    if (c < '0' || c > '7') return c;
    int code = c - '0';  // up to three octal digits
    for (int i = 0; i < 2 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7'; ++i)
      code = code * 8 + (text_[at_++] - '0');
    return static_cast<char>(code);
  }

  std::string device_name() {
    std::string name = identifier("a device");
    return take(":") ? name + ":" + identifier("a device's index") : name;
  }

  // --- Tokens
  void space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool take(std::string_view token) {
    space();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  bool take_word(std::string_view word) {
    space();
    std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(word) || (rest.size() > word.size() && is_name_char(rest[word.size()]))) return false;
    at_ += word.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) wrong(str("'", token, "'"));
  }
  void end() {
    space();
    if (at_ != text_.size()) wrong("the end");
  }
  std::string identifier(std::string_view what) {
    space();
    size_t begin = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    if (begin == at_) wrong(what);
    return std::string(text_.substr(begin, at_ - begin));
  }
  [[noreturn]] void wrong(std::string_view wanted) const {
    TAEDA_FAIL(Runtime, "the ", what_, " '", text_, "' is malformed at character ", at_, " ('", text_.substr(at_, 12),
               "'): expected ", wanted);
  }

  std::string_view text_, what_;
  size_t at_ = 0;
  int depth_ = 0;  // of types in each other
};

}  // namespace

Schema parse_schema(std::string_view text) { return Parser(text, "schema").schema(); }
TypePtr parse_type(std::string_view text) { return Parser(text, "type").lone_type(); }
Value parse_default(std::string_view text, TypePtr type, int list_size) {
  return Parser(text, "default").lone_default(type, list_size);
}

}  // namespace taeda
