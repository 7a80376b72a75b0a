// A function as a module: Functional(torch::relu), Functional(torch::elu, 1, 0, 1).
#pragma once
#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>

namespace torch::nn {

class FunctionalImpl;
extern template class TORCH_API Cloneable<FunctionalImpl>;
class TORCH_API FunctionalImpl : public Cloneable<FunctionalImpl> {
 public:
  using Function = std::function<Tensor(Tensor)>;
  explicit FunctionalImpl(Function function);
  template <class SomeFunction, class... Args>
    requires(sizeof...(Args) > 0)
  explicit FunctionalImpl(SomeFunction original_function, Args&&... args)
      : function_(std::bind(original_function, std::placeholders::_1, std::forward<Args>(args)...)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);
  Tensor operator()(Tensor input) { return forward(std::move(input)); }
  bool is_serializable() const override { return false; }

 private:
  Function function_;
};
TORCH_MODULE(Functional);

}  // namespace torch::nn
