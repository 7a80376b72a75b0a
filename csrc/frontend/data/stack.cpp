#include <torch/data/transforms/stack.h>

namespace torch::data::transforms {

Example<> Stack<Example<>>::apply_batch(std::vector<Example<>> examples) {
  std::vector<torch::Tensor> data, targets;
  for (Example<>& example : examples) {
    data.push_back(std::move(example.data));
    targets.push_back(std::move(example.target));
  }
  return {torch::stack(data), torch::stack(targets)};
}

TensorExample Stack<TensorExample>::apply_batch(std::vector<TensorExample> examples) {
  std::vector<torch::Tensor> data;
  for (TensorExample& example : examples) data.push_back(std::move(example.data));
  return torch::stack(data);
}

}  // namespace torch::data::transforms
