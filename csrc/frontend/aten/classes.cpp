// Classes that extensions register, and errors of their registration.
#include <ATen/core/function_schema.h>
#include <torch/custom_class.h>

#include <mutex>

namespace torch::detail {

namespace {
struct Classes {
  std::mutex mutex;
  std::unordered_map<std::type_index, ::taeda::ClassType*> by_type;
};
Classes& classes() {
  static auto* table = new Classes;
  return *table;
}
constexpr const char* kObject = "capsule";  // the attribute that holds the C++ object

thread_local std::string* t_load_errors = nullptr;
}  // namespace

bool keep_load_error(const char* message) {
  if (!t_load_errors) return false;
  *t_load_errors += (t_load_errors->empty() ? "" : "\n") + std::string(message);
  return true;
}

ClassBuilder::ClassBuilder(const std::string& ns, const std::string& name, std::type_index type)
    : type_(&::taeda::class_type("__torch__.torch.classes." + ns + "." + name)) {
  Classes& table = classes();
  std::lock_guard<std::mutex> lock(table.mutex);
  TORCH_CHECK(!type_->find_attribute(kObject), "the class ", ns, ".", name, " is registered already");
  TORCH_CHECK(!table.by_type.contains(type), "the C++ type of ", ns, ".", name, " is registered under another name");
  type_->add_attribute({kObject, ::taeda::plain_type(::taeda::TypeKind::Capsule)});
  table.by_type[type] = type_;
}

void ClassBuilder::add(const std::string& name, std::vector<::taeda::TypePtr> parameters, ::taeda::TypePtr result,
                       const std::string& doc, std::vector<arg> args, bool is_static, Run run) const {
  (void)doc;
  auto schema = std::make_shared<::taeda::Schema>();
  schema->name = name;
  const size_t implicit = is_static ? 0 : 1;  // `self` has its own name
  TORCH_CHECK(args.empty() || args.size() + implicit == parameters.size(), name, ": ", args.size(),
              " arguments were named; it has ", parameters.size() - implicit);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const arg* named = i < implicit || args.empty() ? nullptr : &args[i - implicit];
    schema->arguments.push_back(c10::Argument(i < implicit ? "self"
                                              : named      ? named->name_
                                                           : "_" + std::to_string(i),
                                              parameters[i], std::nullopt, named ? named->value_ : std::nullopt));
  }
  ::taeda::SchemaArgument returned;
  returned.type = result;
  schema->returns.push_back(std::move(returned));
  type_->add_method({name, std::move(schema), std::move(run), is_static});
}

}  // namespace torch::detail

extern "C" {
// For the loader of libraries: from here on errors of registration are kept; the end gives them, "" if there are none.
TORCH_API void taeda_begin_loading() {
  delete torch::detail::t_load_errors;
  torch::detail::t_load_errors = new std::string;
}
TORCH_API const char* taeda_end_loading() {
  static thread_local std::string kept;
  kept = torch::detail::t_load_errors ? *torch::detail::t_load_errors : "";
  delete torch::detail::t_load_errors;
  torch::detail::t_load_errors = nullptr;
  return kept.c_str();
}
}

namespace c10::detail {

TypePtr custom_type(std::type_index type) {
  auto& table = torch::detail::classes();
  std::lock_guard<std::mutex> lock(table.mutex);
  auto found = table.by_type.find(type);
  TORCH_CHECK(found != table.by_type.end(), "the class ", type.name(), " is not registered with torch::class_");
  return found->second;
}

Value custom_instance(std::type_index type, ::taeda::Ref<::taeda::RefCounted> object) {
  auto instance = ::taeda::make_ref<::taeda::Instance>(static_cast<const ::taeda::ClassType*>(custom_type(type)));
  instance->slots[0] = Value::object(std::move(object));
  return Value(std::move(instance));
}

::taeda::RefCounted* custom_object(const Value& value) {
  const ::taeda::Instance& instance = value.to_instance();
  TORCH_CHECK(!instance.slots.empty() && instance.slots[0].tag() == Value::Tag::Object, "the value is an object of ",
              instance.type->name(), ", which is no class of C++");
  return instance.slots[0].to_object();
}

}  // namespace c10::detail
