#include "jit/archive/source.h"

#include <algorithm>
#include <cctype>

namespace taeda::jit {

namespace {

bool is_identifier(std::string_view name) {
  auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) && std::ranges::all_of(name, fits);
}
std::string quoted(std::string_view text) { return str("\"", text, "\""); }

// Takes `prefix` from the front of `text`, if it is there.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}
// What stands before `end`, which is taken, too; all of it if there is none.
std::string take_to(std::string_view& text, std::string_view end) {
  const size_t at = std::min(text.find(end), text.size());
  std::string taken(text.substr(0, at));
  text.remove_prefix(std::min(text.size(), at + end.size()));
  return taken;
}

// ["weight", "bias", ]
std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  while (take_to(text, "\""), !text.empty()) names.push_back(take_to(text, "\""));
  return names;
}

class Reader {
 public:
  explicit Reader(std::string module) : module_(std::move(module)) {}

  bool read(std::string_view source) {
    while (!source.empty())
      if (!line(take_to(source, "\n"))) return false;
    finish_class();
    return true;
  }
  std::vector<DeclaredClass> classes;

 private:
  // Lines of members have two spaces before them, those of methods' bodies more.
  bool line(std::string_view text) {
    if (take(text, "class ")) return begin_class(text);
    if (text.starts_with("    ") || text.find_first_not_of(' ') == text.npos) return true;
    if (!take(text, "  ") || classes.empty()) return text.starts_with("def ");  // a function, beside the classes
    if (take(text, "def ")) {
      classes.back().methods.push_back(take_to(text, "("));
    } else if (take(text, "__parameters__ = ")) {
      parameters_ = names_in(text);
    } else if (take(text, "__buffers__ = ")) {
      buffers_ = names_in(text);
    } else if (take(text, "__annotations__[\"")) {
      std::string name = take_to(text, "\"] = ");
      member(std::move(name), text);
    } else if (size_t at = text.find(" : "); at != text.npos) {
      std::string name = take_to(text, " : ");
      member(std::move(name), text);
    }
    return true;
  }
  bool begin_class(std::string_view text) {
    finish_class();
    const std::string head = take_to(text, ":");
    const size_t bracket = std::min(head.find('('), head.size());
    const std::string_view base = std::string_view(head).substr(bracket);
    classes.push_back({module_ + head.substr(0, bracket), base == "(Module)", {}, {}, {}});
    return base.empty() || base == "(Module)";
  }
  void member(std::string name, std::string_view text) {
    if (take(text, "Final[")) {
      std::string type = take_to(text, "] = ");
      classes.back().constants.push_back({std::move(name), std::move(type), {}, std::string(text)});
    } else {
      classes.back().attributes.push_back({std::move(name), std::string(text), {}, {}});
    }
  }
  void finish_class() {
    if (classes.empty()) return;
    for (DeclaredClass::Member& attribute : classes.back().attributes) {
      auto is_in = [&](const std::vector<std::string>& names) { return std::ranges::count(names, attribute.name) > 0; };
      if (is_in(parameters_)) attribute.kind = Attribute::Kind::Parameter;
      if (is_in(buffers_)) attribute.kind = Attribute::Kind::Buffer;
    }
    parameters_.clear();
    buffers_.clear();
  }

  std::string module_;
  std::vector<std::string> parameters_, buffers_;  // of the last class
};

std::string text_of(const DeclaredClass& declared) {
  std::string parameters, buffers, attributes;
  bool annotated = false;
  for (const DeclaredClass::Member& each : declared.attributes) {
    if (each.kind == Attribute::Kind::Parameter) parameters += quoted(each.name) + ", ";
    if (each.kind == Attribute::Kind::Buffer) buffers += quoted(each.name) + ", ";
    if (is_identifier(each.name)) {
      attributes += str("  ", each.name, " : ", each.type, "\n");
      continue;
    }
    if (!std::exchange(annotated, true)) attributes += "  __annotations__ = []\n";
    attributes += str("  __annotations__[", quoted(each.name), "] = ", each.type, "\n");
  }
  return str("class ", declared.name.substr(declared.name.rfind('.') + 1), "(Module):\n  __parameters__ = [",
             parameters, "]\n  __buffers__ = [", buffers, "]\n", attributes);
}

}  // namespace

std::optional<std::vector<DeclaredClass>> read_source(std::string_view record, std::string_view source) {
  take(record, "code/");
  std::string module(record.substr(0, record.rfind(".py")));
  std::ranges::replace(module, '/', '.');
  Reader reader(module + ".");
  return reader.read(source) ? std::optional(std::move(reader.classes)) : std::nullopt;
}

std::map<std::string, std::string> write_source(std::span<const DeclaredClass> classes) {
  std::map<std::string, std::string> records;
  for (const DeclaredClass& each : classes) {
    std::string path = each.name.substr(0, each.name.rfind('.'));
    std::ranges::replace(path, '.', '/');
    records["code/" + path + ".py"] += text_of(each);
  }
  return records;
}

}  // namespace taeda::jit
