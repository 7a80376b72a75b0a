// What AnyModule keeps of a module's class: how its forward is called.
#pragma once
#include <torch/nn/modules/container/any_value.h>
#include <torch/nn/pimpl.h>

namespace torch::nn {

struct TORCH_API AnyModulePlaceholder {
  virtual ~AnyModulePlaceholder() = default;
  virtual AnyValue forward(std::vector<AnyValue>&& arguments) = 0;
  virtual std::shared_ptr<Module> ptr() const = 0;
  virtual std::unique_ptr<AnyModulePlaceholder> copy() const = 0;
  virtual std::unique_ptr<AnyModulePlaceholder> clone_module(const std::optional<Device>& device) const = 0;
  virtual const std::type_info& type_info() const noexcept = 0;

 protected:
  // With the defaults of what is left out; an error if the number of arguments does not fit.
  static std::vector<AnyValue> complete(Module& module, std::vector<AnyValue>&& arguments, size_t wanted,
                                        bool has_defaults, unsigned int required,
                                        const std::function<std::vector<AnyValue>(std::vector<AnyValue>&&)>& fill);
  [[noreturn]] static void refuse(size_t i, const std::type_info& wanted, const std::type_info& given);
};

template <class ModuleType, class... ArgumentTypes>
struct AnyModuleHolder final : AnyModulePlaceholder {
  explicit AnyModuleHolder(std::shared_ptr<ModuleType> of) : module(std::move(of)) {}
  std::shared_ptr<ModuleType> module;

  AnyValue forward(std::vector<AnyValue>&& given) override {
    Module& base = *module;
    bool has_defaults = base._forward_has_default_args();
    std::vector<AnyValue> arguments =
        complete(base, std::move(given), sizeof...(ArgumentTypes), has_defaults,
                 has_defaults ? base._forward_num_required_args() : 0,
                 [&](std::vector<AnyValue>&& few) { return base._forward_populate_default_args(std::move(few)); });
    return call(arguments, std::index_sequence_for<ArgumentTypes...>());
  }
  std::shared_ptr<Module> ptr() const override { return module; }
  std::unique_ptr<AnyModulePlaceholder> copy() const override { return std::make_unique<AnyModuleHolder>(*this); }
  std::unique_ptr<AnyModulePlaceholder> clone_module(const std::optional<Device>& device) const override {
    return std::make_unique<AnyModuleHolder>(std::dynamic_pointer_cast<ModuleType>(module->clone(device)));
  }
  const std::type_info& type_info() const noexcept override { return typeid(ModuleType); }

 private:
  template <class T>
  static std::decay_t<T> checked(std::vector<AnyValue>& arguments, size_t i) {
    if (auto* value = arguments[i].template try_get<std::decay_t<T>>()) return std::move(*value);
    refuse(i, typeid(T), arguments[i].type_info());
  }
  template <size_t... I>
  AnyValue call(std::vector<AnyValue>& arguments, std::index_sequence<I...>) {
    return AnyValue(module->forward(checked<ArgumentTypes>(arguments, I)...));
  }
};

}  // namespace torch::nn
