#include <torch/nn/modules/container.h>

#include "frontend/nn/printed.h"

namespace torch::nn {

// --- AnyModule
std::vector<AnyValue> AnyModulePlaceholder::complete(
    Module& module, std::vector<AnyValue>&& arguments, size_t wanted, bool has_defaults, unsigned int required,
    const std::function<std::vector<AnyValue>(std::vector<AnyValue>&&)>& fill) {
  const size_t given = arguments.size();
  if (given == wanted) return std::move(arguments);
  if (has_defaults) {
    TORCH_CHECK(given >= required && given < wanted, module.name(), ": forward() takes ", required, " to ", wanted,
                " arguments; got ", given);
    std::vector<AnyValue> all = fill(std::move(arguments));
    TORCH_CHECK(all.size() == wanted, module.name(), ": FORWARD_HAS_DEFAULT_ARGS tells of too few arguments");
    return all;
  }
  const char* hint = given < wanted ? "; if it has default arguments, FORWARD_HAS_DEFAULT_ARGS must tell of them" : "";
  TORCH_CHECK(false, module.name(), ": forward() takes ", wanted, " arguments; got ", given, hint);
}
void AnyModulePlaceholder::refuse(size_t i, const std::type_info& wanted, const std::type_info& given) {
  TORCH_CHECK(false, "forward(): argument ", i, " is of type ", c10::demangle(wanted.name()), "; got one of type ",
              c10::demangle(given.name()));
}

// --- Functional
FunctionalImpl::FunctionalImpl(Function function) : function_(std::move(function)) {}
void FunctionalImpl::pretty_print(std::ostream& stream) const { Printed(stream, "Functional"); }
Tensor FunctionalImpl::forward(Tensor input) { return function_(std::move(input)); }

// --- Sequential
SequentialImpl::SequentialImpl(torch::OrderedDict<std::string, AnyModule>&& ordered_dict) {
  for (auto& item : ordered_dict) push_back(item.key(), std::move(item.value()));
}
SequentialImpl::SequentialImpl(std::initializer_list<NamedAnyModule> named_modules) {
  for (const NamedAnyModule& named : named_modules) push_back(named.name(), named.module());
}
Sequential::Sequential(std::initializer_list<NamedAnyModule> named_modules)
    : ModuleHolder(std::make_shared<SequentialImpl>(named_modules)) {}
std::shared_ptr<Module> SequentialImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<SequentialImpl>();
  for (size_t i = 0; i < modules_.size(); ++i) copy->push_back(children_[i].key(), modules_[i].clone(device));
  copy->train(is_training());
  return copy;
}
void SequentialImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Sequential"; }
void SequentialImpl::push_back(std::string name, AnyModule any_module) {
  register_module(std::move(name), any_module.ptr());
  modules_.push_back(std::move(any_module));
}
AnyValue SequentialImpl::pass_on(AnyValue result) {
  for (size_t i = 1; i < modules_.size(); ++i) result = modules_[i].any_forward(std::move(result));
  return result;
}
AnyModule& SequentialImpl::checked(size_t index) {
  TORCH_CHECK(index < size(), "Index out of range: there are ", size(), " modules; got ", index);
  return modules_[index];
}

// --- ModuleList
std::shared_ptr<Module> ModuleListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleListImpl>();
  for (const auto& module : modules_) copy->push_back(module->clone(device));
  copy->train(is_training());
  return copy;
}
void ModuleListImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::ModuleList"; }
void ModuleListImpl::push_back(std::shared_ptr<Module> module) {
  register_module(std::to_string(size()), module);
  modules_.push_back(std::move(module));
}
void ModuleListImpl::insert(size_t index, std::shared_ptr<Module> module) {
  TORCH_CHECK(index <= size(), "Index out of range: there are ", size(), " modules; got ", index);
  modules_.insert(modules_.begin() + static_cast<std::ptrdiff_t>(index), std::move(module));
  children_.clear();
  for (size_t i = 0; i < size(); ++i) register_module(std::to_string(i), modules_[i]);
}
std::shared_ptr<Module> ModuleListImpl::ptr(size_t index) const {
  TORCH_CHECK(index < size(), "Index out of range: there are ", size(), " modules; got ", index);
  return modules_[index];
}

