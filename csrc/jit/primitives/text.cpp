// str and its methods. Letters outside ASCII have no case here.
#include <algorithm>
#include <cctype>

#include "jit/primitives/typed.h"
#include "jit/primitives/utf8.h"

namespace taeda::jit {

namespace {

using View = std::string_view;
constexpr View kSpaces = " \t\n\r\f\v";

bool upper(char c) { return c >= 'A' && c <= 'Z'; }
bool lower(char c) { return c >= 'a' && c <= 'z'; }
bool letter(char c) { return upper(c) || lower(c); }
bool digit(char c) { return c >= '0' && c <= '9'; }
char to_upper(char c) { return lower(c) ? static_cast<char>(c - 32) : c; }
char to_lower(char c) { return upper(c) ? static_cast<char>(c + 32) : c; }

template <auto change>
std::string mapped(View text) {
  std::string out(text);
  for (char& c : out) c = change(c);
  return out;
}
template <auto test>
bool all_are(View text) {
  return !text.empty() && std::ranges::all_of(text, test);
}
// Some letter, and no letter that fails the test.
template <auto test>
bool is_cased(View text) {
  return std::ranges::any_of(text, letter) && std::ranges::none_of(text, [](char c) { return letter(c) && !test(c); });
}

std::string capitalize(View text) {
  std::string out = mapped<to_lower>(text);
  if (!out.empty()) out[0] = to_upper(out[0]);
  return out;
}
std::string title(View text) {
  std::string out(text);
  for (size_t i = 0; i < out.size(); ++i) out[i] = i && letter(out[i - 1]) ? to_lower(out[i]) : to_upper(out[i]);
  return out;
}
bool is_title(View text) {
  for (size_t i = 0; i < text.size(); ++i)
    if (letter(text[i]) && upper(text[i]) == (i > 0 && letter(text[i - 1]))) return false;
  return std::ranges::any_of(text, letter);
}
bool is_identifier(View text) {
  return !text.empty() && !digit(text[0]) &&
         std::ranges::all_of(text, [](char c) { return letter(c) || digit(c) || c == '_' || (c & 0x80); });
}

View strip_left(View text, View chars) {
  size_t at = text.find_first_not_of(chars);
  return at == View::npos ? View() : text.substr(at);
}
View strip_right(View text, View chars) {
  size_t at = text.find_last_not_of(chars);
  return at == View::npos ? View() : text.substr(0, at + 1);
}

// --- Parts by position. An end of -1 is the text's end, as the schemas say.
struct Window {
  View text;
  size_t first;  // byte
};
std::optional<Window> window(View text, int64_t start, int64_t end) {
  int64_t size = utf8::length(text);
  if (start < 0) start = std::max<int64_t>(0, start + size);
  if (end < 0) end = std::max<int64_t>(0, end + size + 1);
  if (start > size || start > end) return std::nullopt;
  end = std::min(end, size);
  size_t first = utf8::offset(text, start);
  return Window{utf8::slice(text, start, end), first};
}
template <bool from_right>
int64_t find(View text, View part, int64_t start, int64_t end) {
  std::optional<Window> within = window(text, start, end);
  if (!within) return -1;
  size_t at = from_right ? within->text.rfind(part) : within->text.find(part);
  return at == View::npos ? -1 : utf8::length(text.substr(0, within->first + at));
}
template <bool from_right>
int64_t index(View text, View part, int64_t start, int64_t end) {
  int64_t found = find<from_right>(text, part, start, end);
  TAEDA_CHECK_VALUE(found >= 0, "substring not found");
  return found;
}
int64_t count(View text, View part, int64_t start, int64_t end) {
  std::optional<Window> within = window(text, start, end);
  if (!within) return 0;
  if (part.empty()) return utf8::length(within->text) + 1;
  int64_t found = 0;
  for (size_t at = within->text.find(part); at != View::npos; at = within->text.find(part, at + part.size())) ++found;
  return found;
}
bool starts_with(View text, View part, int64_t start, int64_t end) {
  std::optional<Window> within = window(text, start, end);
  return within && within->text.starts_with(part);
}
bool ends_with(View text, View part, int64_t start, int64_t end) {
  std::optional<Window> within = window(text, start, end);
  return within && within->text.ends_with(part);
}

std::string item(View text, int64_t at) {
  int64_t size = utf8::length(text), from = at < 0 ? at + size : at;
  TAEDA_CHECK_INDEX(from >= 0 && from < size, "string index out of range: ", at, " of ", size);
  return std::string(utf8::slice(text, from, from + 1));
}

std::string slice(View text, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  TAEDA_CHECK_VALUE(step != 0, "slice step cannot be zero");
  int64_t size = utf8::length(text);
  auto place = [&](std::optional<int64_t> given, int64_t absent) {
    if (!given) return absent;
    int64_t at = *given < 0 ? *given + size : *given;
    return step > 0 ? std::clamp<int64_t>(at, 0, size) : std::clamp<int64_t>(at, -1, size - 1);
  };
  int64_t from = place(start, step > 0 ? 0 : size - 1), to = place(end, step > 0 ? size : -1);
  if (step == 1) return std::string(utf8::slice(text, from, to));
  std::string out;
  for (int64_t i = from; step > 0 ? i < to : i > to; i += step) out += utf8::slice(text, i, i + 1);
  return out;
}

// --- Splitting and joining
Value list_of(const std::vector<std::string>& parts) {
  ListRef list = ListRef::of(plain_type(TypeKind::String));
  for (const std::string& part : parts) list.append(View(part));
  return list.value();
}

std::vector<std::string> split_at_spaces(View text, int64_t most) {
  std::vector<std::string> parts;
  for (text = strip_left(text, kSpaces); !text.empty(); text = strip_left(text, kSpaces)) {
    size_t end = text.find_first_of(kSpaces);
    if (most-- == 0) end = View::npos;
    parts.emplace_back(end == View::npos && most < -1 ? text : text.substr(0, end));
    text = end == View::npos ? View() : text.substr(end);
  }
  return parts;
}
std::vector<std::string> split_at_spaces_from_right(View text, int64_t most) {
  std::vector<std::string> parts;
  for (text = strip_right(text, kSpaces); !text.empty(); text = strip_right(text, kSpaces)) {
    size_t start = most-- == 0 ? View::npos : text.find_last_of(kSpaces);
    parts.emplace_back(start == View::npos ? text : text.substr(start + 1));
    text = start == View::npos ? View() : text.substr(0, start);
  }
  std::ranges::reverse(parts);
  return parts;
}
void check_separator(View separator) { TAEDA_CHECK_VALUE(!separator.empty(), "empty separator"); }

Value split(View text, std::optional<View> separator, int64_t most) {
  if (!separator) return list_of(split_at_spaces(text, most));
  check_separator(*separator);
  std::vector<std::string> parts;
  for (size_t at; most-- != 0 && (at = text.find(*separator)) != View::npos;) {
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + separator->size());
  }
  parts.emplace_back(text);
  return list_of(parts);
}
Value split_from_right(View text, std::optional<View> separator, int64_t most) {
  if (!separator) return list_of(split_at_spaces_from_right(text, most));
  check_separator(*separator);
  std::vector<std::string> parts;
  for (size_t at; most-- != 0 && (at = text.rfind(*separator)) != View::npos;) {
    parts.emplace_back(text.substr(at + separator->size()));
    text = text.substr(0, at);
  }
  parts.emplace_back(text);
  std::ranges::reverse(parts);
  return list_of(parts);
}
Value split_lines(View text, bool keep_ends) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    size_t end = std::min(text.find_first_of("\n\r\v\f\x1c\x1d\x1e"), text.size()), next = end;
    if (next < text.size()) next += text.substr(next, 2) == "\r\n" ? 2 : 1;
    parts.emplace_back(text.substr(0, keep_ends ? next : end));
    text.remove_prefix(next);
  }
  return list_of(parts);
}
template <bool from_right>
std::tuple<std::string, std::string, std::string> partition(View text, View separator) {
  check_separator(separator);
  size_t at = from_right ? text.rfind(separator) : text.find(separator);
  std::string whole(text);
  if (at == View::npos) return {from_right ? "" : whole, "", from_right ? whole : ""};
  return {whole.substr(0, at), std::string(separator), whole.substr(at + separator.size())};
}
std::string join(View separator, ListRef parts) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i) out += separator;
    out += parts.get(i).to_string();
  }
  return out;
}
std::string replace(View text, View from, View to, int64_t most) {
  std::string out;
  if (from.empty()) {
    int64_t size = utf8::length(text);
    for (int64_t i = 0; i <= size; ++i) {
      if (most != 0) out += to;
      most -= most > 0;
      out += utf8::slice(text, i, i + 1);
    }
    return out;
  }
  for (size_t at; most-- != 0 && (at = text.find(from)) != View::npos; text.remove_prefix(at + from.size()))
    out.append(text.substr(0, at)).append(to);
  return out.append(text);
}

