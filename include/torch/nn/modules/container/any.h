// A module of any class that has a forward: any.forward(x), any.forward<std::tuple<Tensor, Tensor>>(x, state).
#pragma once
#include <torch/nn/modules/container/any_module_holder.h>

namespace torch::nn {

class AnyModule {
 public:
  AnyModule() = default;
  template <class ModuleType>
  explicit AnyModule(std::shared_ptr<ModuleType> module) : content_(make(std::move(module))) {
    static_assert(std::is_base_of_v<Module, ModuleType>, "AnyModule holds classes that derive from nn::Module");
    static_assert(torch::detail::has_forward<ModuleType>::value,
                  "AnyModule holds modules with one forward() that is no template");
  }
  template <class ModuleType>
    requires std::is_base_of_v<Module, std::decay_t<ModuleType>>
  explicit AnyModule(ModuleType&& module)
      : AnyModule(std::make_shared<std::decay_t<ModuleType>>(std::forward<ModuleType>(module))) {}
  template <class ModuleType>
  explicit AnyModule(const ModuleHolder<ModuleType>& module_holder) : AnyModule(module_holder.ptr()) {}
  AnyModule(AnyModule&&) = default;
  AnyModule& operator=(AnyModule&&) = default;
  AnyModule(const AnyModule& other) : content_(other.content_ ? other.content_->copy() : nullptr) {}
  AnyModule& operator=(const AnyModule& other) {
    if (this != &other) content_ = other.content_ ? other.content_->copy() : nullptr;
    return *this;
  }
  template <class ModuleType>
  AnyModule& operator=(std::shared_ptr<ModuleType> module) {
    return *this = AnyModule(std::move(module));
  }
  // With a deep copy of the module.
  AnyModule clone(std::optional<Device> device = std::nullopt) const {
    AnyModule made;
    made.content_ = content_ ? content_->clone_module(device) : nullptr;
    return made;
  }

  // The types of arguments must be those of forward; results are asked for by their type.
  template <class... ArgumentTypes>
  AnyValue any_forward(ArgumentTypes&&... arguments) {
    TORCH_CHECK(!is_empty(), "AnyModule: it is empty, so there is no forward() to call");
    std::vector<AnyValue> values;
    values.reserve(sizeof...(ArgumentTypes));
    (values.push_back(to_value(std::forward<ArgumentTypes>(arguments))), ...);
    return content_->forward(std::move(values));
  }
  template <class ReturnType = torch::Tensor, class... ArgumentTypes>
  ReturnType forward(ArgumentTypes&&... arguments) {
    return any_forward(std::forward<ArgumentTypes>(arguments)...).template get<ReturnType>();
  }

  template <class T>
    requires std::is_base_of_v<Module, T>
  T& get() {
    return get_<T>();
  }
  template <class T>
    requires std::is_base_of_v<Module, T>
  const T& get() const {
    return get_<T>();
  }
  template <class T>
    requires requires { typename T::ContainedType; }
  T get() const {
    return T(ptr<typename T::ContainedType>());
  }
  std::shared_ptr<Module> ptr() const {
    TORCH_CHECK(!is_empty(), "AnyModule: it is empty, so ptr() has nothing to give");
    return content_->ptr();
  }
  template <class T>
    requires std::is_base_of_v<Module, T>
  std::shared_ptr<T> ptr() const {
    get_<T>();  // checks the class
    return std::dynamic_pointer_cast<T>(ptr());
  }
  const std::type_info& type_info() const {
    TORCH_CHECK(!is_empty(), "AnyModule: it is empty, so it has no type_info()");
    return content_->type_info();
  }
  bool is_empty() const noexcept { return content_ == nullptr; }

 private:
  template <class T>
  static AnyValue to_value(T&& argument) {
    if constexpr (std::is_same_v<std::decay_t<T>, AnyValue>)
      return std::forward<T>(argument);
    else
      return AnyValue(std::forward<T>(argument));
  }
  template <class ModuleType>
  static std::unique_ptr<AnyModulePlaceholder> make(std::shared_ptr<ModuleType> module) {
    return make(std::move(module), &std::remove_reference_t<ModuleType>::forward);
  }
  template <class ModuleType, class Class, class Result, class... ArgumentTypes>
  static std::unique_ptr<AnyModulePlaceholder> make(std::shared_ptr<ModuleType> module,
                                                    Result (Class::*)(ArgumentTypes...)) {
    return std::make_unique<AnyModuleHolder<std::decay_t<ModuleType>, ArgumentTypes...>>(std::move(module));
  }
  template <class ModuleType, class Class, class Result, class... ArgumentTypes>
  static std::unique_ptr<AnyModulePlaceholder> make(std::shared_ptr<ModuleType> module,
                                                    Result (Class::*)(ArgumentTypes...) const) {
    return std::make_unique<AnyModuleHolder<std::decay_t<ModuleType>, ArgumentTypes...>>(std::move(module));
  }
  template <class T>
  T& get_() const {
    TORCH_CHECK(!is_empty(), "AnyModule: it is empty, so get() has nothing to give");
    TORCH_CHECK(typeid(T) == content_->type_info(), "AnyModule: it holds a ",
                c10::demangle(content_->type_info().name()), "; got a request for ", c10::demangle(typeid(T).name()));
    return *static_cast<T*>(dynamic_cast<T*>(content_->ptr().get()));
  }
  std::unique_ptr<AnyModulePlaceholder> content_;
};

}  // namespace torch::nn

// In a module whose forward has default arguments: FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(2.0)}, {2, AnyValue(true)})
// tells them, with their positions, to Sequential and AnyModule.
#define FORWARD_HAS_DEFAULT_ARGS(...)                                                                                \
  template <class ModuleType, class... ArgumentTypes>                                                                \
  friend struct torch::nn::AnyModuleHolder;                                                                          \
  bool _forward_has_default_args() override { return true; }                                                         \
  unsigned int _forward_num_required_args() override {                                                               \
    std::vector<std::pair<unsigned int, torch::nn::AnyValue>> defaults = {__VA_ARGS__};                              \
    return defaults[0].first;                                                                                        \
  }                                                                                                                  \
  std::vector<torch::nn::AnyValue> _forward_populate_default_args(std::vector<torch::nn::AnyValue>&& few) override { \
    std::vector<std::pair<unsigned int, torch::nn::AnyValue>> defaults = {__VA_ARGS__};                              \
    std::vector<torch::nn::AnyValue> all = std::move(few);                                                           \
    for (auto& [position, value] : defaults)                                                                         \
      if (position >= all.size()) all.push_back(std::move(value));                                                   \
    return all;                                                                                                      \
  }
