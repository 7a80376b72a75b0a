// Connectionist temporal classification: reductions, and lengths in tensors.
#include "composite/ops/ctc.h"

#include <algorithm>

#include "core/elements.h"
#include "shape/spec.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/ctc.h"
#include "taeda/ops/join.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

using shape::Dims;

namespace {

std::vector<int64_t> numbers(const Tensor& lengths) {
  TAEDA_CHECK(is_integral(lengths.dtype()), "lengths must be integers; got ", lengths.dtype());
  Tensor all = ops::contiguous(ops::_to_copy(lengths, DType::Int64, {}, Device{}));
  return {elements<int64_t>(all), elements<int64_t>(all) + all.numel()};
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, IntList input_lengths, IntList target_lengths,
                int64_t blank, int64_t reduction, bool zero_infinity) {
  enum { kNone, kMean, kSum };
  const bool batched = log_probs.dim() == 3;
  Tensor losses = std::get<0>(ops::_ctc_loss(batched ? log_probs : ops::unsqueeze(log_probs, 1), targets, input_lengths,
                                             target_lengths, blank, zero_infinity));
  if (zero_infinity)
    losses = ops::where(ops::isinf(losses), ops::zeros(Dims{}, losses.dtype(), {}, losses.device()), losses);
  if (reduction == kMean) {
    std::vector<Tensor> lengths;  // by ops: a mode may give tensors without memory
    for (int64_t n : target_lengths)
      lengths.push_back(ops::full(Dims{1}, Scalar(std::max<int64_t>(n, 1)), losses.dtype(), {}, losses.device()));
    return ops::mean(ops::div(losses, ops::cat(lengths)));
  }
  if (reduction == kSum) return ops::sum(losses);
  return batched ? losses : ops::squeeze(losses, 0);
}

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) {
  return ops::ctc_loss(log_probs, targets, IntList(numbers(input_lengths)), IntList(numbers(target_lengths)), blank,
                       reduction, zero_infinity);
}

std::tuple<Tensor, Tensor> _ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                                     const Tensor& target_lengths, int64_t blank, bool zero_infinity) {
  return ops::_ctc_loss(log_probs, targets, IntList(numbers(input_lengths)), IntList(numbers(target_lengths)), blank,
                        zero_infinity);
}

}  // namespace taeda::composite
