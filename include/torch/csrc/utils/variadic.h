// Calls for each of several arguments.
#pragma once
#include <torch/types.h>

namespace torch {

// function(a), function(b), ... in their order.
template <class Function, class... Ts>
void apply(Function function, Ts&&... arguments) {
  (static_cast<void>(function(std::forward<Ts>(arguments))), ...);
}

namespace detail {
inline size_t count_tensors_of(const at::Tensor&) { return 1; }
inline size_t count_tensors_of(const std::optional<at::Tensor>& x) { return x.has_value(); }
inline size_t count_tensors_of(at::TensorList list) { return list.size(); }
}  // namespace detail
// How many tensors there are among tensors, optional tensors and lists of them.
template <class... Ts>
size_t count_tensors(Ts&&... arguments) {
  return (size_t{0} + ... + detail::count_tensors_of(std::forward<Ts>(arguments)));
}

}  // namespace torch
