// Transformations of an example's data, which leave its target as it is.
#pragma once
#include <torch/data/example.h>
#include <torch/data/transforms/base.h>

namespace torch::data::transforms {

template <class Target = Tensor>
class TensorTransform : public Transform<Example<Tensor, Target>, Example<Tensor, Target>> {
 public:
  using E = Example<Tensor, Target>;
  virtual Tensor operator()(Tensor input) = 0;
  E apply(E input) override {
    input.data = (*this)(std::move(input.data));
    return input;
  }
};
template <class Target = Tensor>
class TensorLambda : public TensorTransform<Target> {
 public:
  using FunctionType = std::function<Tensor(Tensor)>;
  explicit TensorLambda(FunctionType function) : function_(std::move(function)) {}
  Tensor operator()(Tensor input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};
// (x - mean) / stddev, of each channel: (channels, height, width).
template <class Target = Tensor>
struct Normalize : public TensorTransform<Target> {
  Normalize(ArrayRef<double> mean, ArrayRef<double> stddev) : mean(per_channel(mean)), stddev(per_channel(stddev)) {}
  torch::Tensor operator()(Tensor input) override { return input.sub(mean).div(stddev); }
  torch::Tensor mean, stddev;

 private:
  static Tensor per_channel(ArrayRef<double> values) {
    return torch::tensor(values.vec(), torch::kFloat32).unsqueeze(1).unsqueeze(2);
  }
};

}  // namespace torch::data::transforms