// --- ModuleDict
ModuleDictImpl::ModuleDictImpl(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules) {
  update(modules);
}
ModuleDictImpl::ModuleDictImpl(const Items& modules) { update(modules); }
std::vector<std::pair<std::string, std::shared_ptr<Module>>> ModuleDictImpl::items() const { return children_.pairs(); }
std::vector<std::string> ModuleDictImpl::keys() const { return children_.keys(); }
std::vector<std::shared_ptr<Module>> ModuleDictImpl::values() const { return children_.values(); }
bool ModuleDictImpl::contains(const std::string& key) const noexcept { return children_.contains(key); }
void ModuleDictImpl::clear() { children_.clear(); }
std::shared_ptr<Module> ModuleDictImpl::ptr(const std::string& key) const { return children_[key]; }
std::shared_ptr<Module> ModuleDictImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleDictImpl>();
  for (const auto& item : children_) copy->insert(item.key(), item.value()->clone(device));
  copy->train(is_training());
  return copy;
}
void ModuleDictImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::ModuleDict"; }
std::shared_ptr<Module> ModuleDictImpl::pop(const std::string& key) {
  std::shared_ptr<Module> module = children_[key];
  unregister_module(key);
  return module;
}
void ModuleDictImpl::update(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules) {
  for (const auto& [key, module] : modules) insert(key, module);
}
void ModuleDictImpl::update(const Items& modules) {
  for (const auto& item : modules) insert(item.key(), item.value());
}
void ModuleDictImpl::insert(std::string key, std::shared_ptr<Module> module) {
  if (contains(key))
    replace_module(key, std::move(module));
  else
    register_module(std::move(key), std::move(module));
}

// --- Parameters
namespace {
void print_parameters(std::ostream& stream, const OrderedDict<std::string, Tensor>& parameters, const char* name) {
  stream << "torch::nn::" << name << "(\n";
  for (const auto& item : parameters) {
    stream << "(" << item.key() << "): Parameter containing: [" << item.value().scalar_type() << " of size "
           << item.value().sizes() << "]";
    stream << "\n";
  }
  stream << ")";
}
}  // namespace
void ParameterListImpl::pretty_print(std::ostream& stream) const {
  print_parameters(stream, parameters_, "ParameterList");
}
void ParameterListImpl::append(const Tensor& param) {
  register_parameter(std::to_string(size()), param, param.requires_grad());
}
ParameterListImpl& ParameterListImpl::operator+=(const ParameterListImpl& other) {
  extend(other.parameters_.values());
  return *this;
}
Tensor& ParameterListImpl::at(size_t idx) { return parameters_[std::to_string(idx)]; }
const Tensor& ParameterListImpl::at(size_t idx) const { return parameters_[std::to_string(idx)]; }
ParameterDictImpl::ParameterDictImpl(const Items& params) {
  for (const auto& item : params) insert(item.key(), item.value());
}
std::vector<std::string> ParameterDictImpl::keys() const { return parameters_.keys(); }
std::vector<Tensor> ParameterDictImpl::values() const { return parameters_.values(); }
std::vector<std::pair<std::string, Tensor>> ParameterDictImpl::items() const { return parameters_.pairs(); }
void ParameterDictImpl::clear() { parameters_.clear(); }
bool ParameterDictImpl::contains(const std::string& key) const noexcept { return parameters_.contains(key); }
const Tensor& ParameterDictImpl::get(const std::string& key) const { return parameters_[key]; }
Tensor& ParameterDictImpl::get(const std::string& key) { return parameters_[key]; }
void ParameterDictImpl::pretty_print(std::ostream& stream) const {
  print_parameters(stream, parameters_, "ParameterDict");
}
Tensor& ParameterDictImpl::insert(const std::string& key, const Tensor& param) {
  return register_parameter(key, param, param.requires_grad());
}
Tensor ParameterDictImpl::pop(const std::string& key) {
  Tensor param = parameters_[key];
  parameters_.erase(key);
  return param;
}
void ParameterDictImpl::update(const Items& params) {
  for (const auto& item : params) parameters_[item.key()] = item.value();
}

}  // namespace torch::nn
