// Kernels under the key Functionalize, which ops that write register beside one that does not. Here programs are made
// functional while they are captured: no tensor is a wrapper, and such kernels are registered but not asked.
#pragma once
#include <optional>
#include <vector>

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

namespace at::functionalization::impl {

inline bool isFunctionalTensor(const Tensor&) { return false; }
inline bool isFunctionalTensor(const std::optional<Tensor>&) { return false; }
inline bool isFunctionalTensor(const c10::List<std::optional<Tensor>>&) { return false; }
inline bool isFunctionalTensor(TensorList) { return false; }
inline bool isBaseTensor(const Tensor&) { return true; }

// What is no wrapper is its own value, unless a wrapper is asked for.
template <class T>
T from_functional_tensor(const T& value, bool assert_functional = true) {
  TORCH_CHECK(!assert_functional,
              "from_functional_tensor got a tensor that no wrapper holds: ask isFunctionalTensor "
              "first, or pass assert_functional=false");
  return value;
}
inline std::vector<Tensor> from_functional_tensor(TensorList values) { return values.vec(); }

template <class T>
void sync(const T&) {}

inline void replace_(const Tensor&, const Tensor&) {
  TORCH_CHECK(false, "replace_ got a tensor that is no wrapper: write into it with copy_");
}
inline void replace_(TensorList wrappers, TensorList) {
  TORCH_CHECK(wrappers.empty(), "replace_ got tensors that are no wrappers: write into them with copy_");
}
inline void commit_update(const Tensor&) {}
inline void commit_update(TensorList) {}

}  // namespace at::functionalization::impl
