// Tensors, values and archives by keys, written as PyTorch's programs are: torch.jit.load reads them, too.
#pragma once
#include <functional>
#include <iosfwd>
#include <memory>

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/types.h>

namespace torch::serialize {

class TORCH_API OutputArchive final {
 public:
  OutputArchive();
  explicit OutputArchive(std::shared_ptr<jit::CompilationUnit> cu) : OutputArchive() { cu_ = std::move(cu); }
  OutputArchive(OutputArchive&&) = default;
  OutputArchive& operator=(OutputArchive&&) = default;
  std::shared_ptr<jit::CompilationUnit> compilation_unit() const { return cu_; }

  // A second value of the same name is an error.
  void write(const std::string& key, const c10::IValue& ivalue);
  void write(const std::string& key, const Tensor& tensor, bool is_buffer = false);
  void write(const std::string& key, OutputArchive& nested_archive);

  void save_to(const std::string& filename);
  void save_to(std::ostream& stream);
  void save_to(const std::function<size_t(const void*, size_t)>& func);
  template <class... Ts>
  void operator()(Ts&&... ts) {
    write(std::forward<Ts>(ts)...);
  }

 private:
  std::string bytes(const std::string& name) const;
  struct Node;
  std::shared_ptr<Node> node_;
  std::shared_ptr<jit::CompilationUnit> cu_;
};

}  // namespace torch::serialize
