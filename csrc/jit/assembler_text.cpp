#include "jit/assembler_text.h"

#include <charconv>
#include <cstdlib>

#include "jit/primitives/utf8.h"

namespace taeda::jit {

void Lines::fail(std::string_view why) const { TAEDA_FAIL(Value, "the program's line ", number_, ": ", why); }

namespace {

// The text between quotes; `at` stands behind the first one and then behind the last one.
bool unquote(std::string_view line, size_t& at, std::string& out) {
  for (; at < line.size(); ++at) {
    if (line[at] == '"') return ++at, true;
    if (line[at] != '\\') {
      out += line[at];
      continue;
    }
    if (++at == line.size()) return false;
    uint32_t code = 0;
    switch (line[at]) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'u':
        if (at + 4 >= line.size() ||
            std::from_chars(line.data() + at + 1, line.data() + at + 5, code, 16).ptr != line.data() + at + 5)
          return false;
        out += utf8::encode(code);
        at += 4;
        break;
      default:
        out += line[at];
    }
  }
  return false;
}

}  // namespace

void Lines::split(std::string_view line) {
  words_.clear();
  at_ = 0;
  for (size_t i = 0; i < line.size();) {
    if (line[i] == ' ' || line[i] == '\r') {
      ++i;
    } else if (line[i] == '"') {
      words_.push_back({{}, true});
      if (!unquote(line, ++i, words_.back().text)) fail("a text does not end");
    } else {
      size_t end = std::min(line.find(' ', i), line.size());
      words_.push_back({std::string(line.substr(i, end - i))});
      i = end;
    }
  }
}

bool Lines::next() {
  if (again_) {
    again_ = false;
    at_ = 0;
    return true;
  }
  while (!rest_.empty()) {
    size_t end = std::min(rest_.find('\n'), rest_.size());
    ++number_;
    split(rest_.substr(0, end));
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (!words_.empty() && (words_[0].quoted || !words_[0].text.starts_with('#'))) return true;
  }
  return false;
}

const std::string& Lines::peek_word() const {
  if (done()) fail("it ends too early");
  return words_[at_].text;
}
const std::string& Lines::word() {
  const std::string& found = peek_word();
  ++at_;
  return found;
}
bool Lines::take(std::string_view word) {
  bool found = peek(word);
  at_ += found;
  return found;
}
int64_t Lines::number_word() {
  const std::string& text = word();
  int64_t value = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) fail(str("'", text, "' should be a number"));
  return value;
}
bool Lines::has_equals() const {
  for (size_t i = at_; i < words_.size(); ++i)
    if (!words_[i].quoted && words_[i].text == "=") return true;
  return false;
}
void Lines::expect_end() const {
  if (!done()) fail(str("'", words_[at_].text, "' is too much"));
}

namespace {

// A count that a damaged text cannot blow up.
size_t count_word(Lines& lines) {
  int64_t count = lines.number_word();
  if (count < 0 || count > 10'000'000) lines.fail(str(count, " is no number of items"));
  return static_cast<size_t>(count);
}

}  // namespace

TypePtr read_type(Lines& lines) {
  Lines::Nested nested(lines);
  if (lines.take("list")) return list_type(read_type(lines));
  if (lines.take("optional")) return optional_type(read_type(lines));
  if (lines.take("future")) return future_type(read_type(lines));
  if (lines.take("await")) return await_type(read_type(lines));
  if (lines.take("dict")) {
    TypePtr key = read_type(lines);
    return dict_type(key, read_type(lines));
  }
  if (lines.peek("tuple") || lines.peek("union")) {
    bool is_tuple = lines.word() == "tuple";
    std::vector<TypePtr> parts;
    for (size_t n = count_word(lines); n > 0; --n) parts.push_back(read_type(lines));
    return is_tuple ? tuple_type(std::move(parts)) : union_type(std::move(parts));
  }
  if (lines.take("named")) {
    std::string name = lines.word();
    std::vector<std::string> fields;
    std::vector<TypePtr> types;
    for (size_t n = count_word(lines); n > 0; --n) {
      fields.push_back(lines.word());
      types.push_back(read_type(lines));
    }
    return named_tuple_type(std::move(name), std::move(fields), std::move(types));
  }
  if (lines.take("class")) return named_type(lines.word());
  const std::string& name = lines.word();
  TypePtr plain = plain_type_named(name);
  if (!plain) lines.fail(str("'", name, "' is no type"));
  return plain;
}

namespace {

Value read_number(Lines& lines) {
  const std::string& text = lines.word();
  const char* end = text.data() + text.size();
  int64_t whole = 0;
  auto found = std::from_chars(text.data(), end, whole);
  if (found.ec == std::errc() && found.ptr == end) return whole;
  char* stop = nullptr;
  double number = std::strtod(text.c_str(), &stop);
  if (text.empty() || *stop) lines.fail(str("'", text, "' is no value"));
  return number;
}

Value read_dict(Lines& lines, std::span<const Value> externals) {
  TypePtr key = read_type(lines);
  auto dict = make_ref<Dict>(key, read_type(lines));
  for (size_t n = count_word(lines); n > 0; --n) {
    Value name = read_literal(lines, externals);
    dict->set(name, read_literal(lines, externals));
  }
  return dict;
}

}  // namespace

Value read_literal(Lines& lines, std::span<const Value> externals) {
  Lines::Nested nested(lines);
  if (lines.take("None")) return Value();
  if (lines.take("True")) return true;
  if (lines.take("False")) return false;
  if (lines.take("text")) return std::string_view(lines.word());
  if (lines.take("device")) return parse_device(lines.word());
  if (lines.take("complex")) {
    double real = read_number(lines).to_float();
    return complex128(real, read_number(lines).to_float());
  }
  if (lines.take("external")) {
    size_t which = count_word(lines);
    if (which >= externals.size()) lines.fail(str("there is no constant ", which));
    return externals[which];
  }
  if (lines.take("list")) {
    ListRef list = ListRef::of(read_type(lines));
    for (size_t n = count_word(lines); n > 0; --n) list.append(read_literal(lines, externals));
    return list.value();
  }
  if (lines.peek("tuple") || lines.peek("named")) {
    TypePtr type = lines.take("tuple") ? nullptr : read_type(lines);
    std::vector<Value> items;
    for (size_t n = count_word(lines); n > 0; --n) items.push_back(read_literal(lines, externals));
    if (type && type->contained().size() != items.size()) lines.fail("a named tuple has another number of items");
    return make_ref<Tuple>(std::move(items), type);
  }
  if (lines.take("dict")) return read_dict(lines, externals);
  if (lines.take("enum")) {
    const std::string& name = lines.word();
    TypePtr type = find_named_type(name);
    if (!type || !type->is(TypeKind::Enum)) lines.fail(str("the enumeration ", name, " was not declared"));
    auto* members = static_cast<const EnumType*>(type);
    return make_ref<EnumMember>(members, members->index_of(lines.word()));
  }
  return read_number(lines);
}

}  // namespace taeda::jit
