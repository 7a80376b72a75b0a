// {"name", module}: what Sequential and ModuleDict take lists of.
#pragma once
#include <torch/nn/modules/container/any.h>

namespace torch::nn {

class NamedAnyModule {
 public:
  template <class ModuleType>
  NamedAnyModule(std::string name, std::shared_ptr<ModuleType> module)
      : NamedAnyModule(std::move(name), AnyModule(std::move(module))) {}
  template <class ModuleType>
    requires std::is_base_of_v<Module, std::decay_t<ModuleType>>
  NamedAnyModule(std::string name, ModuleType&& module)
      : NamedAnyModule(std::move(name), AnyModule(std::forward<ModuleType>(module))) {}
  template <class ModuleType>
  NamedAnyModule(std::string name, const ModuleHolder<ModuleType>& module_holder)
      : NamedAnyModule(std::move(name), AnyModule(module_holder)) {}
  NamedAnyModule(std::string name, AnyModule any_module) : name_(std::move(name)), module_(std::move(any_module)) {}

  const std::string& name() const noexcept { return name_; }
  AnyModule& module() noexcept { return module_; }
  const AnyModule& module() const noexcept { return module_; }

 private:
  std::string name_;
  AnyModule module_;
};

}  // namespace torch::nn
