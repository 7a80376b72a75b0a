// Parameters by name.
#pragma once
#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>

namespace torch::nn {

class ParameterDictImpl;
extern template class TORCH_API Cloneable<ParameterDictImpl>;
class TORCH_API ParameterDictImpl : public Cloneable<ParameterDictImpl> {
 public:
  using Items = torch::OrderedDict<std::string, Tensor>;
  using Iterator = Items::Iterator;
  using ConstIterator = Items::ConstIterator;

  ParameterDictImpl() = default;
  explicit ParameterDictImpl(const Items& params);
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor& insert(const std::string& key, const Tensor& param);
  Tensor pop(const std::string& key);
  std::vector<std::string> keys() const;
  std::vector<Tensor> values() const;
  std::vector<std::pair<std::string, Tensor>> items() const;
  Iterator begin() { return parameters_.begin(); }
  ConstIterator begin() const { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator end() const { return parameters_.end(); }
  size_t size() const noexcept { return parameters_.size(); }
  bool empty() const noexcept { return parameters_.is_empty(); }
  void clear();
  bool contains(const std::string& key) const noexcept;
  const Tensor& get(const std::string& key) const;
  Tensor& get(const std::string& key);
  Tensor& operator[](const std::string& key) { return get(key); }
  const Tensor& operator[](const std::string& key) const { return get(key); }
  // Gives parameters of these names other values; each has to be there.
  void update(const Items& params);
  void update(const ParameterDictImpl& params) { update(params.parameters_); }
};
TORCH_MODULE(ParameterDict);

}  // namespace torch::nn
