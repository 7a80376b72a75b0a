#include "jit/archive/saved_program.h"

#include <algorithm>
#include <cctype>

#include "jit/archive/pickle.h"
#include "jit/archive/source.h"
#include "jit/archive/unpickle.h"
#include "taeda/core/fork.h"
#include "taeda/jit/module.h"

namespace taeda::jit {

namespace {

constexpr std::string_view kNative = "__torch__.torch.classes.";  // classes of C++, which every program shares
constexpr std::string_view kFunction = "__torch__.PlaceholderModule";

bool is_in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

// `text` with the names in it that the map has replaced, all at once: a new name may be another's old one.
std::string replaced(std::string_view text, const std::map<std::string, std::string>& names, bool in_quotes = false) {
  std::string out;
  for (size_t at = 0, end; at < text.size(); at = end) {
    end = static_cast<size_t>(std::find_if_not(text.begin() + at, text.end(), is_in_name) - text.begin());
    end = std::max(end, at + 1);
    const std::string_view word = text.substr(at, end - at);
    const bool fits = !in_quotes || (at > 0 && text[at - 1] == '"' && end < text.size() && text[end] == '"');
    auto found = fits && word.starts_with("__torch__") ? names.find(std::string(word)) : names.end();
    out += found == names.end() ? word : found->second;
  }
  return out;
}

template <class Visit>
void each_line(std::string_view text, const Visit& visit) {
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size() - 1);
    visit(text.substr(at, end + 1 - at));
    at = end + 1;
  }
}

// Takes a name of this process for a class of the archive's.
void take_name(SavedProgram& program, const std::string& saved) {
  program.name(saved, saved.starts_with(kNative) ? class_type(saved).name() : new_class(saved).name());
}

void take_names(SavedProgram& program, std::string_view instructions) {
  constexpr std::string_view kClass = "class \"";
  each_line(instructions, [&](std::string_view line) {
    if (!line.starts_with(kClass)) return;
    take_name(program, std::string(line.substr(kClass.size(), line.find('"', kClass.size()) - kClass.size())));
  });
}

// The instructions with classes by this process's names; what they quote of the source stays.
std::string renamed(std::string_view text, const std::map<std::string, std::string>& names) {
  if (std::ranges::all_of(names, [](const auto& each) { return each.first == each.second; })) return std::string(text);
  std::string out;
  each_line(text, [&](std::string_view line) {
    out += line.starts_with("source ") ? std::string(line) : replaced(line, names, true);
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
const ClassType* module_of(const Unit& unit, const std::string& function_name) {
  const Function* function = unit.find(function_name);
  TAEDA_CHECK(function, "the archive's instructions have no function ", function_name);
  ClassType& type = new_class(std::string(kFunction));
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

void declare(const DeclaredClass& declared, const SavedProgram& program) {
  ClassType& type = class_type(program.own_name(declared.name));
  auto own = [&](const std::string& text) { return replaced(text, program.own_names); };
  type.is_module = declared.is_module;
  for (const DeclaredClass::Member& each : declared.attributes)
    type.add_attribute({each.name, parse_type(own(each.type)), each.kind});
  for (const DeclaredClass::Member& each : declared.constants)
    type.add_constant(each.name,
                      parse_schema(str("f(", own(each.type), " x=", each.value, ") -> ()")).arguments[0].default_value);
  for (const std::string& method : declared.methods) type.add_method({method, nullptr, nullptr, false});
}

// Declares what the source does; whether it could.
bool declare_source(SavedProgram& program) {
  std::vector<DeclaredClass> all;
  for (const auto& [record, text] : program.records) {
    if (!record.starts_with("code/") || !record.ends_with(".py")) continue;
    std::optional<std::vector<DeclaredClass>> some = read_source(record, text);
    if (!some) return false;
    all.insert(all.end(), some->begin(), some->end());
  }
  for (const DeclaredClass& each : all) take_name(program, each.name);
  for (const DeclaredClass& each : all) declare(each, program);
  return true;
}

// Declarations of an object's class and of those of the objects in it, these first.
void describe(const Instance& object, std::vector<DeclaredClass>& classes) {
  const ClassType& type = *object.type;
  if (type.name().starts_with(kNative)) return;
  for (const DeclaredClass& known : classes)
    if (known.name == type.name()) return;
  TAEDA_CHECK(type.methods().empty(), "there is no source of the methods of ", type.name(),
              ": what is saved is a module as it was loaded, or one that holds data alone");
  for (const Value& value : object.slots)
    if (value.tag() == Value::Tag::Instance) describe(value.to_instance(), classes);
  DeclaredClass made{.name = type.name(), .is_module = type.is_module};
  for (const Attribute& each : type.attributes())
    made.attributes.push_back({each.name, each.type->annotation(), each.kind, {}});
  classes.push_back(std::move(made));
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

void SavedProgram::name(const std::string& saved, const std::string& own) {
  own_names[saved] = own;
  saved_names[own] = saved;
}
ClassType& new_class(const std::string& name) {
  static Mutex* mutex = new Mutex;
  Lock lock(*mutex);
  const size_t dot = name.rfind('.');
  const std::string prefix = dot == name.npos ? "__torch__" : name.substr(0, dot), last = name.substr(dot + 1);
  std::string made = str(prefix, ".", last);
  for (int i = 0; find_named_type(made); ++i) made = str(prefix, ".___torch_mangle_", i, ".", last);
  return class_type(made);
}

std::string SavedProgram::own_name(const std::string& saved) const {
  auto found = own_names.find(saved);
  return found == own_names.end() ? saved : found->second;
}

std::string SavedProgram::saved_text(const std::string& own) const { return replaced(own, saved_names); }

std::shared_ptr<const SavedProgram> program_of(const ZipFile& archive) {
  auto made = std::make_shared<SavedProgram>();
  made->records = records_of(archive);
  made->version = archive.has("version") ? archive.record("version") : archive.record(".data/version");
  size_t hash = 0;
  for (const auto& [name, record] : made->records) hash = hash * 31 + std::hash<std::string>()(record);
  Lock lock(known().mutex);
  auto [first, last] = known().by_text.equal_range(hash);
  for (; first != last; ++first)
    if (first->second->records == made->records) return first->second;

  if (auto instructions = made->records.find("instructions/program"); instructions != made->records.end()) {
    take_names(*made, instructions->second);
    std::vector<Value> constants;
    if (archive.has("instructions.pkl")) constants = unpickle(archive, "instructions").to_tuple().items;
    made->unit = assemble(renamed(instructions->second, made->own_names), constants);
    if (archive.has("instructions/names"))
      if (std::string name = text_of(archive.record("instructions/names"), str(kFunction, ".forward")); !name.empty()) {
        made->function = module_of(*made->unit, name);
        made->name(std::string(kFunction), made->function->name());
      }
  } else if (!declare_source(*made)) {
    return nullptr;
  }
  for (const auto& [saved, own] : made->own_names) known().by_class[&class_type(own)] = made;
  known().by_text.emplace(hash, made);
  return made;
}

std::shared_ptr<const SavedProgram> program_of(const Instance& object) {
  {
    Lock lock(known().mutex);
    if (auto found = known().by_class.find(object.type); found != known().by_class.end()) return found->second;
  }
  std::vector<DeclaredClass> classes;
  describe(object, classes);
  auto made = std::make_shared<SavedProgram>();
  made->records = write_source(classes);
  std::vector<Tensor> none;
  made->records["constants.pkl"] = pickle(make_ref<Tuple>(std::vector<Value>()), none, nullptr, true);
  made->version = "3\n";
  return made;
}

}  // namespace taeda::jit
