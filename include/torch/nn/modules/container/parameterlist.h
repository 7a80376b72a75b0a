// A list of parameters.
#pragma once
#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>

namespace torch::nn {

class ParameterListImpl;
extern template class TORCH_API Cloneable<ParameterListImpl>;
class TORCH_API ParameterListImpl : public Cloneable<ParameterListImpl> {
 public:
  using Iterator = torch::OrderedDict<std::string, Tensor>::Iterator;
  using ConstIterator = torch::OrderedDict<std::string, Tensor>::ConstIterator;

  ParameterListImpl() = default;
  template <class... Tensors>
  explicit ParameterListImpl(Tensors&&... params) {
    (append(std::forward<Tensors>(params)), ...);
  }
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  void append(const Tensor& param);
  void append(const torch::OrderedDict<std::string, Tensor>::Item& item) { append(item.value()); }
  template <class Container>
  void extend(const Container& container) {
    for (const auto& param : container) append(param);
  }
  ParameterListImpl& operator+=(const ParameterListImpl& other);
  Iterator begin() { return parameters_.begin(); }
  ConstIterator begin() const { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator end() const { return parameters_.end(); }
  Tensor& at(size_t idx);
  const Tensor& at(size_t idx) const;
  Tensor& operator[](size_t idx) { return at(idx); }
  const Tensor& operator[](size_t idx) const { return at(idx); }
  size_t size() const noexcept { return parameters_.size(); }
  bool is_empty() const noexcept { return parameters_.is_empty(); }
};
TORCH_MODULE(ParameterList);

}  // namespace torch::nn