// --- Padding
std::string times(View fill, int64_t count) {
  TAEDA_CHECK_TYPE(utf8::length(fill) == 1, "the fill character must be exactly one character long; got ",
                   quoted(fill));
  std::string out;
  for (; count > 0; --count) out += fill;
  return out;
}
std::string center(View text, int64_t width, View fill) {
  int64_t missing = std::max<int64_t>(0, width - utf8::length(text)), left = missing / 2 + (missing & width & 1);
  return times(fill, left) + std::string(text) + times(fill, missing - left);
}
std::string fill_right(View text, int64_t width, View fill) {
  return std::string(text) + times(fill, width - utf8::length(text));
}
std::string fill_left(View text, int64_t width, View fill) {
  return times(fill, width - utf8::length(text)) + std::string(text);
}
std::string zfill(View text, int64_t width) {
  bool has_sign = text.starts_with('+') || text.starts_with('-');
  std::string zeros = times("0", width - utf8::length(text));
  return std::string(text.substr(0, has_sign)) + zeros + std::string(text.substr(has_sign));
}
std::string expand_tabs(View text, int64_t tab) {
  std::string out;
  int64_t column = 0;
  for (char c : text) {
    if (c == '\t') {
      int64_t spaces = tab > 0 ? tab - column % tab : 0;
      out.append(static_cast<size_t>(spaces), ' ');
      column += spaces;
      continue;
    }
    out += c;
    column = c == '\n' || c == '\r' ? 0 : column + !utf8::continues(c);
  }
  return out;
}

