// Handles of modules: TORCH_MODULE(Net) makes Net of NetImpl, a shared_ptr that constructs what it holds.
#pragma once
#include <cstddef>
#include <memory>
#include <new>

#include <torch/detail/static.h>
#include <torch/nn/module.h>

namespace torch {
namespace detail {
struct ModuleHolderIndicator {};
template <class T>
using is_module_holder = std::is_base_of<ModuleHolderIndicator, std::decay_t<T>>;
template <class T, class Contained>
constexpr bool is_module_holder_of = false;
template <class T, class Contained>
  requires is_module_holder<T>::value
constexpr bool is_module_holder_of<T, Contained> = std::is_same_v<typename std::decay_t<T>::ContainedType, Contained>;
}  // namespace detail

namespace nn {
namespace detail {

// A shared_ptr<T> whose class is instantiated when it is first used: the handles of 130 layers cost a program that has
// three of them what three cost.
template <class T>
class HeldModule {
 public:
  HeldModule() noexcept { new (bytes_) std::shared_ptr<T>(); }
  HeldModule(std::shared_ptr<T> module) noexcept { new (bytes_) std::shared_ptr<T>(std::move(module)); }
  HeldModule(const HeldModule& other) noexcept : HeldModule(other.pointer()) {}
  HeldModule(HeldModule&& other) noexcept : HeldModule(std::move(other.pointer())) {}
  HeldModule& operator=(const HeldModule& other) noexcept { return pointer() = other.pointer(), *this; }
  HeldModule& operator=(HeldModule&& other) noexcept { return pointer() = std::move(other.pointer()), *this; }
  ~HeldModule() { std::destroy_at(&pointer()); }

  std::shared_ptr<T>& pointer() noexcept {
    static_assert(sizeof(std::shared_ptr<T>) == sizeof(bytes_));
    return *std::launder(reinterpret_cast<std::shared_ptr<T>*>(bytes_));
  }
  const std::shared_ptr<T>& pointer() const noexcept { return const_cast<HeldModule&>(*this).pointer(); }
  operator std::shared_ptr<T>&() noexcept { return pointer(); }
  operator const std::shared_ptr<T>&() const noexcept { return pointer(); }
  T* get() const noexcept { return pointer().get(); }
  T* operator->() const noexcept { return get(); }
  T& operator*() const noexcept { return *get(); }
  explicit operator bool() const noexcept { return get() != nullptr; }
  bool operator==(std::nullptr_t) const noexcept { return !*this; }
  void reset() noexcept { pointer().reset(); }

 private:
  alignas(void*) std::byte bytes_[2 * sizeof(void*)];
};

}  // namespace detail

template <class Contained>
class ModuleHolder : torch::detail::ModuleHolderIndicator {
 protected:
  detail::HeldModule<Contained> impl_;  // NOLINT: PyTorch's name, which programs use

 public:
  using ContainedType = Contained;

  ModuleHolder() : impl_(default_construct()) {}
  // Of nothing; `Linear fc{nullptr};` is a member that a constructor sets later.
  ModuleHolder(std::nullptr_t) {}
  template <class Head, class... Tail>
    requires(!(torch::detail::is_module_holder_of<Head, Contained> && sizeof...(Tail) == 0))
  explicit ModuleHolder(Head&& head, Tail&&... tail)
      : impl_(std::shared_ptr<Contained>(new Contained(std::forward<Head>(head), std::forward<Tail>(tail)...))) {}
  // A template, so that other constructors are chosen without a look at shared_ptr<Contained>.
  template <class Module>
    requires std::is_convertible_v<Module*, Contained*>
  ModuleHolder(std::shared_ptr<Module> module) : impl_(std::shared_ptr<Contained>(std::move(module))) {}

  explicit operator bool() const noexcept { return !is_empty(); }
  Contained* operator->() { return get(); }
  const Contained* operator->() const { return get(); }
  Contained& operator*() { return *get(); }
  const Contained& operator*() const { return *get(); }
  const std::shared_ptr<Contained>& ptr() const {
    TORCH_CHECK(!is_empty(), "ModuleHolder: it holds no module; was it made by nullptr?");
    return impl_.pointer();
  }
  Contained* get() {
    TORCH_CHECK(!is_empty(), "ModuleHolder: it holds no module; was it made by nullptr?");
    return impl_.get();
  }
  const Contained* get() const {
    TORCH_CHECK(!is_empty(), "ModuleHolder: it holds no module; was it made by nullptr?");
    return impl_.get();
  }
  template <class... Args>
  decltype(auto) operator()(Args&&... args) {
    return impl_->forward(std::forward<Args>(args)...);
  }
  template <class Arg>
  decltype(auto) operator[](Arg&& arg) {
    return (*impl_)[std::forward<Arg>(arg)];
  }
  bool is_empty() const noexcept { return impl_ == nullptr; }

 private:
  static std::shared_ptr<Contained> default_construct() {
    if constexpr (std::is_default_constructible_v<Contained>)
      return std::make_shared<Contained>();
    else
      return nullptr;
  }
};

template <class ModuleType>
std::ostream& operator<<(std::ostream& stream, const ModuleHolder<ModuleType>& module) {
  return stream << *module;
}
template <class ModuleType>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const ModuleHolder<ModuleType>& module) {
  return archive << std::shared_ptr<Module>(module.ptr());
}
template <class ModuleType>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, ModuleHolder<ModuleType>& module) {
  return archive >> std::shared_ptr<Module>(module.ptr());
}

}  // namespace nn
}  // namespace torch

#define TORCH_MODULE_IMPL(Name, ImplType)                  \
  class Name : public torch::nn::ModuleHolder<ImplType> {  \
   public:                                                 \
    using torch::nn::ModuleHolder<ImplType>::ModuleHolder; \
    using Impl [[maybe_unused]] = ImplType;                \
  }
#define TORCH_MODULE(Name) TORCH_MODULE_IMPL(Name, Name##Impl)
