#include <torch/nn/module.h>

#include <torch/nn/modules/container/any_value.h>

namespace torch::nn {

namespace {

std::string joined(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

}  // namespace

Module::Module(std::string name) : Module() { name_ = std::move(name); }
Module::Module() : parameters_("Parameter"), buffers_("Buffer"), children_("Submodule") {}

const std::string& Module::name() const noexcept {
  // Only now: while it is constructed, an object is of its base's class.
  if (!name_) name_ = c10::demangle(typeid(*this).name());
  return *name_;
}

std::shared_ptr<Module> Module::clone(const std::optional<Device>&) const {
  TORCH_CHECK(false, "clone: ", name(), " does not say how it is copied: derive it from torch::nn::Cloneable<", name(),
              "> instead of torch::nn::Module, and register its parameters in reset()");
}

std::shared_ptr<Module> Module::shared_from_this_checked() const {
  std::shared_ptr<const Module> self;
  try {
    self = shared_from_this();
  } catch (const std::bad_weak_ptr&) {
    TORCH_CHECK(false, name(), " is in no std::shared_ptr, which this asks for: make it by std::make_shared, or leave ",
                "it out (include_self = false)");
  }
  return std::const_pointer_cast<Module>(self);
}

// --- going through all
void Module::apply(const ModuleApplyFunction& function) {
  function(*this);
  for (auto& child : children_) child.value()->apply(function);
}
void Module::apply(const ConstModuleApplyFunction& function) const {
  function(*this);
  for (const auto& child : children_) std::as_const(*child.value()).apply(function);
}
void Module::apply(const NamedModuleApplyFunction& function, const std::string& name_prefix) {
  function(name_prefix, *this);
  for (auto& child : children_) child.value()->apply(function, joined(name_prefix, child.key()));
}
void Module::apply(const ConstNamedModuleApplyFunction& function, const std::string& name_prefix) const {
  function(name_prefix, *this);
  for (const auto& child : children_) std::as_const(*child.value()).apply(function, joined(name_prefix, child.key()));
}
void Module::apply(const ModulePointerApplyFunction& function) const {
  function(shared_from_this_checked());
  for (const auto& child : children_) child.value()->apply(function);
}
void Module::apply(const NamedModulePointerApplyFunction& function, const std::string& name_prefix) const {
  function(name_prefix, shared_from_this_checked());
  for (const auto& child : children_) child.value()->apply(function, joined(name_prefix, child.key()));
}

// --- lists
namespace {

// Names and tensors that are there, of a module and, if wanted, of those in it.
template <class Own>
OrderedDict<std::string, Tensor> collect(const Module& module, bool recurse, Own own) {
  OrderedDict<std::string, Tensor> found;
  auto take = [&](const std::string& prefix, const Module& of) {
    for (const auto& item : own(of))
      if (item.value().defined()) found.insert(joined(prefix, item.key()), item.value());
  };
  if (recurse)
    module.apply(Module::ConstNamedModuleApplyFunction(take));
  else
    take("", module);
  return found;
}

}  // namespace

OrderedDict<std::string, Tensor> Module::named_parameters(bool recurse) const {
  return collect(*this, recurse, [](const Module& m) -> const auto& { return m.parameters_; });
}
OrderedDict<std::string, Tensor> Module::named_buffers(bool recurse) const {
  return collect(*this, recurse, [](const Module& m) -> const auto& { return m.buffers_; });
}
std::vector<Tensor> Module::parameters(bool recurse) const { return named_parameters(recurse).values(); }
std::vector<Tensor> Module::buffers(bool recurse) const { return named_buffers(recurse).values(); }

std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  return named_modules("", include_self).values();
}
OrderedDict<std::string, std::shared_ptr<Module>> Module::named_modules(const std::string& name_prefix,
                                                                        bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> found;
  auto take = [&](const std::string& name, const std::shared_ptr<Module>& module) { found.insert(name, module); };
  if (include_self)
    apply(NamedModulePointerApplyFunction(take), name_prefix);
  else
    for (const auto& child : children_)
      child.value()->apply(NamedModulePointerApplyFunction(take), joined(name_prefix, child.key()));
  return found;
}
std::vector<std::shared_ptr<Module>> Module::children() const { return children_.values(); }
OrderedDict<std::string, std::shared_ptr<Module>> Module::named_children() const { return children_; }

// --- modes and places
void Module::train(bool on) {
  is_training_ = on;
  for (auto& child : children_) child.value()->train(on);
}

template <class... Args>
void Module::to_impl(const Args&... args) {
  for (auto& child : children_) child.value()->to(args...);
  auto move = [&](Tensor& tensor) {
    if (!tensor.defined()) return;
    if constexpr ((std::is_same_v<Args, torch::Dtype> || ...)) {
      if (!tensor.is_floating_point() && !tensor.is_complex()) return;
    }
    tensor.set_data(tensor.tensor_data().to(args...));
  };
  for (auto& item : parameters_) move(item.value());
  for (auto& item : buffers_) move(item.value());
}
void Module::to(torch::Device device, torch::Dtype dtype, bool non_blocking) {
  for (auto& child : children_) child.value()->to(device, dtype, non_blocking);
  auto move = [&](Tensor& tensor) {
    if (!tensor.defined()) return;
    bool changes = tensor.is_floating_point() || tensor.is_complex();
    tensor.set_data(tensor.tensor_data().to(device, changes ? dtype : tensor.scalar_type(), non_blocking));
  };
  for (auto& item : parameters_) move(item.value());
  for (auto& item : buffers_) move(item.value());
}
void Module::to(torch::Dtype dtype, bool non_blocking) { to_impl(dtype, non_blocking); }
void Module::to(torch::Device device, bool non_blocking) { to_impl(device, non_blocking); }

void Module::zero_grad(bool set_to_none) {
  for (auto& child : children_) child.value()->zero_grad(set_to_none);
  for (auto& item : parameters_) {
    if (!item.value().defined()) continue;
    Tensor& grad = item.value().mutable_grad();
    if (!grad.defined()) continue;
    if (set_to_none) {
      grad.reset();
    } else {
      grad.detach_();
      grad.zero_();
    }
  }
}

// --- registration
namespace {

void check_name(const std::string& name, const char* what) {
  TORCH_CHECK(!name.empty(), "a ", what, " without a name cannot be found again");
  TORCH_CHECK(name.find('.') == std::string::npos, what, " '", name,
              "': dots stand between the names of modules, so none has one");
}

}  // namespace

Tensor& Module::register_parameter(std::string name, Tensor tensor, bool requires_grad) {
  check_name(name, "Parameter");
  if (!tensor.defined()) {
    if (requires_grad)
      TORCH_WARN("An undefined tensor cannot require grad. Ignoring the `requires_grad=true` function parameter.");
  } else {
    tensor.set_requires_grad(requires_grad);
  }
  return parameters_.insert(std::move(name), std::move(tensor));
}
Tensor& Module::register_buffer(std::string name, Tensor tensor) {
  check_name(name, "Buffer");
  return buffers_.insert(std::move(name), std::move(tensor));
}
void Module::add_module(std::string name, std::shared_ptr<Module> module) {
  check_name(name, "Submodule");
  children_.insert(std::move(name), std::move(module));
}

void Module::clone_(Module&, const std::optional<Device>&) {}

void Module::copy_state(const Module& from, const std::optional<Device>& device) {
  auto copy_all = [&](auto& to, const auto& of, const char* what) {
    TORCH_CHECK(to.size() == of.size(), "clone: reset() of ", name(), " made ", to.size(), " ", what, "; there were ",
                of.size(), ": register all of them in reset(), not in the constructor");
    for (const auto& item : of) {
      const Tensor& tensor = item.value();
      if (!tensor.defined()) continue;
      Tensor data = device && tensor.device() != *device ? tensor.to(*device) : tensor.clone();
      Tensor& target = to[item.key()];
      if (target.defined())
        target.set_data(data.detach());
      else
        target = data.detach().set_requires_grad(tensor.requires_grad());
    }
  };
  copy_all(parameters_, from.parameters_, "parameters");
  copy_all(buffers_, from.buffers_, "buffers");
  TORCH_CHECK(children_.size() == from.children_.size(), "clone: reset() of ", name(), " made ", children_.size(),
              " modules; there were ", from.children_.size(), ": register all of them in reset()");
  for (const auto& child : from.children_) children_[child.key()]->clone_(*child.value(), device);
}

// --- files
void Module::save(serialize::OutputArchive& archive) const {
  for (const auto& parameter : named_parameters(false)) archive.write(parameter.key(), parameter.value());
  for (const auto& buffer : named_buffers(false)) archive.write(buffer.key(), buffer.value(), true);
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::OutputArchive child_archive(archive.compilation_unit());
    child.value()->save(child_archive);
    archive.write(child.key(), child_archive);
  }
}
void Module::load(serialize::InputArchive& archive) {
  for (auto& parameter : named_parameters(false)) archive.read(parameter.key(), parameter.value());
  for (auto& buffer : named_buffers(false)) archive.read(buffer.key(), buffer.value(), true);
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::InputArchive child_archive;
    archive.read(child.key(), child_archive);
    child.value()->load(child_archive);
  }
}
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const std::shared_ptr<Module>& module) {
  TORCH_CHECK(module, "a null module cannot be written to an archive");
  module->save(archive);
  return archive;
}
serialize::InputArchive& operator>>(serialize::InputArchive& archive, const std::shared_ptr<Module>& module) {
  TORCH_CHECK(module, "a null module cannot be read from an archive");
  module->load(archive);
  return archive;
}

// --- text
void Module::pretty_print(std::ostream& stream) const { stream << name(); }
void Module::pretty_print_recursive(std::ostream& stream, const std::string& indentation) const {
  pretty_print(stream);
  if (children_.is_empty()) return;
  stream << "(\n";
  const std::string next = indentation + "  ";
  for (const auto& child : children_) {
    stream << next << "(" << child.key() << "): ";
    child.value()->pretty_print_recursive(stream, next);
    stream << '\n';
  }
  stream << indentation << ")";
}
std::ostream& operator<<(std::ostream& stream, const Module& module) {
  module.pretty_print_recursive(stream, "");
  return stream;
}

// --- default arguments
unsigned int Module::_forward_num_required_args() {
  TORCH_CHECK(false, name(), " has no default arguments: FORWARD_HAS_DEFAULT_ARGS would tell of them");
}
std::vector<AnyValue> Module::_forward_populate_default_args(std::vector<AnyValue>&&) {
  TORCH_CHECK(false, name(), " has no default arguments: FORWARD_HAS_DEFAULT_ARGS would tell of them");
}

}  // namespace torch::nn
