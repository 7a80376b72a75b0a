// Examples of equal sizes to one with a dimension more.
#pragma once
#include <torch/data/transforms/collate.h>

namespace torch::data::transforms {

template <class T = Example<>>
struct Stack;
template <>
struct Stack<Example<>> : public Collation<Example<>> {
  Example<> apply_batch(std::vector<Example<>> examples) override {
    std::vector<torch::Tensor> data, targets;
    for (Example<>& example : examples) {
      data.push_back(std::move(example.data));
      targets.push_back(std::move(example.target));
    }
    return {torch::stack(data), torch::stack(targets)};
  }
};
template <>
struct Stack<TensorExample> : public Collation<TensorExample> {
  TensorExample apply_batch(std::vector<TensorExample> examples) override {
    std::vector<torch::Tensor> data;
    for (TensorExample& example : examples) data.push_back(std::move(example.data));
    return torch::stack(data);
  }
};

}  // namespace torch::data::transforms
