#include "taeda/jit/module.h"

#include <atomic>

#include "jit/archive/unpickle.h"
#include "jit/code.h"

namespace taeda::jit {

namespace {

// The object that a path's last name belongs to; the name is left in `path`.
Instance* holder(const Ref<Instance>& object, std::string_view& path) {
  Instance* at = object.get();
  for (size_t dot; (dot = path.find('.')) != path.npos; path.remove_prefix(dot + 1))
    at = &at->get(path.substr(0, dot)).to_instance();
  return at;
}

void collect(const Instance& object, const std::string& prefix, Attribute::Kind kind,
             std::vector<std::pair<std::string, Tensor>>& found) {
  for (size_t i = 0; i < object.slots.size(); ++i) {
    const Attribute& attribute = object.type->attributes()[i];
    const Value& value = object.slots[i];
    if (value.is_tensor() && attribute.kind == kind) found.emplace_back(prefix + attribute.name, value.to_tensor());
    if (value.tag() == Value::Tag::Instance) collect(value.to_instance(), prefix + attribute.name + ".", kind, found);
  }
}

// The text behind a key of a JSON object of texts without escapes; empty if it is not there.
std::string text_of(std::string_view json, std::string_view key) {
  std::string quoted_key = str("\"", key, "\"");
  size_t at = json.find(quoted_key);
  if (at == json.npos || (at = json.find('"', at + quoted_key.size())) == json.npos) return {};
  return std::string(json.substr(at + 1, json.find('"', at + 1) - at - 1));
}

// A function that was saved by itself, as a module whose forward it is.
Ref<Instance> module_of(const Ref<Unit>& unit, const std::string& name) {
  const Function* function = unit->find(name);
  TAEDA_CHECK(function, "the archive's instructions have no function ", name);
  static std::atomic<int> made{0};
  ClassType& type = class_type(str("__torch__.taeda_function_", made++, ".Module"));
  type.is_module = true;
  auto schema = std::make_shared<Schema>(function->schema);
  schema->name = "forward";
  SchemaArgument self;
  self.name = "self";
  self.type = &type;
  schema->arguments.insert(schema->arguments.begin(), self);
  type.define_method({"forward", schema, [unit, function](Stack& stack) {
                        size_t arguments = function->schema.arguments.size();
                        stack.erase(stack.end() - static_cast<ptrdiff_t>(arguments) - 1);
                        function->run(stack);
                      }});
  return make_ref<Instance>(&type);
}

}  // namespace

Value Module::run(std::string_view method, std::vector<Value> arguments) const {
  const Method* found = object_->type->find_method(method);
  TAEDA_CHECK(found && found->run, object_->type->name(), " has no method '", method, "'");
  const std::vector<SchemaArgument>& parameters = found->schema->arguments;
  TAEDA_CHECK_TYPE(arguments.size() < parameters.size(), method, "() takes ", parameters.size() - 1, " arguments; got ",
                   arguments.size());
  Stack stack{object_};
  for (size_t i = 1; i < parameters.size(); ++i) {
    if (i - 1 < arguments.size()) {
      const Value& given = arguments[i - 1];
      TAEDA_CHECK_TYPE(type_of(given)->is_subtype_of(parameters[i].type) || given.is_list() ||
                           given.tag() == Value::Tag::Dict || given.tag() == Value::Tag::Tuple,
                       method, "() takes a ", parameters[i].type->annotation(), " for '", parameters[i].name, "'; got ",
                       type_of(given)->annotation());
      stack.push_back(given);
      continue;
    }
    TAEDA_CHECK_TYPE(parameters[i].default_text, method, "() is missing the argument '", parameters[i].name, "'");
    stack.push_back(parameters[i].default_value);
  }
  found->run(stack);
  return stack.back();
}

Value Module::attribute(std::string_view path) const {
  Instance* at = holder(object_, path);
  return at->get(path);
}
void Module::set_attribute(std::string_view path, Value value) {
  Instance* at = holder(object_, path);
  at->set(path, std::move(value));
}
std::vector<std::string> Module::methods() const {
  std::vector<std::string> names;
  for (const Method* method : object_->type->methods()) names.push_back(method->name);
  return names;
}
std::vector<std::pair<std::string, Tensor>> Module::parameters() const {
  std::vector<std::pair<std::string, Tensor>> found;
  collect(*object_, "", Attribute::Kind::Parameter, found);
  return found;
}
std::vector<std::pair<std::string, Tensor>> Module::buffers() const {
  std::vector<std::pair<std::string, Tensor>> found;
  collect(*object_, "", Attribute::Kind::Buffer, found);
  return found;
}

namespace {

Module load(const ZipFile& archive, const std::string& path) {
  TAEDA_CHECK(archive.has("data.pkl"), path, " is no archive of a program");
  TAEDA_CHECK(archive.has("instructions/program"), path,
              " holds no instructions, only source; `python -m taeda jit compile ", path, "` adds them");
  std::vector<Value> constants;
  if (archive.has("instructions.pkl")) constants = unpickle(archive, "instructions").to_tuple().items;
  Ref<Unit> unit = assemble(archive.record("instructions/program"), constants);
  if (archive.has("instructions/names")) {
    std::string alone = text_of(archive.record("instructions/names"), "__torch__.PlaceholderModule.forward");
    if (!alone.empty()) return Module(module_of(unit, alone));
  }
  Value object = unpickle(archive, "data");
  return Module(Ref<Instance>(&object.to_instance()));
}

}  // namespace

Module load(const std::string& path) { return load(ZipFile(path), path); }
Module load_bytes(std::string bytes, const std::string& what) { return load(ZipFile(std::move(bytes), what), what); }

}  // namespace taeda::jit