// --- Code points
int64_t ord(View text) {
  TAEDA_CHECK_TYPE(utf8::length(text) == 1, "ord() expected a character, but string of length ", utf8::length(text),
                   " found");
  return utf8::decode(text);
}
std::string chr(int64_t code) {
  TAEDA_CHECK_VALUE(code >= 0 && code < 0x110000, "chr() arg not in range(0x110000)");
  return utf8::encode(static_cast<uint32_t>(code));
}
std::string in_base(int64_t number, unsigned base, View prefix) {
  uint64_t rest = number < 0 ? uint64_t{0} - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  std::string digits;
  do digits += "0123456789abcdef"[rest % base];
  while (rest /= base);
  std::ranges::reverse(digits);
  return (number < 0 ? "-" : "") + std::string(prefix) + digits;
}
Value characters(View text) {
  std::vector<std::string> parts;
  for (int64_t i = 0, size = utf8::length(text); i < size; ++i) parts.emplace_back(utf8::slice(text, i, i + 1));
  return list_of(parts);
}
std::string repeated(View text, int64_t times) {
  std::string out;
  for (; times > 0; --times) out += text;
  return out;
}

constexpr Primitive kTable[] = {
    {"aten::add.str(str a, str b) -> str", typed<[](View a, View b) { return std::string(a).append(b); }>},
    {"aten::mul.str_int(str a, int b) -> str", typed<repeated>},
    {"aten::len.str(str s) -> int", typed<utf8::length>},
    {"aten::__getitem__.str(str s, int index) -> str", typed<item>},
    {"prim::StringIndex(str string, int index) -> str", typed<item>},
    {"aten::slice.str(str string, int? start=None, int? end=None, int step=1) -> str", typed<slice>},
    {"aten::__contains__.str_in_str(str self, str el) -> bool",
     typed<[](View text, View part) { return text.find(part) != View::npos; }>},
    {"aten::Bool.str(str a) -> bool", typed<[](View text) { return !text.empty(); }>},
    {"aten::list(str t) -> str[]", typed<characters>},
    {"aten::ord(str string) -> int", typed<ord>},
    {"aten::chr(int i) -> str", typed<chr>},
    {"aten::bin(int i) -> str", typed<[](int64_t i) { return in_base(i, 2, "0b"); }>},
    {"aten::oct(int i) -> str", typed<[](int64_t i) { return in_base(i, 8, "0o"); }>},
    {"aten::hex(int i) -> str", typed<[](int64_t i) { return in_base(i, 16, "0x"); }>},
    {"aten::upper(str self) -> str", typed<mapped<to_upper>>},
    {"aten::lower(str self) -> str", typed<mapped<to_lower>>},
    {"aten::swapcase(str self) -> str", typed<mapped<[](char c) { return upper(c) ? to_lower(c) : to_upper(c); }>>},
    {"aten::capitalize(str self) -> str", typed<capitalize>},
    {"aten::title(str self) -> str", typed<title>},
    {"aten::isupper(str self) -> bool", typed<is_cased<upper>>},
    {"aten::islower(str self) -> bool", typed<is_cased<lower>>},
    {"aten::istitle(str self) -> bool", typed<is_title>},
    {"aten::isdigit(str self) -> bool", typed<all_are<digit>>},
    {"aten::isdecimal(str self) -> bool", typed<all_are<digit>>},
    {"aten::isnumeric(str self) -> bool", typed<all_are<digit>>},
    {"aten::isalpha(str self) -> bool", typed<all_are<letter>>},
    {"aten::isalnum(str self) -> bool", typed<all_are<[](char c) { return letter(c) || digit(c); }>>},
    {"aten::isspace(str self) -> bool", typed<all_are<[](char c) { return kSpaces.find(c) != View::npos; }>>},
    {"aten::isprintable(str self) -> bool", typed<[](View text) {
       return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= 32 && c != 127; });
     }>},
    {"aten::isidentifier(str self) -> bool", typed<is_identifier>},
    {"aten::strip(str self, str chars=\" \\n\\t\\f\\v\") -> str",
     typed<[](View text, View chars) { return std::string(strip_left(strip_right(text, chars), chars)); }>},
    {"aten::lstrip(str self, str chars=\" \\n\\t\\f\\v\") -> str",
     typed<[](View text, View chars) { return std::string(strip_left(text, chars)); }>},
    {"aten::rstrip(str self, str chars=\" \\n\\t\\f\\v\") -> str",
     typed<[](View text, View chars) { return std::string(strip_right(text, chars)); }>},
    {"aten::find(str self, str substr, int start=0, int end=-1) -> int", typed<find<false>>},
    {"aten::rfind(str self, str substr, int start=0, int end=-1) -> int", typed<find<true>>},
    {"aten::index.str(str self, str substr, int start=0, int end=-1) -> int", typed<index<false>>},
    {"aten::rindex(str self, str substr, int start=0, int end=-1) -> int", typed<index<true>>},
    {"aten::count(str self, str substr, int start=0, int end=-1) -> int", typed<count>},
    {"aten::startswith(str self, str substr, int start=0, int end=-1) -> bool", typed<starts_with>},
    {"aten::endswith(str self, str substr, int start=0, int end=-1) -> bool", typed<ends_with>},
    {"aten::split.str(str self, str? separator=None, int max=-1) -> str[]", typed<split>},
    {"aten::rsplit(str self, str? separator=None, int max=-1) -> str[]", typed<split_from_right>},
    {"aten::splitlines(str self, bool keepends=False) -> str[]", typed<split_lines>},
    {"aten::partition(str self, str separator) -> (str, str, str)", typed<partition<false>>},
    {"aten::rpartition(str self, str separator) -> (str, str, str)", typed<partition<true>>},
    {"aten::join(str self, str[] values) -> str", typed<join>},
    {"aten::replace(str self, str old, str new, int max=-1) -> str", typed<replace>},
    {"aten::center(str self, int width, str fillchar=\" \") -> str", typed<center>},
    {"aten::ljust(str self, int width, str fillchar=\" \") -> str", typed<fill_right>},
    {"aten::rjust(str self, int width, str fillchar=\" \") -> str", typed<fill_left>},
    {"aten::zfill(str self, int width) -> str", typed<zfill>},
    {"aten::expandtabs(str self, int tabsize=8) -> str", typed<expand_tabs>},
};

}  // namespace

PrimitiveTable text_primitives() { return kTable; }

}  // namespace taeda::jit
