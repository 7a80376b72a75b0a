// torch::save and torch::load: modules, optimizers, tensors and what else has << and >> for archives.
//
//   torch::save(net, "net.pt");
//   torch::load(net, "net.pt");    also of what torch.save(net.state_dict()) wrote in Python
#pragma once
#include <torch/serialize/archive.h>
#include <torch/serialize/tensor.h>

namespace torch {

// To a file by its name, to a std::ostream, or by a function that takes bytes.
template <class Value, class... SaveToArgs>
void save(const Value& value, SaveToArgs&&... args) {
  serialize::OutputArchive archive;
  archive << value;
  archive.save_to(std::forward<SaveToArgs>(args)...);
}
template <class... SaveToArgs>
void save(const std::vector<torch::Tensor>& tensor_vec, SaveToArgs&&... args) {
  serialize::OutputArchive archive;
  for (size_t i = 0; i < tensor_vec.size(); ++i) archive.write(std::to_string(i), tensor_vec[i]);
  archive.save_to(std::forward<SaveToArgs>(args)...);
}

// From a file by its name, a std::istream, or bytes; a device, last, says where tensors shall lie.
template <class Value, class... LoadFromArgs>
void load(Value& value, LoadFromArgs&&... args) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<LoadFromArgs>(args)...);
  archive >> value;
}
template <class... LoadFromArgs>
void load(std::vector<torch::Tensor>& tensor_vec, LoadFromArgs&&... args) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<LoadFromArgs>(args)...);
  torch::Tensor tensor;
  for (size_t i = 0; archive.try_read(std::to_string(i), tensor); ++i) {
    tensor_vec.push_back(std::move(tensor));
    tensor = torch::Tensor();
  }
}

// What torch.load reads in Python, and torch.save writes: numbers, texts, tensors, lists, tuples and dicts of these.
TORCH_API std::vector<char> pickle_save(const torch::IValue& ivalue);
TORCH_API torch::IValue pickle_load(const std::vector<char>& data);
namespace jit {
using torch::pickle_load, torch::pickle_save;
}

}  // namespace torch
