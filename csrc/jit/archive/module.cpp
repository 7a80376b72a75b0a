#include "taeda/jit/module.h"

#include <unordered_map>

#include "jit/archive/pickle.h"
#include "jit/archive/saved_program.h"
#include "jit/archive/unpickle.h"

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

}  // namespace

Value Module::run(std::string_view method, std::vector<Value> arguments) const {
  const Method* found = object_->type->find_method(method);
  TAEDA_CHECK(found, object_->type->name(), " has no method '", method, "'");
  TAEDA_CHECK(found->run, object_->type->name(), ".", method,
              " is source alone in the archive; `python -m taeda jit compile FILE` adds the instructions");
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
std::string Module::archive(const std::string& folder, const std::map<std::string, std::string>& extra_files) const {
  std::shared_ptr<const SavedProgram> program = program_of(*object_);
  ZipWriter to(folder);
  for (const auto& [name, bytes] : extra_files) to.write("extra/" + name, bytes);
  std::vector<Tensor> storages;
  const SavedNames saved = [&](const std::string& own) { return program->saved_text(own); };
  to.write("data.pkl", pickle(object_, storages, nullptr, true, saved));
  for (size_t i = 0; i < storages.size(); ++i) {
    const Storage& storage = storages[i].impl()->storage();
    to.write(str("data/", i), {static_cast<const char*>(storage->data()), storage->nbytes()});
  }
  for (const auto& [name, bytes] : program->records) to.write(name, bytes);
  to.write("byteorder", "little");
  to.write("version", program->version);
  return to.finish();
}

std::optional<Value> state_of(const Ref<Instance>& object) {
  const Method *get = object->type->find_method("__getstate__"), *set = object->type->find_method("__setstate__");
  if (!get || !get->run || !set || !set->run) return std::nullopt;
  Stack stack{object};
  get->run(stack);
  return stack.back();
}
void set_state(const Ref<Instance>& object, Value state) {
  const Method* set = object->type->find_method("__setstate__");
  TAEDA_CHECK(set && set->run, object->type->name(), " has no __setstate__ for what it was saved as");
  if (!set->is_static) {
    Stack stack{object, std::move(state)};
    return set->run(stack);
  }
  Stack stack{std::move(state)};  // of C++, which makes another object
  set->run(stack);
  object->slots = stack.back().to_instance().slots;
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

// Who goes through modules goes into those in them. `seen` tells whether one is being gone through.
void check_tree(const Instance& module, std::unordered_map<const Instance*, bool>& seen, int depth = 0) {
  auto [open, is_new] = seen.try_emplace(&module, true);
  TAEDA_CHECK(depth < 1000 && (is_new || !open->second),
              "the archive is damaged: its modules lie in each other without end");
  if (!is_new) return;
  for (const Value& value : module.slots)
    if (value.tag() == Value::Tag::Instance && value.to_instance().type->is_module)
      check_tree(value.to_instance(), seen, depth + 1);
  seen[&module] = false;
}

Module load(const ZipFile& archive, const std::string& path) {
  TAEDA_CHECK(archive.has("data.pkl"), path, " is no archive of a program");
  std::shared_ptr<const SavedProgram> program = program_of(archive);
  TAEDA_CHECK(program, path, " holds no instructions, only source; `python -m taeda jit compile ", path, "` adds them");
  if (program->function) {
    Module made(make_ref<Instance>(program->function));
    made.set_attribute("training", true);
    return made;
  }
  Value object = unpickle(archive, "data", [&](const std::string& name) { return program->own_name(name); });
  std::unordered_map<const Instance*, bool> seen;
  check_tree(object.to_instance(), seen);
  return Module(Ref<Instance>(&object.to_instance()));
}

}  // namespace

Module load(const std::string& path) { return load(ZipFile(path), path); }
Module load_bytes(std::string bytes, const std::string& what) { return load(ZipFile(std::move(bytes), what), what); }

}  // namespace taeda::jit
