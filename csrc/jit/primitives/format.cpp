// Values as text: str, print, str.format with its format specifications, the operator % of strings.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "jit/code.h"
#include "jit/primitives/typed.h"
#include "jit/primitives/utf8.h"

namespace taeda::jit {

std::string shown(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  char text[40];
  // Like Python: the shortest digits that read back, an exponent below 1e-4 and from 1e16.
  double size = std::fabs(number);
  bool scientific = size != 0 && (size < 1e-4 || size >= 1e16);
  auto [end, problem] = std::to_chars(text, text + sizeof text, number,
                                      scientific ? std::chars_format::scientific : std::chars_format::fixed);
  std::string out(text, end);
  if (!scientific && out.find('.') == out.npos) out += ".0";
  return out;
}

std::string quoted(std::string_view text) {
  bool has_single = text.find('\'') != text.npos, has_double = text.find('"') != text.npos;
  char quote = has_single && !has_double ? '"' : '\'';
  std::string out(1, quote);
  for (char c : text) {
    if (c == quote || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (static_cast<unsigned char>(c) < 32 || c == 127) {
      char hex[8];
      std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned>(c));
      out += hex;
    } else {
      out += c;
    }
  }
  return out += quote;
}

namespace {

std::string shown_complex(complex128 z) {
  auto part = [](double number) {
    std::string text = shown(number);
    return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
  };
  if (z.real() == 0 && !std::signbit(z.real())) return part(z.imag()) + "j";
  return taeda::str("(", part(z.real()), std::signbit(z.imag()) ? "" : "+", part(z.imag()), "j)");
}

std::string shown_tensor(const Tensor& tensor) {
  if (surroundings.tensor_text) return surroundings.tensor_text(tensor);
  return taeda::str("tensor of shape ", tensor.sizes(), " and dtype torch.", name(tensor.dtype()));
}

std::string shown_tuple(const Tuple& tuple) {
  std::string out;
  for (size_t i = 0; i < tuple.items.size(); ++i) {
    if (i) out += ", ";
    if (tuple.type) out += tuple.type->fields()[i] + "=";
    out += shown(tuple.items[i], true);
  }
  if (!tuple.type) return "(" + out + (tuple.items.size() == 1 ? ",)" : ")");
  std::string_view full = tuple.type->name();
  return taeda::str(full.substr(full.rfind('.') + 1), "(", out, ")");
}

std::string shown_dict(const Dict& dict) {
  std::string out = "{";
  for (const auto& [key, value] : dict.entries())
    out += taeda::str(out.size() > 1 ? ", " : "", shown(key, true), ": ", shown(value, true));
  return out + "}";
}

std::string shown_list(const Value& value) {
  ListRef list(value);
  std::string out = "[";
  for (size_t i = 0; i < list.size(); ++i) out += taeda::str(i ? ", " : "", shown(list.get(i), true));
  return out + "]";
}

std::string shown_instance(const Instance& object) { return taeda::str("<", object.type->name(), " object>"); }

}  // namespace

std::string shown(const Value& value, bool inside) {
  switch (value.tag()) {
    case Value::Tag::None:
      return "None";
    case Value::Tag::Bool:
      return value.to_bool() ? "True" : "False";
    case Value::Tag::Int:
    case Value::Tag::UInt:
      return taeda::str(value.to_scalar());
    case Value::Tag::Float:
      return shown(value.to_float());
    case Value::Tag::Complex:
      return shown_complex(value.to_scalar().to<complex128>());
    case Value::Tag::String:
      return inside ? quoted(value.to_string()) : std::string(value.to_string());
    case Value::Tag::Tensor:
      return shown_tensor(value.to_tensor());
    case Value::Tag::Tuple:
      return shown_tuple(value.to_tuple());
    case Value::Tag::Dict:
      return shown_dict(value.to_dict());
    case Value::Tag::Instance:
      return shown_instance(value.to_instance());
    case Value::Tag::Enum: {
      std::string_view full = value.to_enum().type->name();
      return taeda::str(full.substr(full.rfind('.') + 1), ".", value.to_enum().name());
    }
    case Value::Tag::Device: {
      std::string text;
      append(text, value.to_device());
      return inside ? "device(type='" + text + "')" : text;
    }
    case Value::Tag::DType:
      return taeda::str("torch.", name(value.to_dtype()));
    default:
      return value.is_list() ? shown_list(value) : "<object>";
  }
}

namespace {

// --- Format specifications: [[fill]align][sign][#][0][width][,][.precision][type]
struct Spec {
  std::string_view fill = " ";
  char align = 0, sign = '-', type = 0;
  bool alternate = false, commas = false;
  int64_t width = 0, precision = -1;
};

[[noreturn]] void bad_spec(std::string_view text) { TAEDA_FAIL(Value, "Invalid format specifier '", text, "'"); }

Spec parse_spec(std::string_view text) {
  Spec spec;
  std::string_view all = text;
  auto is_align = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
  size_t first = utf8::offset(text, 1);
  if (text.size() > first && is_align(text[first])) {
    spec.fill = text.substr(0, first);
    spec.align = text[first];
    text.remove_prefix(first + 1);
  } else if (!text.empty() && is_align(text[0])) {
    spec.align = text[0];
    text.remove_prefix(1);
  }
  auto takes = [&](std::string_view chars) {
    if (text.empty() || chars.find(text[0]) == chars.npos) return char{0};
    char c = text[0];
    text.remove_prefix(1);
    return c;
  };
  auto number = [&](int64_t absent) {
    int64_t value = absent;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (value > 1'000'000) bad_spec(all);
    return value;
  };
  if (char sign = takes("+- ")) spec.sign = sign;
  spec.alternate = takes("#") != 0;
  if (takes("0") && !spec.align) spec.align = '=', spec.fill = "0";
  if (!text.empty() && text[0] != '-') spec.width = number(0);
  spec.commas = takes(",_") != 0;
  if (takes(".") && (spec.precision = number(-1)) < 0) bad_spec(all);
  spec.type = takes("bcdeEfFgGnosxX%");
  if (!text.empty()) bad_spec(all);
  return spec;
}

void add_commas(std::string& digits) {
  size_t whole = std::min(digits.find_first_not_of("0123456789"), digits.size());
  for (size_t at = whole; at > 3;) digits.insert(at -= 3, ",");
}

std::string float_digits(double size, const Spec& spec) {
  char type = spec.type ? spec.type : 'g';
  if (std::isnan(size) || std::isinf(size)) {
    std::string word = std::isnan(size) ? "nan" : "inf";
    if (type == 'F' || type == 'E' || type == 'G') std::ranges::transform(word, word.begin(), ::toupper);
    return type == '%' ? word + "%" : word;
  }
  if (!spec.type && spec.precision < 0) return shown(size);
  if (type == '%') size *= 100;
  std::string pattern =
      taeda::str("%", spec.alternate ? "#" : "", ".*", type == '%' ? "f" : std::string(1, type == 'n' ? 'g' : type));
  int precision = static_cast<int>(spec.precision < 0 ? 6 : spec.precision);
  std::string out(static_cast<size_t>(std::snprintf(nullptr, 0, pattern.c_str(), precision, size)) + 1, 0);
  std::snprintf(out.data(), out.size(), pattern.c_str(), precision, size);
  out.pop_back();
  if (!spec.type && out.find_first_of(".e") == out.npos) out += ".0";
  return type == '%' ? out + "%" : out;
}

std::string int_digits(uint64_t size, const Spec& spec) {
  unsigned base = spec.type == 'b' ? 2 : spec.type == 'o' ? 8 : spec.type == 'x' || spec.type == 'X' ? 16 : 10;
  const char* symbols = spec.type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string out;
  do out += symbols[size % base];
  while (size /= base);
  std::ranges::reverse(out);
  return out;
}

std::string padded(std::string sign, std::string body, const Spec& spec, char usual) {
  char align = spec.align ? spec.align : usual;
  std::string pad;
  for (int64_t missing = spec.width - utf8::length(sign) - utf8::length(body); missing > 0; --missing) pad += spec.fill;
  if (align == '=') return sign + pad + body;
  if (align == '<') return sign + body + pad;
  if (align == '>') return pad + sign + body;
  size_t left = utf8::offset(pad, utf8::length(pad) / 2);
  return pad.substr(0, left) + sign + body + pad.substr(left);
}

std::string with_spec(const Value& value, std::string_view text) {
  if (text.empty()) return shown(value);
  Spec spec = parse_spec(text);
  bool is_int = value.tag() == Value::Tag::Int || value.tag() == Value::Tag::Bool;
  if (!is_int && value.tag() != Value::Tag::Float) {
    TAEDA_CHECK_VALUE((!spec.type || spec.type == 's') && !spec.commas, "Unknown format code '",
                      std::string(1, spec.type), "' for ", type_of(value)->annotation());
    std::string body = shown(value);
    if (spec.precision >= 0) body = std::string(utf8::slice(body, 0, std::min(spec.precision, utf8::length(body))));
    return padded("", std::move(body), spec, '<');
  }
  TAEDA_CHECK_VALUE(spec.type != 's', "Unknown format code 's' for a number");
  bool as_float = !is_int || (spec.type && std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos);
  bool negative = as_float ? std::signbit(value.to_float()) : value.to_int() < 0;
  std::string sign = negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign), body;
  if (as_float) {
    body = float_digits(std::fabs(value.to_float()), spec);
  } else if (spec.type == 'c') {
    body = utf8::encode(static_cast<uint32_t>(value.to_int()));
  } else {
    TAEDA_CHECK_VALUE(spec.precision < 0, "Precision not allowed in integer format specifier");
    uint64_t raw = static_cast<uint64_t>(value.to_int());
    body = int_digits(negative ? uint64_t{0} - raw : raw, spec);
    if (spec.alternate && spec.type && spec.type != 'd') sign += taeda::str("0", std::string(1, spec.type));
  }
  if (spec.commas) add_commas(body);
  return padded(std::move(sign), std::move(body), spec, '>');
}

// The arguments of a primitive that takes any number of them.
std::vector<Value> take(Stack& stack, size_t count) {
  std::vector<Value> values(std::make_move_iterator(stack.end() - static_cast<ptrdiff_t>(count)),
                            std::make_move_iterator(stack.end()));
  stack.resize(stack.size() - count);
  return values;
}

void format(Stack& stack, size_t count) {
  std::vector<Value> values = take(stack, count);
  std::string_view text = values.at(0).to_string();
  std::string out;
  size_t next = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    bool doubled = i + 1 < text.size() && text[i] == text[i + 1];
    if ((text[i] == '{' || text[i] == '}') && doubled) {
      out += text[i++];
      continue;
    }
    if (text[i] != '{') {
      TAEDA_CHECK_VALUE(text[i] != '}', "Single '}' encountered in format string");
      out += text[i];
      continue;
    }
    size_t end = text.find('}', i);
    TAEDA_CHECK_VALUE(end != text.npos, "Single '{' encountered in format string");
    std::string_view field = text.substr(i + 1, end - i - 1);
    std::string_view spec = field.find(':') == field.npos ? std::string_view() : field.substr(field.find(':') + 1);
    std::string_view name = field.substr(0, field.find(':'));
    bool as_repr = name.ends_with("!r");
    if (as_repr || name.ends_with("!s")) name.remove_suffix(2);
    size_t which = next++;
    if (!name.empty()) {
      auto [stop, problem] = std::from_chars(name.data(), name.data() + name.size(), which);
      TAEDA_CHECK_KIND(Key, problem == std::errc() && stop == name.data() + name.size(), "'", name, "'");
      ++which;
    }
    TAEDA_CHECK_INDEX(which < values.size(), "Replacement index ", which - 1,
                      " out of range for positional args tuple");
    out += as_repr ? with_spec(std::string_view(shown(values[which], true)), spec) : with_spec(values[which], spec);
    i = end;
  }
  stack.emplace_back(std::string_view(out));
}

