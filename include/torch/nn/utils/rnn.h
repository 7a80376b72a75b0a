// Sequences of several lengths: padded to one tensor, or packed step by step.
#pragma once
#include <torch/types.h>

namespace torch::nn::utils::rnn {

// Steps of several sequences, the longest first: all first steps, then all second ones ...
class TORCH_API PackedSequence {
 public:
  explicit PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices = {}, Tensor unsorted_indices = {});
  const Tensor& data() const { return data_; }
  const Tensor& batch_sizes() const { return batch_sizes_; }
  const Tensor& sorted_indices() const { return sorted_indices_; }
  const Tensor& unsorted_indices() const { return unsorted_indices_; }
  PackedSequence pin_memory() const;
  PackedSequence to(TensorOptions options) const;
  PackedSequence cuda() const { return to(kCUDA); }
  PackedSequence cpu() const { return to(kCPU); }
  bool is_cuda() const { return data_.is_cuda(); }
  bool is_pinned() const { return data_.is_pinned(); }

 private:
  Tensor data_, batch_sizes_, sorted_indices_, unsorted_indices_;
};

TORCH_API Tensor invert_permutation(const Tensor& permutation);
// Of input (length, batch, ...), or (batch, length, ...) with batch_first; lengths on the CPU. Unless enforce_sorted
// is off, they must come in decreasing order.
TORCH_API PackedSequence pack_padded_sequence(const Tensor& input, Tensor lengths, bool batch_first = false,
                                              bool enforce_sorted = true);
// The sequences padded with a value, and their lengths.
TORCH_API std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first = false,
                                                         double padding_value = 0.0,
                                                         std::optional<int64_t> total_length = std::nullopt);
TORCH_API Tensor pad_sequence(ArrayRef<Tensor> sequences, bool batch_first = false, double padding_value = 0,
                              std::string_view padding_side = "right");
TORCH_API PackedSequence pack_sequence(ArrayRef<Tensor> sequences, bool enforce_sorted = true);

}  // namespace torch::nn::utils::rnn
