// What all classes of options use.
#pragma once
#include <cstddef>
#include <new>
#include <type_traits>

#include <torch/arg.h>
#include <torch/enum.h>
#include <torch/expanding_array.h>
#include <torch/types.h>

// Options whose only argument, or first one, is the constructor's, too.
#define TAEDA_OPTIONS_OF(Name, T, field) \
  Name(T field) : field##_(std::move(field)) {}

// An option that is one of some words. Its functions are templates, so that only what a program uses is compiled.
#define TAEDA_WORD_ARG(T, name, word) TAEDA_LAZY_ARG(T, name, torch::enumtype::word)
#define TAEDA_LAZY_ARG(T, name, ...)                               \
 public:                                                           \
  template <class = void>                                          \
  auto name(const T& new_##name) -> decltype(*this) { /* NOLINT */ \
    this->name##_.get() = new_##name;                              \
    return *this;                                                  \
  }                                                                \
  template <class = void>                                          \
  const T& name() const noexcept { /* NOLINT */                    \
    return this->name##_.get();                                    \
  }                                                                \
  template <class = void>                                          \
  T& name() noexcept { /* NOLINT */                                \
    return this->name##_.get();                                    \
  }                                                                \
                                                                   \
 private:                                                          \
  torch::nn::detail::LazyVariant<T, __VA_ARGS__> name##_ /* NOLINT */

namespace torch::nn {
namespace detail {
// A variant of words, at first the given one, whose class is instantiated when it is first used: each costs a compiler
// a megabyte and more, and a program uses few of them.
template <class Variant, class First, size_t Room = 8>
class LazyVariant {
 public:
  LazyVariant() noexcept { new (bytes_) Variant(First{}); }
  Variant& get() noexcept {
    static_assert(sizeof(Variant) <= Room && std::is_trivially_copyable_v<Variant>);
    return *std::launder(reinterpret_cast<Variant*>(bytes_));
  }
  const Variant& get() const noexcept { return const_cast<LazyVariant&>(*this).get(); }

 private:
  alignas(8) std::byte bytes_[Room];
};
}  // namespace detail

// How a loss over many elements becomes one number.
using LossReduction = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
// How borders are filled.
using PaddingMode = std::variant<enumtype::kZeros, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
}  // namespace torch::nn
