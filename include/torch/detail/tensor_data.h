// torch::tensor({{1, 2}, {3, 4}}): tensors from numbers in braces, however deep.
#pragma once
#include <ATen/Functions.h>

namespace torch::detail {

// A new tensor, recorded from here on if the options say so.
inline at::Tensor with_grad(at::Tensor made, const at::TensorOptions& options) {
  if (options.requires_grad()) made.set_requires_grad(true);
  return made;
}

// Numbers of one type, and how they lie.
class TensorData {
 public:
  TORCH_API TensorData(std::initializer_list<TensorData> rows);
  template <class T>
    requires requires { c10::CppTypeToScalarType<T>::value; }
  TensorData(T number) : numbers_{c10::Scalar(number)}, type_(c10::CppTypeToScalarType<T>::value) {}
  template <class T>
  TensorData(c10::ArrayRef<T> list)
      : sizes_{static_cast<int64_t>(list.size())}, type_(c10::CppTypeToScalarType<T>::value), list_(at::tensor(list)) {}
  template <class T>
    requires(!std::is_same_v<T, bool>)
  TensorData(const std::vector<T>& list) : TensorData(c10::ArrayRef<T>(list)) {}
  TensorData(const std::vector<bool>& list) : sizes_{static_cast<int64_t>(list.size())}, type_(c10::kBool) {
    for (bool value : list) numbers_.emplace_back(value);
  }

  TORCH_API at::Tensor make(const at::TensorOptions& options) const;

 private:
  std::vector<int64_t> sizes_;
  std::vector<c10::Scalar> numbers_;
  c10::ScalarType type_ = c10::get_default_dtype_as_scalartype();
  at::Tensor list_;  // in place of numbers_, for what came as an array
};
using TensorDataContainer = TensorData;

}  // namespace torch::detail

namespace torch {
inline at::Tensor tensor(detail::TensorData data, const at::TensorOptions& options = {}) { return data.make(options); }

using at::from_blob;
}  // namespace torch
