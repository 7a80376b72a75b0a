#include <torch/csrc/jit/api/module.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <mutex>
#include <set>

#include <taeda/jit/archive.h>

namespace torch::jit {

namespace {

using ::taeda::Attribute;
using ::taeda::Instance;
using ::taeda::Value;

// Calls visit(path, attribute, value) for the slots of an object and, if wanted, of the modules in it.
template <class Visit>
void each_slot(const Instance& object, const std::string& prefix, bool recurse, const Visit& visit) {
  for (size_t i = 0; i < object.slots.size(); ++i) {
    const Attribute& attribute = object.type->attributes()[i];
    const Value& value = object.slots[i];
    const bool is_module = value.tag() == Value::Tag::Instance && value.to_instance().type->is_module;
    visit(prefix + attribute.name, attribute, value);
    if (is_module && recurse) each_slot(value.to_instance(), prefix + attribute.name + ".", recurse, visit);
  }
}
SlotList<NameTensor> tensors(const Instance& object, bool recurse, Attribute::Kind kind) {
  SlotList<NameTensor> found;
  each_slot(object, "", recurse, [&](const std::string& name, const Attribute& attribute, const Value& value) {
    if (attribute.kind == kind && value.is_tensor() && value.to_tensor().defined())
      found.push_back({name, value.to_tensor()});
  });
  return found;
}
template <class T>
SlotList<T> values_of(const SlotList<Named<T>>& named) {
  SlotList<T> values;
  for (const Named<T>& each : named) values.push_back(each.value);
  return values;
}
void collect(const Module& module, const std::string& prefix, SlotList<NameModule>& found) {
  found.push_back({prefix, module});
  for (const NameModule& child : module.named_children())
    collect(child.value, prefix.empty() ? child.name : prefix + "." + child.name, found);
}
template <class Change>
void change_tensors(const Instance& object, const Change& change) {
  for (Attribute::Kind kind : {Attribute::Kind::Parameter, Attribute::Kind::Buffer})
    for (const NameTensor& each : tensors(object, true, kind)) {
      at::Tensor tensor = each.value;
      tensor.set_data(change(tensor.tensor_data()));
    }
}

// Positional arguments, with named ones and defaults in the places that are left.
std::vector<Value> arguments(const ::taeda::Method& method, const std::vector<c10::IValue>& given,
                             const Kwargs& kwargs) {
  const auto& parameters = method.schema->arguments;
  std::vector<Value> all(given.begin(), given.end());
  size_t used = 0;
  for (size_t i = given.size() + 1; i < parameters.size() && used < kwargs.size(); ++i) {
    auto named = kwargs.find(parameters[i].name);
    used += named != kwargs.end();
    TORCH_CHECK(named != kwargs.end() || parameters[i].default_text, method.name, "() is missing the argument '",
                parameters[i].name, "'");
    all.push_back(named != kwargs.end() ? static_cast<const Value&>(named->second) : parameters[i].default_value);
  }
  TORCH_CHECK(used == kwargs.size(), method.name, "() was given a named argument that it does not take, or twice");
  return all;
}

}  // namespace

// --- methods
c10::IValue Method::operator()(std::vector<c10::IValue> stack, const Kwargs& kwargs) const {
  return ::taeda::jit::Module(owner_).run(method_->name, arguments(*method_, stack, kwargs));
}
Module Method::owner() const { return Module(owner_); }

::taeda::Instance& Module::object() const {
  TORCH_CHECK(object_, "the torch::jit::Module is empty: torch::jit::load makes one");
  return *object_;
}
Method Module::get_method(const std::string& name) const {
  std::optional<Method> found = find_method(name);
  TORCH_CHECK(found || !object().type->find_method(name), type_name(), ".", name,
              " is source alone in the archive; `python -m taeda jit compile FILE` adds the instructions");
  TORCH_CHECK(found, "Method '", name, "' is not defined in ", type_name());
  return *found;
}
std::optional<Method> Module::find_method(const std::string& basename) const {
  const ::taeda::Method* found = object().type->find_method(basename);
  return found && found->schema ? std::optional<Method>(Method(object_, found)) : std::nullopt;
}
std::vector<Method> Module::get_methods() const {
  std::vector<Method> all;
  for (const ::taeda::Method* method : object().type->methods())
    if (method->schema) all.emplace_back(object_, method);
  return all;
}
c10::IValue Module::forward(std::vector<c10::IValue> inputs, const Kwargs& kwargs) const {
  return get_method("forward")(std::move(inputs), kwargs);
}

// --- attributes
bool Module::hasattr(const std::string& name) const {
  return object().type->find_attribute(name) || object().type->find_constant(name);
}
c10::IValue Module::attr(const std::string& name) const {
  if (const Value* constant = object().type->find_constant(name)) return *constant;
  return object().get(name);
}
c10::IValue Module::attr(const std::string& name, c10::IValue or_else) const {
  return hasattr(name) ? attr(name) : or_else;
}
void Module::setattr(const std::string& name, c10::IValue value) const { object().set(name, std::move(value)); }

// --- modules made here
namespace {

// Their classes, each of one module and its copies; those of loaded ones are shared by all that came from such a file.
struct Made {
  std::mutex mutex;
  std::set<const ::taeda::ClassType*> classes;
};
Made& made_here() {
  static Made* made = new Made;
  return *made;
}

::taeda::ClassType& new_module_class(const std::string& name) {
  ::taeda::ClassType& type = ::taeda::jit::new_class(name);
  type.is_module = true;
  std::lock_guard<std::mutex> lock(made_here().mutex);
  made_here().classes.insert(&type);
  return type;
}
::taeda::ClassType& class_to_be_changed(const Instance& object) {
  std::lock_guard<std::mutex> lock(made_here().mutex);
  TORCH_CHECK(
      made_here().classes.count(object.type), object.type->name(),
      " has the attributes that its program declares: ", "others are registered with a torch::jit::Module(\"Name\")");
  TORCH_CHECK(object.type->attributes().size() == object.slots.size(), object.type->name(),
              " was given an attribute through another of its modules");
  return ::taeda::class_type(object.type->name());
}

}  // namespace

Module::Module(const c10::QualifiedName& class_name)
    : object_(::taeda::make_ref<Instance>(&new_module_class(class_name.qualifiedName()))) {
  register_attribute("training", c10::BoolType::get(), true);
}
void Module::register_attribute(const std::string& name, const c10::TypePtr& t, c10::IValue v, bool is_param,
                                bool is_buffer) const {
  TORCH_CHECK(::taeda::type_of(v)->is_subtype_of(t), "register_attribute: '", name, "' is to be a ", t->str(),
              "; got a ", ::taeda::type_of(v)->str());
  const Attribute::Kind kind = is_param    ? Attribute::Kind::Parameter
                               : is_buffer ? Attribute::Kind::Buffer
                                           : Attribute::Kind::Plain;
  if (std::optional<size_t> slot = object().type->find_attribute(name)) {
    const Attribute& there = object().type->attributes()[*slot];
    TORCH_CHECK(t->isSubtypeOf(there.type), "register_attribute: '", name, "' is a ", there.type->str(),
                " already; got a ", t->str());
    TORCH_CHECK(there.kind == kind || kind == Attribute::Kind::Plain, "register_attribute: '", name,
                "' is there already, as something else than a ", is_param ? "parameter" : "buffer");
    object().slots.at(*slot) = std::move(v);
    return;
  }
  class_to_be_changed(object()).add_attribute({name, t, kind});
  object().slots.push_back(std::move(v));
}
void Module::register_parameter(const std::string& name, at::Tensor v, bool is_buffer) const {
  const c10::TypePtr type =
      v.defined() ? c10::TypePtr(c10::TensorType::get()) : c10::TypePtr(c10::OptionalType::ofTensor());
  register_attribute(name, type, v.defined() ? c10::IValue(std::move(v)) : c10::IValue(), !is_buffer, is_buffer);
}
void Module::register_module(const std::string& name, const Module& module) const {
  for (const Module& each : module.modules())
    TORCH_CHECK(each._ivalue() != _ivalue(), "register_module: '", name,
                "' is, or holds, the module that is to hold it");
  register_attribute(name, module.object().type, module._ivalue());
}
Module Module::copy() const {
  auto made = ::taeda::make_ref<Instance>(object().type);
  made->slots = object().slots;
  for (Value& value : made->slots)
    if (c10::IValue held = value; held.isModule())
      value = ::taeda::Ref<Instance>(held.toModule().copy()._ivalue().get());
  return Module(made);
}

SlotList<NameTensor> Module::named_parameters(bool recurse) const {
  return tensors(object(), recurse, Attribute::Kind::Parameter);
}
SlotList<NameTensor> Module::named_buffers(bool recurse) const {
  return tensors(object(), recurse, Attribute::Kind::Buffer);
}
SlotList<NameValue> Module::named_attributes(bool recurse) const {
  SlotList<NameValue> found;
  each_slot(object(), "", recurse,
            [&](const std::string& name, const Attribute&, const Value& value) { found.push_back({name, value}); });
  return found;
}
SlotList<at::Tensor> Module::parameters(bool recurse) const { return values_of(named_parameters(recurse)); }
SlotList<at::Tensor> Module::buffers(bool recurse) const { return values_of(named_buffers(recurse)); }
SlotList<c10::IValue> Module::attributes(bool recurse) const { return values_of(named_attributes(recurse)); }
SlotList<NameModule> Module::named_children() const {
  SlotList<NameModule> found;
  for (size_t i = 0; i < object().slots.size(); ++i)
    if (c10::IValue value = object().slots[i]; value.isModule())
      found.push_back({object().type->attributes()[i].name, value.toModule()});
  return found;
}
SlotList<NameModule> Module::named_modules() const {
  SlotList<NameModule> found;
  collect(*this, "", found);
  return found;
}
SlotList<Module> Module::children() const { return values_of(named_children()); }
SlotList<Module> Module::modules() const { return values_of(named_modules()); }

// --- modes and places
void Module::train(bool on) const {
  for (const Module& module : modules())
    if (module.object().type->find_attribute("training")) module.setattr("training", on);
}
void Module::to(at::Device device, at::ScalarType dtype, bool non_blocking) const {
  to(device, non_blocking);
  to(dtype, non_blocking);
}
void Module::to(at::ScalarType dtype, bool non_blocking) const {
  change_tensors(object(), [&](const at::Tensor& t) {
    return t.is_floating_point() || t.is_complex() ? t.to(dtype, non_blocking) : t;
  });
}
void Module::to(at::Device device, bool non_blocking) const {
  change_tensors(object(), [&](const at::Tensor& t) { return t.to(device, t.scalar_type(), non_blocking); });
}

// --- files
namespace {
std::string bytes_of(std::istream& in) { return {std::istreambuf_iterator<char>(in), {}}; }

Module loaded(std::string bytes, const std::string& what, std::optional<c10::Device> device,
              ExtraFilesMap* extra_files = nullptr) {
  if (extra_files && !extra_files->empty()) {
    ::taeda::jit::ArchiveReader reader(bytes, what);
    for (auto& [name, content] : *extra_files)
      if (reader.has("extra/" + name)) content = reader.record("extra/" + name);
  }
  Module module(::taeda::jit::load_bytes(std::move(bytes), what).object());
  if (device) module.to(*device);
  return module;
}
Module loaded_file(const std::string& filename, std::optional<c10::Device> device, ExtraFilesMap* extra_files) {
  std::ifstream file(filename, std::ios::binary);
  TORCH_CHECK(file, "there is no file ", filename, " that could be read");
  return loaded(bytes_of(file), filename, device, extra_files);
}
std::string archive(const Module& module, const std::string& folder, const ExtraFilesMap& extra_files) {
  ::taeda::jit::Module held{::taeda::Ref<Instance>(module._ivalue().get())};
  return held.archive(folder, {extra_files.begin(), extra_files.end()});
}
}  // namespace

Module load(const std::string& filename, std::optional<c10::Device> device, bool) {
  return loaded_file(filename, device, nullptr);
}
Module load(std::istream& in, std::optional<c10::Device> device, bool) {
  return loaded(bytes_of(in), "the stream", device);
}
Module load(const std::string& filename, std::optional<c10::Device> device, ExtraFilesMap& extra_files, bool, bool) {
  return loaded_file(filename, device, &extra_files);
}
Module load(std::istream& in, std::optional<c10::Device> device, ExtraFilesMap& extra_files, bool, bool) {
  return loaded(bytes_of(in), "the stream", device, &extra_files);
}

void Module::save(std::ostream& out, const ExtraFilesMap& extra_files) const {
  const std::string made = archive(*this, "archive", extra_files);
  out.write(made.data(), static_cast<std::streamsize>(made.size()));
}
void Module::save(const std::string& filename, const ExtraFilesMap& extra_files) const {
  const std::string made = archive(*this, std::filesystem::path(filename).stem().string(), extra_files);
  std::ofstream file(filename, std::ios::binary);
  file.write(made.data(), static_cast<std::streamsize>(made.size()));
  file.close();
  TORCH_CHECK(file, "the file ", filename, " could not be written");
}
Module Module::deepcopy(std::optional<c10::Device> device) const {
  return loaded(archive(*this, "archive", {}), "the copy", device);
}

// --- text
namespace {

void describe(std::ostream& out, const Module& module, bool values, bool parameters, const std::string& indent) {
  auto line = [&](const auto&... parts) { ((out << indent) << ... << parts) << '\n'; };
  const Instance& object = *module._ivalue();
  line("module ", module.type_name(), " {");
  for (size_t i = 0; i < object.slots.size(); ++i) {
    const Attribute& attribute = object.type->attributes()[i];
    const c10::IValue value = object.slots[i];
    line("  ", attribute.name, " : ", attribute.type->annotation());
    if (value.isModule())
      describe(out, value.toModule(), values, parameters, indent + "    ");
    else if (attribute.kind == Attribute::Kind::Plain ? values : parameters)
      line("    ", value);
  }
  for (const Method& method : module.get_methods()) line("  method ", method.function().getSchema());
  line("}");
}

}  // namespace

std::string Module::dump_to_str(bool, bool print_attr_values, bool print_param_values) const {
  std::ostringstream out;
  describe(out, *this, print_attr_values, print_param_values, "");
  return out.str();
}
void Module::dump(bool print_method_bodies, bool print_attr_values, bool print_param_values) const {
  std::cout << dump_to_str(print_method_bodies, print_attr_values, print_param_values);
}

// --- settings that are remembered
namespace {
template <class T, int which>
std::atomic<T>& setting(T initial) {
  static std::atomic<T> value{initial};
  return value;
}
}  // namespace
FusionStrategy setFusionStrategy(FusionStrategy& strategy) {
  static std::mutex mutex;
  static FusionStrategy current{{FusionBehavior::STATIC, 2}, {FusionBehavior::DYNAMIC, 10}};
  std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(current, strategy);
}
std::atomic<bool>& getProfilingMode() { return setting<bool, 0>(true); }
std::atomic<bool>& getExecutorMode() { return setting<bool, 1>(true); }
std::atomic<size_t>& getBailoutDepth() { return setting<size_t, 2>(20); }
void setTensorExprFuserEnabled(bool on) { setting<bool, 3>(true) = on; }
bool tensorExprFuserEnabled() { return setting<bool, 3>(true); }

}  // namespace torch::jit
