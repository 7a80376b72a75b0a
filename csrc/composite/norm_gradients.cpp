// Gradients of normalisation. All kinds are one formula: with h the normalised input, v = grad * weight and means taken
// over what is normalised together, the input's gradient is rstd * (v - mean(v) - h * mean(v * h)).
#include "composite/ops/norm.h"
#include "composite/records.h"
#include "shape/norm_rules.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/norm.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

using shape::Dims;
using Grads = std::tuple<Tensor, Tensor, Tensor>;

namespace {

Grads chosen(Grads grads, bool input, bool weight, bool bias) {
  auto& [to_input, to_weight, to_bias] = grads;
  return {input ? to_input : Tensor(), weight ? to_weight : Tensor(), bias ? to_bias : Tensor()};
}

// The statistics are computed again, so that they are functions of the input.
struct Standard {
  Tensor value, rstd;
  Standard(const Tensor& x, IntList dims, double eps, bool centred) {
    Tensor middle = centred ? ops::sub(x, ops::mean(x, dims, true)) : x;
    rstd = ops::rsqrt(ops::add(ops::mean(ops::mul(middle, middle), dims, true), Scalar(eps)));
    value = ops::mul(middle, rstd);
    // Gradients are products with conjugates.
    if (is_complex(x.dtype())) rstd = ops::conj(rstd), value = ops::conj(value);
  }
};

Tensor input_grad(const Standard& h, const Tensor& weighted, IntList dims, bool centred) {
  Tensor along = ops::mean(ops::mul(weighted, h.value), dims, true);
  Tensor rest = ops::sub(weighted, ops::mul(h.value, along));
  if (centred) rest = ops::sub(rest, ops::mean(weighted, dims, true));
  return ops::mul(h.rstd, rest);
}

Tensor scaled(const Tensor& grad, const Tensor& weight) {
  if (!weight.defined()) return grad;
  return ops::mul(grad, is_complex(weight.dtype()) ? ops::conj(weight) : weight);
}

// Rows: the last dimensions of x are normalised together, the first ones are summed over.
Grads row_grads(const Tensor& grad, const Tensor& x, size_t count, const Tensor& weight, double eps, bool centred) {
  Dims rows, within;
  for (int64_t d = 0; d < x.dim(); ++d) (d + static_cast<int64_t>(count) < x.dim() ? rows : within).push_back(d);
  Standard h(x, within, eps, centred);
  auto over_rows = [&](const Tensor& t) { return rows.empty() ? t : ops::sum(t, rows); };
  return {input_grad(h, scaled(grad, weight), within, centred), over_rows(ops::mul(grad, h.value)), over_rows(grad)};
}

// The gradient that flows through 1 / root(mean of squares), whose derivative is -rstd^2 * h / count.
Tensor through_rstd(const Standard& h, const Tensor& grad_rstd, int64_t count) {
  Tensor slope = ops::mul(grad_rstd, ops::mul(ops::mul(h.rstd, h.rstd), Scalar(-1.0 / static_cast<double>(count))));
  return ops::mul(slope, h.value);
}

Tensor total(const Tensor& a, const Tensor& b) { return !a.defined() ? b : !b.defined() ? a : ops::add(a, b); }

// A parameter (C) beside (N, C, ...).
Tensor per_channel(const Tensor& t, int64_t rank) {
  if (!t.defined()) return t;
  Dims sizes{1, t.numel()};
  for (int64_t d = 2; d < rank; ++d) sizes.push_back(1);
  return ops::reshape(t, sizes);
}

Dims all_but_channels(int64_t rank) {
  Dims dims{0};
  for (int64_t d = 2; d < rank; ++d) dims.push_back(d);
  return dims;
}

}  // namespace

Grads layer_norm_backward(const Tensor& grad, const Tensor& input, IntList normalized_shape, const Tensor& mean,
                          const Tensor& rstd, const Tensor& weight, double eps, IntList output_mask) {
  Grads all = may_record(grad, input, weight)
                  ? row_grads(grad, input, normalized_shape.size(), weight, eps, true)
                  : ops::layer_norm_grads(grad, input, normalized_shape, mean, rstd, weight, output_mask);
  return chosen(all, output_mask[0], output_mask[1], output_mask[2]);
}

