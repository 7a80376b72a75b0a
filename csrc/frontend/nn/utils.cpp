#include <torch/nn/utils.h>

#include <cmath>

namespace torch::nn::utils {

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  std::vector<Tensor> grads;
  for (const Tensor& parameter : parameters)
    if (parameter.grad().defined()) grads.push_back(parameter.grad());
  if (grads.empty()) return 0.0;
  NoGradGuard no_grad;
  std::vector<Tensor> norms;
  for (const Tensor& grad : grads) norms.push_back(at::linalg_vector_norm(grad.detach(), norm_type));
  double total = at::linalg_vector_norm(at::stack(norms), norm_type).item().toDouble();
  TORCH_CHECK(!error_if_nonfinite || std::isfinite(total), "clip_grad_norm_: the norm of order ", norm_type,
              " of all gradients is ", total, "; error_if_nonfinite=false scales them all the same");
  double scale = max_norm / (total + 1e-6);
  if (scale < 1)
    for (Tensor& grad : grads) grad.mul_(scale);
  return total;
}
double clip_grad_norm_(std::initializer_list<Tensor> parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  return clip_grad_norm_(std::vector<Tensor>(parameters), max_norm, norm_type, error_if_nonfinite);
}
double clip_grad_norm_(Tensor parameter, double max_norm, double norm_type, bool error_if_nonfinite) {
  return clip_grad_norm_(std::vector<Tensor>{std::move(parameter)}, max_norm, norm_type, error_if_nonfinite);
}
void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  NoGradGuard no_grad;
  for (const Tensor& parameter : parameters)
    if (parameter.grad().defined()) parameter.mutable_grad().clamp_(-clip_value, clip_value);
}
void clip_grad_value_(std::initializer_list<Tensor> parameters, double clip_value) {
  clip_grad_value_(std::vector<Tensor>(parameters), clip_value);
}
void clip_grad_value_(Tensor parameter, double clip_value) {
  clip_grad_value_(std::vector<Tensor>{std::move(parameter)}, clip_value);
}

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> flat;
  for (const Tensor& parameter : parameters) flat.push_back(parameter.view(-1));
  return at::cat(flat);
}
void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters) {
  int64_t at = 0;
  for (const Tensor& parameter : parameters) {
    int64_t count = parameter.numel();
    Tensor(parameter).set_data(vec.slice(0, at, at + count).view_as(parameter).detach());
    at += count;
  }
}

namespace rnn {

PackedSequence::PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices, Tensor unsorted_indices)
    : data_(std::move(data)), batch_sizes_(std::move(batch_sizes)), sorted_indices_(std::move(sorted_indices)) {
  TORCH_CHECK(batch_sizes_.device().is_cpu(), "PackedSequence: batch_sizes must be on the CPU; got ",
              batch_sizes_.device());
  unsorted_indices_ = unsorted_indices.defined() ? std::move(unsorted_indices) : invert_permutation(sorted_indices_);
}
PackedSequence PackedSequence::pin_memory() const { return *this; }
PackedSequence PackedSequence::to(TensorOptions options) const {
  auto moved = [&](const Tensor& indices) { return indices.defined() ? indices.to(options.device()) : indices; };
  return PackedSequence(data_.to(options), batch_sizes_, moved(sorted_indices_), moved(unsorted_indices_));
}

Tensor invert_permutation(const Tensor& permutation) {
  if (!permutation.defined()) return {};
  Tensor output = at::empty_like(permutation);
  output.scatter_(0, permutation, at::arange(permutation.numel(), permutation.options()));
  return output;
}

PackedSequence pack_padded_sequence(const Tensor& input, Tensor lengths, bool batch_first, bool enforce_sorted) {
  lengths = lengths.to(kInt64);
  Tensor sorted_indices, data = input;
  if (!enforce_sorted) {
    std::tie(lengths, sorted_indices) = lengths.sort(-1, true);
    sorted_indices = sorted_indices.to(input.device());
    data = input.index_select(batch_first ? 0 : 1, sorted_indices);
  }
  auto [packed, batch_sizes] = at::_pack_padded_sequence(data, lengths, batch_first);
  return PackedSequence(packed, batch_sizes, sorted_indices, {});
}

std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first, double padding_value,
                                               std::optional<int64_t> total_length) {
  int64_t longest = sequence.batch_sizes().size(0);
  TORCH_CHECK(!total_length || *total_length >= longest, "pad_packed_sequence: total_length (",
              total_length.value_or(0), ") must be at least the length of the longest sequence (", longest, ")");
  auto [padded, lengths] = at::_pad_packed_sequence(sequence.data(), sequence.batch_sizes(), batch_first, padding_value,
                                                    total_length.value_or(longest));
  const Tensor& order = sequence.unsorted_indices();
  if (order.defined()) {
    padded = padded.index_select(batch_first ? 0 : 1, order);
    lengths = lengths.index({order.cpu()});
  }
  return {padded, lengths};
}

Tensor pad_sequence(ArrayRef<Tensor> sequences, bool batch_first, double padding_value, std::string_view padding_side) {
  return at::pad_sequence(sequences, batch_first, padding_value, padding_side);
}

PackedSequence pack_sequence(ArrayRef<Tensor> sequences, bool enforce_sorted) {
  std::vector<int64_t> lengths;
  for (const Tensor& sequence : sequences) lengths.push_back(sequence.size(0));
  return pack_padded_sequence(utils::rnn::pad_sequence(sequences), torch::tensor(lengths), false, enforce_sorted);
}

}  // namespace rnn
}  // namespace torch::nn::utils
