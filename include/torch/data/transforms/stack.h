// Examples of equal sizes to one with a dimension more.
#pragma once
#include <torch/data/transforms/collate.h>

namespace torch::data::transforms {

template <class T = Example<>>
struct Stack;
template <>
struct TORCH_API Stack<Example<>> : public Collation<Example<>> {
  Example<> apply_batch(std::vector<Example<>> examples) override;
};
template <>
struct TORCH_API Stack<TensorExample> : public Collation<TensorExample> {
  TensorExample apply_batch(std::vector<TensorExample> examples) override;
};

}  // namespace torch::data::transforms
