// Modules that clone: class Net : public torch::nn::Cloneable<Net> { void reset() override { register_module(...); } }.
#pragma once
#include <torch/nn/module.h>

namespace torch::nn {

template <class Derived>
class Cloneable : public Module {
 public:
  using Module::Module;

  // Makes and registers all parameters, buffers and modules anew.
  virtual void reset() = 0;

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    NoGradGuard no_grad;
    auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
    Module& base = *copy;
    base.parameters_.clear();
    base.buffers_.clear();
    base.children_.clear();
    copy->reset();
    base.copy_state(*this, device);
    return copy;
  }

 private:
  void clone_(Module& other, const std::optional<Device>& device) final {
    auto clone = std::dynamic_pointer_cast<Derived>(other.clone(device));
    TORCH_CHECK(clone, "clone: the module named ", this->name(), " was replaced by one of another class by reset()");
    static_cast<Derived&>(*this) = *clone;
  }
};

}  // namespace torch::nn
