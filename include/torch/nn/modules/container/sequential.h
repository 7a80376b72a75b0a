// Modules one after another: Sequential net(Linear(2, 8), ReLU(), Linear(8, 1)); net->forward(x).
#pragma once
#include <torch/nn/cloneable.h>
#include <torch/nn/modules/container/named_any.h>

namespace torch::nn {

class SequentialImpl;
extern template class TORCH_API Cloneable<SequentialImpl>;
class TORCH_API SequentialImpl : public Cloneable<SequentialImpl> {
 public:
  using Iterator = std::vector<AnyModule>::iterator;
  using ConstIterator = std::vector<AnyModule>::const_iterator;

  SequentialImpl() = default;
  template <class... Modules>
  explicit SequentialImpl(Modules&&... modules) {
    modules_.reserve(sizeof...(Modules));
    (push_back(std::forward<Modules>(modules)), ...);
  }
  explicit SequentialImpl(torch::OrderedDict<std::string, AnyModule>&& ordered_dict);
  explicit SequentialImpl(std::initializer_list<NamedAnyModule> named_modules);

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  // The inputs go to the first module, what each returns to the next.
  template <class ReturnType = Tensor, class... InputTypes>
  ReturnType forward(InputTypes&&... inputs) {
    TORCH_CHECK(!is_empty(), "Sequential: it is empty, so there is no forward() to call");
    AnyValue result = modules_.front().any_forward(std::forward<InputTypes>(inputs)...);
    return pass_on(std::move(result)).template get<ReturnType>();
  }

  template <class ModuleType>
  void push_back(std::shared_ptr<ModuleType> module_ptr) {
    push_back(std::to_string(size()), std::move(module_ptr));
  }
  template <class ModuleType>
  void push_back(std::string name, std::shared_ptr<ModuleType> module_ptr) {
    push_back(std::move(name), AnyModule(std::move(module_ptr)));
  }
  template <class M>
    requires std::is_base_of_v<Module, std::decay_t<M>>
  void push_back(M&& module) {
    push_back(std::to_string(size()), std::forward<M>(module));
  }
  template <class M>
    requires std::is_base_of_v<Module, std::decay_t<M>>
  void push_back(std::string name, M&& module) {
    push_back(std::move(name), std::make_shared<std::decay_t<M>>(std::forward<M>(module)));
  }
  template <class M>
  void push_back(const ModuleHolder<M>& module_holder) {
    push_back(std::to_string(size()), module_holder);
  }
  template <class M>
  void push_back(std::string name, const ModuleHolder<M>& module_holder) {
    push_back(std::move(name), module_holder.ptr());
  }
  void push_back(AnyModule any_module) { push_back(std::to_string(size()), std::move(any_module)); }
  void push_back(std::string name, AnyModule any_module);
  template <class Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }

  Iterator begin() { return modules_.begin(); }
  ConstIterator begin() const { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator end() const { return modules_.end(); }
  template <class T>
  T& at(size_t index) {
    return checked(index).get<T>();
  }
  template <class T>
  const T& at(size_t index) const {
    return checked(index).get<T>();
  }
  std::shared_ptr<Module> ptr(size_t index) const { return checked(index).ptr(); }
  template <class T>
  std::shared_ptr<T> ptr(size_t index) const {
    return checked(index).ptr<T>();
  }
  std::shared_ptr<Module> operator[](size_t index) const { return ptr(index); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return size() == 0; }

 private:
  AnyValue pass_on(AnyValue result);
  AnyModule& checked(size_t index);
  const AnyModule& checked(size_t index) const { return const_cast<SequentialImpl&>(*this).checked(index); }
  std::vector<AnyModule> modules_;
};

class Sequential : public torch::nn::ModuleHolder<SequentialImpl> {
 public:
  using torch::nn::ModuleHolder<SequentialImpl>::ModuleHolder;
  using Impl [[maybe_unused]] = SequentialImpl;
  Sequential() = default;
  TORCH_API Sequential(std::initializer_list<NamedAnyModule> named_modules);
};

}  // namespace torch::nn
