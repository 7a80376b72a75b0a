// Options classes: TORCH_ARG(double, lr) = 1e-3; gives `options.lr(0.1)`, which returns the options, and
// `options.lr()`.
#pragma once
#include <utility>

// The function that sets is a template, so that assigning a T is compiled where it is used alone.
#define TORCH_ARG(T, name)                                              \
 public:                                                                \
  template <class = void>                                               \
  auto name(T new_##name) -> decltype(*this) { /* NOLINT */             \
    this->name##_ = std::move(new_##name);                              \
    return *this;                                                       \
  }                                                                     \
  const T& name() const noexcept { return this->name##_; } /* NOLINT */ \
  T& name() noexcept { return this->name##_; }             /* NOLINT */ \
                                                                        \
 private:                                                               \
  T name##_ /* NOLINT */
