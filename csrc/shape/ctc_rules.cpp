#include "shape/ctc_rules.h"

#include <algorithm>
#include <numeric>

namespace taeda::shape {

std::tuple<Spec, Spec> ctc_loss(const Tensor& log_probs, const Tensor& targets, IntList input_lengths,
                                IntList target_lengths, int64_t blank, bool) {
  TAEDA_CHECK(log_probs.numel() > 0, "log_probs must not be empty; got shape ", log_probs.sizes());
  TAEDA_CHECK(log_probs.dim() == 3, "log_probs must be (T, N, C); got shape ", log_probs.sizes());
  TAEDA_CHECK(targets.dim() == 1 || targets.dim() == 2, "targets must be (N, S) or a vector; got shape ",
              targets.sizes());
  TAEDA_CHECK(targets.dtype() == DType::Int64 || targets.dtype() == DType::Int32,
              "targets must be int64 or int32; got ", targets.dtype());
  if (log_probs.dtype() != DType::Float32 && log_probs.dtype() != DType::Float64)
    TAEDA_FAIL(NotImplemented, "is for float32 and float64; got ", log_probs.dtype());
  const int64_t time = log_probs.sizes()[0], batch = log_probs.sizes()[1], labels = log_probs.sizes()[2];
  TAEDA_CHECK(blank >= 0 && blank < labels, "blank must be one of the ", labels, " labels; got ", blank);
  TAEDA_CHECK(
      static_cast<int64_t>(input_lengths.size()) == batch && static_cast<int64_t>(target_lengths.size()) == batch,
      "a length of each of the ", batch, " inputs and targets is wanted; got ", input_lengths, " and ", target_lengths);
  for (int64_t n : input_lengths)
    TAEDA_CHECK(n >= 0 && n <= time, "input_lengths must be from 0 to ", time, "; got ", n);
  for (int64_t n : target_lengths) TAEDA_CHECK(n >= 0, "target_lengths must not be negative; got ", n);
  const int64_t longest = std::ranges::max(target_lengths);
  if (targets.dim() == 1) {
    const int64_t total = std::accumulate(target_lengths.begin(), target_lengths.end(), int64_t{0});
    TAEDA_CHECK(targets.numel() == total, "targets must have as many elements as target_lengths say, ", total, "; got ",
                targets.numel());
  } else {
    TAEDA_CHECK(targets.sizes()[0] == batch && targets.sizes()[1] >= longest, "targets must be at least of shape ",
                Dims{batch, longest}, "; got ", targets.sizes());
  }
  return {Spec{{batch}, log_probs.dtype()}, Spec{{batch, time, 2 * longest + 1}, log_probs.dtype()}};
}

Spec ctc_loss_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets, IntList input_lengths,
                       IntList target_lengths, const Tensor& neg_log_likelihood, const Tensor& log_alpha, int64_t blank,
                       bool zero_infinity) {
  auto [loss, alpha] = ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity);
  for (const Tensor& t : {grad, neg_log_likelihood})
    TAEDA_CHECK(std::ranges::equal(t.sizes(), IntList(loss.sizes)) && t.dtype() == loss.dtype,
                "the losses and their gradient must be ", loss.dtype, " of shape ", loss.sizes, "; got ", t.dtype(),
                " of shape ", t.sizes());
  TAEDA_CHECK(std::ranges::equal(log_alpha.sizes(), IntList(alpha.sizes)), "log_alpha must be of shape ", alpha.sizes,
              "; got ", log_alpha.sizes());
  return {Dims(log_probs.sizes()), log_probs.dtype()};
}

}  // namespace taeda::shape
