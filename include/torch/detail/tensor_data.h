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
  TensorData(std::initializer_list<TensorData> rows) {
    sizes_ = {static_cast<int64_t>(rows.size())};
    if (rows.size() == 0) return;
    const TensorData& first = *rows.begin();
    sizes_.insert(sizes_.end(), first.sizes_.begin(), first.sizes_.end());
    type_ = first.type_;
    for (const TensorData& row : rows) {
      TORCH_CHECK(row.sizes_ == first.sizes_, "torch::tensor: rows of sizes ", c10::IntArrayRef(first.sizes_), " and ",
                  c10::IntArrayRef(row.sizes_), " do not make a tensor");
      TORCH_CHECK(row.type_ == type_, "torch::tensor: numbers of one type were expected; got ", type_, " and ",
                  row.type_);
      numbers_.insert(numbers_.end(), row.numbers_.begin(), row.numbers_.end());
    }
  }
  template <class T>
    requires requires { c10::CppTypeToScalarType<T>::value; }
  TensorData(T number) : numbers_{c10::Scalar(number)}, type_(natural(c10::CppTypeToScalarType<T>::value)) {}
  template <class T>
  TensorData(c10::ArrayRef<T> numbers)
      : sizes_{static_cast<int64_t>(numbers.size())}, type_(c10::CppTypeToScalarType<T>::value) {
    for (const T& number : numbers) numbers_.emplace_back(number);
  }
  template <class T>
  TensorData(const std::vector<T>& numbers)
      : sizes_{static_cast<int64_t>(numbers.size())}, type_(c10::CppTypeToScalarType<T>::value) {
    for (T number : numbers) numbers_.emplace_back(number);
    type_ = natural(type_);
  }

  TORCH_API at::Tensor make(const at::TensorOptions& options) const;

 private:
  // Whole numbers are int64, others of the default type, as Python's are.
  static c10::ScalarType natural(c10::ScalarType type) {
    if (type == c10::kBool) return type;
    if (c10::isComplexType(type)) return c10::toComplexType(c10::get_default_dtype_as_scalartype());
    return c10::isFloatingType(type) ? c10::get_default_dtype_as_scalartype() : c10::kLong;
  }
  std::vector<int64_t> sizes_;
  std::vector<c10::Scalar> numbers_;
  c10::ScalarType type_ = c10::get_default_dtype_as_scalartype();
};

}  // namespace torch::detail

namespace torch {
inline at::Tensor tensor(detail::TensorData data, const at::TensorOptions& options = {}) { return data.make(options); }

using at::from_blob;
}  // namespace torch
