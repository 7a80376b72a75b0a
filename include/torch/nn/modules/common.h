// How modules' classes are made of their options.
#pragma once
#include <torch/nn/cloneable.h>
#include <torch/nn/modules/container/any.h>
#include <torch/nn/pimpl.h>

// A constructor that takes what the options' constructors take: Linear(4, 2), MaxPool2d(2), ReLU().
#define TAEDA_MADE_OF(Name)                                                    \
  template <class... Args>                                                     \
    requires std::is_constructible_v<Name##Options, Args...>                   \
  explicit Name##Impl(Args&&... args) : options(std::forward<Args>(args)...) { \
    reset();                                                                   \
  }                                                                            \
  Name##Options options

// Cloning of a class that is compiled in the library, and not again by who includes it.
#define TAEDA_COMPILED_MODULE(Name) \
  class Name##Impl;                 \
  extern template class TORCH_API Cloneable<Name##Impl>

// FORWARD_HAS_DEFAULT_ARGS of such a class: modules/default_args.cpp says which.
#define TAEDA_DEFAULT_ARGS                            \
  template <class ModuleType, class... ArgumentTypes> \
  friend struct torch::nn::AnyModuleHolder;           \
  bool _forward_has_default_args() override;          \
  unsigned int _forward_num_required_args() override; \
  std::vector<AnyValue> _forward_populate_default_args(std::vector<AnyValue>&& few) override

// A module without parameters: its options, and forward with the parameters that are given.
#define TAEDA_PLAIN_MODULE(Name, ...)                         \
  class TORCH_API Name##Impl : public Cloneable<Name##Impl> { \
   public:                                                    \
    TAEDA_MADE_OF(Name);                                      \
    void reset() override;                                    \
    void pretty_print(std::ostream& stream) const override;   \
    Tensor forward(__VA_ARGS__);                              \
  };                                                          \
  TORCH_MODULE(Name)

// One without options.
#define TAEDA_BARE_MODULE(Name, ...)                          \
  class TORCH_API Name##Impl : public Cloneable<Name##Impl> { \
   public:                                                    \
    void reset() override {}                                  \
    void pretty_print(std::ostream& stream) const override;   \
    Tensor forward(__VA_ARGS__);                              \
  };                                                          \
  TORCH_MODULE(Name)
