// Between padded and packed batches of sequences.
#include <algorithm>

#include "composite/ops/rnn.h"
#include "shape/rnn_rules.h"
#include "shape/view_rules.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/index.h"
#include "taeda/ops/join.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

Tensor integers(const std::vector<int64_t>& values) {
  const int64_t sizes[] = {static_cast<int64_t>(values.size())};
  Tensor result = new_tensor(sizes, DType::Int64);
  std::ranges::copy(values, result.data<int64_t>());
  return result;
}

// For each packed row, which row of the flattened batch it is: step and sequence weighted by the strides.
Tensor rows_of(const std::vector<int64_t>& batch_sizes, int64_t step_stride, int64_t sequence_stride, Device device) {
  std::vector<int64_t> rows;
  for (size_t t = 0; t < batch_sizes.size(); ++t)
    for (int64_t n = 0; n < batch_sizes[t]; ++n)
      rows.push_back(static_cast<int64_t>(t) * step_stride + n * sequence_stride);
  Tensor index = integers(rows);
  return device.is_cpu() ? index : ops::_to_copy(index, {}, {}, device);
}

std::vector<int64_t> integers_of(const Tensor& t, const char* name) {
  TAEDA_CHECK(t.is_cpu() && t.dtype() == DType::Int64 && t.dim() == 1, name,
              " must be int64 of one dimension on the CPU; got ", t.dtype(), " ", t.sizes(), " on ", t.device());
  return shape::integers_of(t);
}

}  // namespace

std::tuple<Tensor, Tensor> _pack_padded_sequence(const Tensor& input, const Tensor& lengths, bool batch_first) {
  TAEDA_CHECK(input.dim() >= 2 && input.numel() > 0, "the input needs steps, a batch and elements; got shape ",
              input.sizes());
  int64_t steps = input.size(batch_first ? 1 : 0), batch = input.size(batch_first ? 0 : 1);
  std::vector<int64_t> each = integers_of(lengths, "lengths");
  TAEDA_CHECK(static_cast<int64_t>(each.size()) == batch, "there must be one length for each of the ", batch,
              " sequences; got ", each.size());
  TAEDA_CHECK(std::ranges::is_sorted(each, std::greater<>()),
              "lengths must fall; pass enforce_sorted=False to have them sorted");
  TAEDA_CHECK(each.back() > 0, "every length must be above 0; got ", each.back());
  TAEDA_CHECK(each[0] <= steps, "a length (", each[0], ") exceeds the number of steps (", steps, ")");
  std::vector<int64_t> batch_sizes(static_cast<size_t>(each[0]), 0);
  for (int64_t length : each)
    for (int64_t t = 0; t < length; ++t) ++batch_sizes[static_cast<size_t>(t)];
  Tensor index = rows_of(batch_sizes, batch_first ? 1 : batch, batch_first ? steps : 1, input.device());
  return {ops::index_select(ops::flatten(input, 0, 1), 0, index), integers(batch_sizes)};
}

std::tuple<Tensor, Tensor> _pad_packed_sequence(const Tensor& data, const Tensor& batch_sizes, bool batch_first,
                                                const Scalar& padding_value, int64_t total_length) {
  TAEDA_CHECK(data.dim() > 0, "a packed sequence needs a dimension for its rows; got a scalar");
  std::vector<int64_t> sizes = integers_of(batch_sizes, "batch_sizes");
  shape::check_batch_sizes(sizes, data.size(0));
  int64_t batch = sizes[0], steps = static_cast<int64_t>(sizes.size());
  if (total_length > 0) {
    TAEDA_CHECK(total_length >= steps, "total_length (", total_length, ") is less than the longest sequence (", steps,
                ")");
    steps = total_length;
  }
  std::vector<int64_t> lengths(static_cast<size_t>(batch), 0);
  for (int64_t size : sizes)
    for (int64_t n = 0; n < size; ++n) ++lengths[static_cast<size_t>(n)];
  std::vector<int64_t> shape{steps, batch}, rows{numel_of(shape)};
  for (int64_t d = 1; d < data.dim(); ++d) {
    rows.push_back(data.size(d));
    shape.push_back(data.size(d));
  }
  Tensor padding = ops::full(rows, padding_value, data.dtype(), {}, data.device());
  Tensor padded = ops::index_copy(padding, 0, rows_of(sizes, batch, 1, data.device()), data);
  padded = ops::view(padded, shape);
  return {batch_first ? ops::transpose(padded, 0, 1) : padded, integers(lengths)};
}

Tensor pad_sequence(TensorList sequences, bool batch_first, double padding_value, std::string_view padding_side) {
  TAEDA_CHECK(!sequences.empty(), "there must be at least one sequence");
  TAEDA_CHECK(padding_side == "left" || padding_side == "right", "padding_side must be 'left' or 'right'; got '",
              padding_side, "'");
  const Tensor& first = sequences[0];
  int64_t batch = static_cast<int64_t>(sequences.size()), steps = 0;
  TAEDA_CHECK(first.dim() > 0, "a sequence needs a dimension for its steps; got shape ", first.sizes());
  for (const Tensor& t : sequences) {
    TAEDA_CHECK(t.dim() > 0 && std::ranges::equal(t.sizes().subspan(1), first.sizes().subspan(1)),
                "sequences may differ in their first dimension only; got shapes ", first.sizes(), " and ", t.sizes());
    steps = std::max(steps, t.size(0));
  }
  std::vector<int64_t> rows, sizes{steps * batch}, shape{batch_first ? batch : steps, batch_first ? steps : batch};
  for (int64_t n = 0; n < batch; ++n) {
    int64_t length = sequences[static_cast<size_t>(n)].size(0), begin = padding_side == "left" ? steps - length : 0;
    for (int64_t t = begin; t < begin + length; ++t) rows.push_back(batch_first ? n * steps + t : t * batch + n);
  }
  for (int64_t size : first.sizes().subspan(1)) {
    sizes.push_back(size);
    shape.push_back(size);
  }
  Tensor padding = ops::full(sizes, Scalar(padding_value), first.dtype(), {}, first.device());
  Tensor index = integers(rows);
  if (!first.is_cpu()) index = ops::_to_copy(index, {}, {}, first.device());
  Tensor data = ops::cat(sequences, 0);
  if (data.dtype() != first.dtype()) data = ops::_to_copy(data, first.dtype());
  return ops::view(ops::index_copy(padding, 0, index, data), shape);
}

}  // namespace taeda::composite
