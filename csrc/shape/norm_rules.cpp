#include "shape/norm_rules.h"

#include <algorithm>

#include "shape/view_rules.h"

namespace taeda::shape {

namespace {

void check_floating(const Tensor& input) {
  if (!is_floating(input.dtype())) TAEDA_FAIL(NotImplemented, "is for floating-point tensors; got ", input.dtype());
}

// A half input may have parameters of its own dtype or of float.
void check_parameter(const Tensor& t, const char* what, const Tensor& input, IntList wanted) {
  if (!t.defined()) return;
  TAEDA_CHECK(std::ranges::equal(t.sizes(), wanted), what, " must have shape ", wanted, "; got ", t.sizes());
  TAEDA_CHECK(t.dtype() == input.dtype() || t.dtype() == compute_type(input.dtype()), what,
              " must have the input's dtype ", input.dtype(), "; got ", t.dtype());
}

Spec like(const Tensor& input) {
  return {Dims(input.sizes()), input.dtype(), strides_for(input, suggested_format(input))};
}

Spec parameter_grad(bool wanted, IntList sizes, const Tensor& weight, const Tensor& input) {
  return {wanted ? Dims(sizes) : Dims{0}, weight.defined() ? weight.dtype() : input.dtype()};
}

}  // namespace

void check_normalized_shape(const Tensor& input, IntList normalized_shape, const Tensor& weight, const Tensor& bias) {
  check_floating(input);
  size_t count = normalized_shape.size();
  TAEDA_CHECK(count >= 1, "normalized_shape must have at least one size");
  bool fits =
      static_cast<size_t>(input.dim()) >= count && std::ranges::equal(input.sizes().last(count), normalized_shape);
  TAEDA_CHECK(fits, "the input's last sizes must be normalized_shape ", normalized_shape, "; got an input of shape ",
              input.sizes());
  check_parameter(weight, "weight", input, normalized_shape);
  check_parameter(bias, "bias", input, normalized_shape);
}

Normalised layer_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight, const Tensor& bias, double) {
  check_normalized_shape(input, normalized_shape, weight, bias);
  Dims statistics(input.sizes().first(input.dim() - normalized_shape.size()));
  for (size_t i = 0; i < normalized_shape.size(); ++i) statistics.push_back(1);
  Spec each{statistics, compute_type(input.dtype())};
  return {Spec{Dims(input.sizes()), input.dtype()}, each, each};
}

std::tuple<Spec, Spec> fused_rms_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight,
                                      std::optional<double>) {
  auto [result, mean, rstd] = layer_norm(input, normalized_shape, weight, {}, 0);
  return {result, rstd};
}

NormGrads layer_norm_grads(const Tensor&, const Tensor& input, IntList normalized_shape, const Tensor&, const Tensor&,
                           const Tensor& weight, IntList output_mask) {
  return {Spec{output_mask[0] ? Dims(input.sizes()) : Dims{0}, input.dtype()},
          parameter_grad(output_mask[1], normalized_shape, weight, input),
          parameter_grad(output_mask[2], normalized_shape, weight, input)};
}

Normalised group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t n, int64_t c, int64_t area,
                      int64_t group, double) {
  check_floating(input);
  TAEDA_CHECK(group > 0 && c % group == 0, "the number of channels (", c,
              ") must be a multiple of the number of groups (", group, ")");
  TAEDA_CHECK(input.numel() == n * c * area, "N * C * HxW must be the number of elements, ", input.numel(), "; got ", n,
              ", ", c, ", ", area);
  const int64_t channels[] = {c};
  check_parameter(weight, "weight", input, channels);
  check_parameter(bias, "bias", input, channels);
  Spec each{{n, group}, compute_type(input.dtype())};
  return {Spec{Dims(input.sizes()), input.dtype()}, each, each};
}

NormGrads group_norm_grads(const Tensor&, const Tensor& input, const Tensor&, const Tensor&, const Tensor& weight,
                           int64_t, IntList output_mask) {
  Dims channels{input.sizes()[1]};
  return {Spec{output_mask[0] ? Dims(input.sizes()) : Dims{0}, input.dtype()},
          parameter_grad(output_mask[1], channels, weight, input),
          parameter_grad(output_mask[2], channels, weight, input)};
}

Normalised batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                      const Tensor& running_var, bool training, double, double) {
  check_floating(input);
  TAEDA_CHECK(input.dim() >= 2, "input must have a batch and a channel dimension; got shape ", input.sizes());
  const int64_t channels[] = {input.sizes()[1]};
  check_parameter(weight, "weight", input, channels);
  check_parameter(bias, "bias", input, channels);
  check_parameter(running_mean, "running_mean", input, channels);
  check_parameter(running_var, "running_var", input, channels);
  TAEDA_CHECK(training || (running_mean.defined() && running_var.defined()),
              "without training, running_mean and running_var are needed");
  Spec each{Dims(channels), compute_type(input.dtype())};
  return {like(input), each, each};
}

NormGrads batch_norm_grads(const Tensor&, const Tensor& input, const Tensor& weight, const Tensor&, const Tensor&, bool,
                           IntList output_mask) {
  Dims channels{input.sizes()[1]};
  Spec to_input = like(input);
  if (!output_mask[0]) to_input = {Dims{0}, input.dtype()};
  return {to_input, parameter_grad(output_mask[1], channels, weight, input),
          parameter_grad(output_mask[2], channels, weight, input)};
}

}  // namespace taeda::shape
