// torch::nn::Module: parameters, buffers and modules that a program registers under names, and what goes through all of
// them.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <torch/ordered_dict.h>
#include <torch/serialize/archive.h>
#include <torch/types.h>

namespace torch::nn {

class AnyValue;
template <class Contained>
class ModuleHolder;

class TORCH_API Module : public std::enable_shared_from_this<Module> {
 public:
  using ModuleApplyFunction = std::function<void(Module&)>;
  using ConstModuleApplyFunction = std::function<void(const Module&)>;
  using NamedModuleApplyFunction = std::function<void(const std::string&, Module&)>;
  using ConstNamedModuleApplyFunction = std::function<void(const std::string&, const Module&)>;
  using ModulePointerApplyFunction = std::function<void(const std::shared_ptr<Module>&)>;
  using NamedModulePointerApplyFunction = std::function<void(const std::string&, const std::shared_ptr<Module>&)>;

  explicit Module(std::string name);
  Module();
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;
  Module(Module&&) noexcept = default;
  Module& operator=(Module&&) noexcept = default;
  virtual ~Module() = default;

  // The name that was given, or that of the class.
  const std::string& name() const noexcept;
  // A module of the same kind with copies of all parameters and buffers; classes that derive from Cloneable have it.
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const;

  // Calls the function for this module, then for those in it, depth first, as they were registered.
  void apply(const ModuleApplyFunction& function);
  void apply(const ConstModuleApplyFunction& function) const;
  void apply(const NamedModuleApplyFunction& function, const std::string& name_prefix = {});
  void apply(const ConstNamedModuleApplyFunction& function, const std::string& name_prefix = {}) const;
  void apply(const ModulePointerApplyFunction& function) const;
  void apply(const NamedModulePointerApplyFunction& function, const std::string& name_prefix = {}) const;

  std::vector<Tensor> parameters(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const;
  // RuntimeError if the module itself is wanted and is in no shared_ptr.
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(const std::string& name_prefix = {},
                                                                  bool include_self = true) const;
  std::vector<std::shared_ptr<Module>> children() const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_children() const;

  virtual void train(bool on = true);
  void eval() { train(false); }
  virtual bool is_training() const noexcept { return is_training_; }
  // Parameters and buffers, in place, to another device and dtype; of these only floating ones change dtype.
  virtual void to(torch::Device device, torch::Dtype dtype, bool non_blocking = false);
  virtual void to(torch::Dtype dtype, bool non_blocking = false);
  virtual void to(torch::Device device, bool non_blocking = false);
  virtual void zero_grad(bool set_to_none = true);

  // As a module of that class; null if it is none.
  template <class ModuleType>
    requires requires { typename ModuleType::ContainedType; }
  typename ModuleType::ContainedType* as() noexcept {
    return as<typename ModuleType::ContainedType>();
  }
  template <class ModuleType>
    requires requires { typename ModuleType::ContainedType; }
  const typename ModuleType::ContainedType* as() const noexcept {
    return as<typename ModuleType::ContainedType>();
  }
  template <class ModuleType>
    requires(!requires { typename ModuleType::ContainedType; })
  ModuleType* as() noexcept {
    return dynamic_cast<ModuleType*>(this);
  }
  template <class ModuleType>
    requires(!requires { typename ModuleType::ContainedType; })
  const ModuleType* as() const noexcept {
    return dynamic_cast<const ModuleType*>(this);
  }

  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);
  virtual void pretty_print(std::ostream& stream) const;
  virtual bool is_serializable() const { return true; }

  // Errors for names that are taken, empty or hold a dot.
  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  Tensor& register_buffer(std::string name, Tensor tensor);
  template <class ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name, std::shared_ptr<ModuleType> module) {
    add_module(std::move(name), module);
    return module;
  }
  template <class ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name, ModuleHolder<ModuleType> module_holder) {
    return register_module(std::move(name), module_holder.ptr());
  }
  template <class ModuleType>
  std::shared_ptr<ModuleType> replace_module(const std::string& name, std::shared_ptr<ModuleType> module) {
    children_[name] = module;
    return module;
  }
  template <class ModuleType>
  std::shared_ptr<ModuleType> replace_module(const std::string& name, ModuleHolder<ModuleType> module_holder) {
    return replace_module(name, module_holder.ptr());
  }
  void unregister_module(const std::string& name) { children_.erase(name); }

 protected:
  // What FORWARD_HAS_DEFAULT_ARGS overrides, for containers that call forward with less than all arguments.
  virtual bool _forward_has_default_args() { return false; }
  virtual unsigned int _forward_num_required_args();
  virtual std::vector<AnyValue> _forward_populate_default_args(std::vector<AnyValue>&& arguments);

  OrderedDict<std::string, Tensor> parameters_;
  OrderedDict<std::string, Tensor> buffers_;
  OrderedDict<std::string, std::shared_ptr<Module>> children_;

 private:
  template <class Derived>
  friend class Cloneable;
  template <class ModuleType, class... ArgumentTypes>
  friend struct AnyModuleHolder;
  friend TORCH_API std::ostream& operator<<(std::ostream& stream, const Module& module);
  friend TORCH_API serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                                        const std::shared_ptr<Module>& module);
  friend TORCH_API serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                                       const std::shared_ptr<Module>& module);
  void add_module(std::string name, std::shared_ptr<Module> module);
  virtual void clone_(Module& other, const std::optional<Device>& device);
  // Called by clones: copies of another's tensors and modules into this one.
  void copy_state(const Module& from, const std::optional<Device>& device);
  void pretty_print_recursive(std::ostream& stream, const std::string& indentation) const;
  template <class... Args>
  void to_impl(const Args&... args);
  std::shared_ptr<Module> shared_from_this_checked() const;

  mutable std::optional<std::string> name_;
  bool is_training_ = true;
};

TORCH_API std::ostream& operator<<(std::ostream& stream, const Module& module);
TORCH_API serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                               const std::shared_ptr<Module>& module);
TORCH_API serialize::InputArchive& operator>>(serialize::InputArchive& archive, const std::shared_ptr<Module>& module);

}  // namespace torch::nn