void percent_format(Stack& stack, size_t count) {
  std::vector<Value> values = take(stack, count);
  std::string_view text = values.at(0).to_string();
  if (values.size() == 2 && values[1].tag() == Value::Tag::Tuple) {
    std::vector<Value> items = values[1].to_tuple().items;
    values.resize(1);
    values.insert(values.end(), items.begin(), items.end());
  }
  std::string out;
  size_t next = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    size_t end = std::min(text.find_first_of("diouxXeEfFgGcrsa%", i + 1), text.size() - 1);
    char type = text[end];
    TAEDA_CHECK_VALUE(end > i, "incomplete format");
    if (type == '%') {
      out += '%';
      i = end;
      continue;
    }
    TAEDA_CHECK_TYPE(next < values.size(), "not enough arguments for format string");
    const Value& value = values[next++];
    // '-' aligns to the left there, and text to the right otherwise.
    std::string spec(text.substr(i + 1, end - i - 1));
    bool left = spec.find('-') != spec.npos;
    std::erase(spec, '-');
    spec.insert(0, left ? "<" : spec.starts_with('0') || type == 's' || type == 'r' ? "" : ">");
    if ((type == 's' || type == 'r') && !left && !spec.empty() && spec[0] != '.') spec.insert(0, ">");
    bool is_text = type == 'c' && value.tag() == Value::Tag::String;
    auto begins = [](char c) { return (c & 0xC0) != 0x80; };  // a character of UTF-8
    TAEDA_CHECK_TYPE(!is_text || std::ranges::count_if(value.to_string(), begins) == 1,
                     "%c takes a character or its number");
    if (type == 's' || type == 'r' || is_text)
      out += with_spec(std::string_view(shown(value, type == 'r')), spec);
    else if (type == 'd' || type == 'i' || type == 'u')
      out += with_spec(value.tag() == Value::Tag::Float ? Value(static_cast<int64_t>(value.to_float())) : value,
                       spec + "d");
    else
      out += with_spec(value, spec + type);
    i = end;
  }
  TAEDA_CHECK_TYPE(next == values.size(), "not all arguments converted during string formatting");
  stack.emplace_back(std::string_view(out));
}

void print_line(std::string_view line) {
  if (surroundings.print) return surroundings.print(line);
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

void print(Stack& stack, size_t count) {
  std::string line;
  for (const Value& value : take(stack, count)) line += (line.empty() ? "" : " ") + shown(value);
  print_line(line + "\n");
}

void warn_with(std::string_view message, int64_t) { warn_from_program(std::string(message)); }

constexpr Primitive kTable[] = {
    {"aten::str(t elem) -> str", typed<[](const Value& value) { return shown(value); }>},
    {"aten::repr(t elem) -> str", typed<[](const Value& value) { return shown(value, true); }>},
    {"aten::format(str self, ...) -> str", format},
    {"aten::percentFormat(str self, ...) -> str", percent_format},
    {"prim::Print(...) -> ()", print},
    {"aten::_print(str s) -> ()", typed<[](std::string_view text) { print_line(std::string(text) + "\n"); }>},
    {"aten::warn(str message, int stacklevel=2) -> ()", typed<warn_with>},
};

}  // namespace

PrimitiveTable format_primitives() { return kTable; }

}  // namespace taeda::jit
