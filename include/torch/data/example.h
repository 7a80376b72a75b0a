// One example: data and target, or data alone.
#pragma once
#include <torch/types.h>

namespace torch::data {

template <class Data = at::Tensor, class Target = at::Tensor>
struct Example {
  using DataType = Data;
  using TargetType = Target;
  Example() = default;
  Example(Data data, Target target) : data(std::move(data)), target(std::move(target)) {}
  Data data;
  Target target;
};
namespace example {
using NoTarget = void;
}  // namespace example
template <class Data>
struct Example<Data, example::NoTarget> {
  using DataType = Data;
  using TargetType = example::NoTarget;
  Example() = default;
  Example(Data data) : data(std::move(data)) {}
  operator Data&() { return data; }
  operator const Data&() const { return data; }
  Data data;
};
using TensorExample = Example<at::Tensor, example::NoTarget>;

}  // namespace torch::data