std::tuple<Tensor, Tensor> rms_norm_backward(const Tensor& grad, const Tensor& grad_rstd, const Tensor& input,
                                             IntList normalized_shape, const Tensor& rstd, const Tensor& weight,
                                             std::optional<double> eps, IntList output_mask) {
  const int64_t mask[] = {output_mask[0], output_mask[1], 0};
  const double least = eps.value_or(shape::default_eps(input.dtype()));
  const bool recorded = may_record(grad, grad_rstd, input, weight) || is_complex(input.dtype());
  Grads all;
  if (grad.defined())
    all = recorded ? row_grads(grad, input, normalized_shape.size(), weight, least, false)
                   : ops::layer_norm_grads(grad, input, normalized_shape, {}, rstd, weight, mask);
  auto [to_input, to_weight, to_bias] = chosen(all, mask[0], mask[1], false);
  if (grad_rstd.defined() && mask[0]) {
    Dims within;
    for (size_t d = input.dim() - normalized_shape.size(); d < static_cast<size_t>(input.dim()); ++d)
      within.push_back(d);
    Standard h(input, within, least, false);
    to_input = total(to_input, through_rstd(h, grad_rstd, numel_of(normalized_shape)));
  }
  return {to_input, to_weight};
}

Grads group_norm_backward(const Tensor& grad, const Tensor& grad_mean, const Tensor& grad_rstd, const Tensor& input,
                          const Tensor& mean, const Tensor& rstd, const Tensor& weight, int64_t group, double eps,
                          IntList output_mask) {
  shape::check_groups(input, group);
  if (grad.defined() && !grad_mean.defined() && !grad_rstd.defined() && !may_record(grad, input, weight))
    return chosen(ops::group_norm_grads(grad, input, mean, rstd, weight, group, output_mask), output_mask[0],
                  output_mask[1], output_mask[2]);
  const int64_t length = input.numel() / std::max<int64_t>(input.size(0) * group, 1);
  const Dims grouped{input.size(0), group, length}, within{2};
  Dims outer = all_but_channels(input.dim());
  Standard h(ops::reshape(input, grouped), within, eps, true);
  Tensor to_input, to_weight, to_bias;
  if (grad.defined()) {
    Tensor weighted = ops::reshape(scaled(grad, per_channel(weight, input.dim())), grouped);
    to_input = input_grad(h, weighted, within, true);
    to_weight = ops::sum(ops::mul(grad, ops::reshape(h.value, input.sizes())), outer);
    to_bias = ops::sum(grad, outer);
  }
  if (grad_mean.defined())
    to_input = total(to_input, ops::expand(ops::div(ops::unsqueeze(grad_mean, 2), Scalar(length)), grouped));
  if (grad_rstd.defined()) to_input = total(to_input, through_rstd(h, ops::unsqueeze(grad_rstd, 2), length));
  if (to_input.defined()) to_input = ops::reshape(to_input, input.sizes());
  return chosen({to_input, to_weight, to_bias}, output_mask[0], output_mask[1], output_mask[2]);
}

Grads batch_norm_gradients(const Tensor& grad, const Tensor& input, const Tensor& weight, const Tensor& mean,
                           const Tensor& rstd, bool training, double eps, IntList output_mask) {
  if (!may_record(grad, input, weight))
    return chosen(ops::batch_norm_grads(grad, input, weight, mean, rstd, training, output_mask.first(3)),
                  output_mask[0], output_mask[1], output_mask[2]);
  const int64_t rank = input.dim();
  Dims outer = all_but_channels(rank);
  Tensor weighted = scaled(grad, per_channel(weight, rank)), to_input, value;
  if (training) {
    Standard h(input, outer, eps, true);
    to_input = input_grad(h, weighted, outer, true);
    value = h.value;
  } else {
    Tensor scale = per_channel(rstd, rank);
    to_input = ops::mul(weighted, scale);
    value = ops::mul(ops::sub(input, per_channel(mean, rank)), scale);
  }
  return chosen({to_input, ops::sum(ops::mul(grad, value), outer), ops::sum(grad, outer)}, output_mask[0],
                output_mask[1], output_mask[2]);
}

}  // namespace taeda::composite
