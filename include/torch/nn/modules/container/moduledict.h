// Modules by name, whose parameters are found.
#pragma once
#include <torch/nn/cloneable.h>
#include <torch/nn/modules/container/named_any.h>

namespace torch::nn {

class ModuleDictImpl;
extern template class TORCH_API Cloneable<ModuleDictImpl>;
class TORCH_API ModuleDictImpl : public Cloneable<ModuleDictImpl> {
 public:
  using Items = torch::OrderedDict<std::string, std::shared_ptr<Module>>;
  using Iterator = Items::Iterator;
  using ConstIterator = Items::ConstIterator;

  ModuleDictImpl() = default;
  explicit ModuleDictImpl(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules);
  explicit ModuleDictImpl(const Items& modules);

  std::vector<std::pair<std::string, std::shared_ptr<Module>>> items() const;
  std::vector<std::string> keys() const;
  std::vector<std::shared_ptr<Module>> values() const;
  Iterator begin() { return children_.begin(); }
  ConstIterator begin() const { return children_.begin(); }
  Iterator end() { return children_.end(); }
  ConstIterator end() const { return children_.end(); }
  size_t size() const noexcept { return children_.size(); }
  bool empty() const noexcept { return children_.is_empty(); }
  bool contains(const std::string& key) const noexcept;
  void clear();

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  std::shared_ptr<Module> operator[](const std::string& key) const { return ptr(key); }
  template <class T>
  T& at(const std::string& key) {
    return *ptr<T>(key);
  }
  template <class T>
  const T& at(const std::string& key) const {
    return *ptr<T>(key);
  }
  std::shared_ptr<Module> ptr(const std::string& key) const;
  template <class T>
  std::shared_ptr<T> ptr(const std::string& key) const {
    auto found = std::dynamic_pointer_cast<T>(ptr(key));
    TORCH_CHECK(found, "Unable to cast module['", key, "'] to ", c10::demangle(typeid(T).name()));
    return found;
  }
  std::shared_ptr<Module> pop(const std::string& key);
  void update(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules);
  void update(const Items& modules);
  void update(const ModuleDictImpl& modules) { update(modules.children_); }
  void insert(std::string key, std::shared_ptr<Module> module);
};
TORCH_MODULE(ModuleDict);

}  // namespace torch::nn
