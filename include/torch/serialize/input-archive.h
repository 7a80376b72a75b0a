// What was written by an OutputArchive, torch.jit.save or torch.save, by keys.
#pragma once
#include <functional>
#include <iosfwd>
#include <memory>

#include <ATen/core/ivalue.h>
#include <torch/types.h>

namespace torch::serialize {

class TORCH_API InputArchive final {
 public:
  InputArchive() = default;

  // RuntimeError if there is nothing of that name; try_read says so by false.
  void read(const std::string& key, c10::IValue& ivalue);
  bool try_read(const std::string& key, c10::IValue& ivalue);
  // Into a tensor that is defined, by giving it what was read.
  void read(const std::string& key, Tensor& tensor, bool is_buffer = false);
  bool try_read(const std::string& key, Tensor& tensor, bool is_buffer = false);
  void read(const std::string& key, InputArchive& archive);
  bool try_read(const std::string& key, InputArchive& archive);
  std::vector<std::string> keys();

  void load_from(const std::string& filename, std::optional<torch::Device> device = std::nullopt);
  void load_from(std::istream& stream, std::optional<torch::Device> device = std::nullopt);
  void load_from(const char* data, size_t size, std::optional<torch::Device> device = std::nullopt);
  // By a function that copies `n` bytes from a position and says how many it had, and one that says how many there are.
  void load_from(const std::function<size_t(uint64_t pos, void* buf, size_t nbytes)>& read_func,
                 const std::function<size_t()>& size_func, std::optional<torch::Device> device = std::nullopt);
  template <class... Ts>
  void operator()(Ts&&... ts) {
    read(std::forward<Ts>(ts)...);
  }

 private:
  void take(std::string bytes, const std::string& name, std::optional<torch::Device> device);
  const ::taeda::Value* find(const std::string& key) const;
  ::taeda::Value object_;                // a dict by names
  std::optional<torch::Device> device_;  // where tensors shall lie
  std::string prefix_;                   // of keys in messages
  bool is_flat_ = false;                 // of torch.save, whose names are paths
};

}  // namespace torch::serialize
