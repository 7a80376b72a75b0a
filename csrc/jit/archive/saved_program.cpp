#include "jit/archive/saved_program.h"

#include <algorithm>
#include <cctype>

#include "jit/archive/unpickle.h"
#include "taeda/core/fork.h"

namespace taeda::jit {

namespace {

constexpr std::string_view kNative = "__torch__.torch.classes.";  // classes of C++, which every program shares
constexpr std::string_view kFunction = "__torch__.PlaceholderModule";

bool ends_name(char c) { return !(std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'); }

// `text` with each `from` that is a whole name replaced by `to`.
std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos;) {
    const size_t end = at + from.size();
    const bool whole = (at == 0 || ends_name(text[at - 1])) && (end == text.size() || ends_name(text[end]));
    if (whole) text.replace(at, from.size(), to);
    at += whole ? to.size() : from.size();
  }
  return text;
}

std::string free_name(const std::string& name) {
  const size_t dot = name.rfind('.');
  std::string made = name;
  for (int i = 0; find_named_type(made); ++i)
    made = str(std::string_view(name).substr(0, dot), ".___torch_mangle_", i, std::string_view(name).substr(dot));
  return made;
}

template <class Visit>
void each_line(std::string_view text, const Visit& visit) {
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size() - 1);
    visit(text.substr(at, end + 1 - at));
    at = end + 1;
  }
}

std::map<std::string, std::string> names_for(std::string_view text) {
  constexpr std::string_view kClass = "class \"";
  std::map<std::string, std::string> names;
  each_line(text, [&](std::string_view line) {
    if (!line.starts_with(kClass)) return;
    std::string name(line.substr(kClass.size(), line.find('"', kClass.size()) - kClass.size()));
    std::string own = name.starts_with(kNative) ? name : free_name(name);
    class_type(own);  // taken from now on
    names.emplace(std::move(name), std::move(own));
  });
  return names;
}

// The instructions with classes by this process's names; what they quote of the source stays.
std::string renamed(std::string_view text, const std::map<std::string, std::string>& names) {
  if (std::ranges::all_of(names, [](const auto& each) { return each.first == each.second; })) return std::string(text);
  std::string out;
  each_line(text, [&](std::string_view line) {
    std::string changed(line);
    if (!line.starts_with("source "))
      for (const auto& [saved, own] : names)
        if (saved != own) changed = replaced(std::move(changed), str("\"", saved, "\""), str("\"", own, "\""));
    out += changed;
  });
  return out;
}

std::map<std::string, std::string> records_of(const ZipFile& archive) {
  std::map<std::string, std::string> records;
  for (const std::string& name : archive.names())
    if (name.starts_with("code/") || name.starts_with("constants") || name.starts_with("instructions"))
      records.emplace(name, archive.record(name));
  return records;
}

// The text behind a key of a JSON object of texts without escapes; empty if it is not there.
std::string text_of(std::string_view json, std::string_view key) {
  std::string quoted_key = str("\"", key, "\"");
  size_t at = json.find(quoted_key);
  if (at == json.npos || (at = json.find('"', at + quoted_key.size())) == json.npos) return {};
  return std::string(json.substr(at + 1, json.find('"', at + 1) - at - 1));
}

// A class whose forward is a function that was saved by itself.
const ClassType* module_of(const Unit& unit, const std::string& function_name, const std::string& class_name) {
  const Function* function = unit.find(function_name);
  TAEDA_CHECK(function, "the archive's instructions have no function ", function_name);
  ClassType& type = class_type(class_name);
  type.is_module = true;
  type.add_attribute({"training", plain_type(TypeKind::Bool)});
  auto schema = std::make_shared<Schema>(function->schema);
  schema->name = "forward";
  SchemaArgument self;
  self.name = "self";
  self.type = &type;
  schema->arguments.insert(schema->arguments.begin(), self);
  type.define_method({"forward", schema, [function](Stack& stack) {
                        size_t arguments = function->schema.arguments.size();
                        stack.erase(stack.end() - static_cast<ptrdiff_t>(arguments) - 1);
                        function->run(stack);
                      }});
  return &type;
}

// Programs live as long as the process, as their classes do.
struct Known {
  Mutex mutex;
  std::unordered_multimap<size_t, std::shared_ptr<const SavedProgram>> by_text;
  std::unordered_map<TypePtr, std::shared_ptr<const SavedProgram>> by_class;
};
Known& known() {
  static Known* instance = new Known;
  return *instance;
}

}  // namespace

std::string SavedProgram::own_name(const std::string& saved) const {
  auto found = own_names.find(saved);
  return found == own_names.end() ? saved : found->second;
}

std::string SavedProgram::saved_text(const std::string& own) const {
  std::string text = own;
  for (const auto& [saved, name] : own_names)
    if (saved != name) text = replaced(std::move(text), name, saved);
  return text;
}

std::shared_ptr<const SavedProgram> program_of(const ZipFile& archive) {
  auto made = std::make_shared<SavedProgram>();
  made->records = records_of(archive);
  made->version = archive.has("version") ? archive.record("version") : archive.record(".data/version");
  const std::string& text = made->records.at("instructions/program");
  Lock lock(known().mutex);
  auto [first, last] = known().by_text.equal_range(std::hash<std::string>()(text));
  for (; first != last; ++first)
    if (first->second->records == made->records) return first->second;

  made->own_names = names_for(text);
  std::vector<Value> constants;
  if (archive.has("instructions.pkl")) constants = unpickle(archive, "instructions").to_tuple().items;
  made->unit = assemble(renamed(text, made->own_names), constants);
  if (archive.has("instructions/names"))
    if (std::string name = text_of(archive.record("instructions/names"), str(kFunction, ".forward")); !name.empty()) {
      std::string own = made->own_names[std::string(kFunction)] = free_name(std::string(kFunction));
      made->function = module_of(*made->unit, name, own);
    }
  for (const auto& [saved, own] : made->own_names) known().by_class[&class_type(own)] = made;
  known().by_text.emplace(std::hash<std::string>()(text), made);
  return made;
}

std::shared_ptr<const SavedProgram> program_of(TypePtr type) {
  Lock lock(known().mutex);
  auto found = known().by_class.find(type);
  return found == known().by_class.end() ? nullptr : found->second;
}

}  // namespace taeda::jit
