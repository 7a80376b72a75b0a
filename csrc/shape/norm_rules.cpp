#include "shape/norm_rules.h"

#include <algorithm>
#include <limits>

#include "shape/view_rules.h"

namespace taeda::shape {

MemoryFormat normalised_format(const Tensor& input) {
  if (!input.is_contiguous())
    for (MemoryFormat last : {MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d})
      if (input.is_contiguous(last)) return last;
  return suggested_format(input);
}

namespace {

// A half input may have parameters of its own dtype or of float.
void check_parameter(const Tensor& t, const char* what, const Tensor& input, IntList wanted) {
  if (!t.defined()) return;
  TAEDA_CHECK(std::ranges::equal(t.sizes(), wanted), what, " must have shape ", wanted, "; got ", t.sizes());
  TAEDA_CHECK(t.dtype() == input.dtype() || t.dtype() == compute_type(input.dtype()), what,
              " must have the input's dtype ", input.dtype(), "; got ", t.dtype());
}

Spec like(const Tensor& input) {
  return {Dims(input.sizes()), input.dtype(), strides_for(input, normalised_format(input))};
}

void check_gradient(const Tensor& grad, const Tensor& input) {
  check_floating(input);
  TAEDA_CHECK(grad.dtype() == input.dtype() && std::ranges::equal(grad.sizes(), input.sizes()),
              "the gradient must be like the input, ", input.dtype(), " of shape ", input.sizes(), "; got ",
              grad.dtype(), " of shape ", grad.sizes());
}

// One number for each of `count` rows, as the forward op gave them.
void check_statistics(const Tensor& t, const char* what, const Tensor& input, int64_t count) {
  TAEDA_CHECK(t.defined() && t.dtype() == compute_type(input.dtype()) && t.numel() == count && t.is_contiguous(), what,
              " must be ", count, " contiguous numbers of ", compute_type(input.dtype()), "; got ",
              t.defined() ? t.dtype() : DType::Undefined, " of shape ", t.defined() ? t.sizes() : IntList());
}

// One for each row, where the last `count` dimensions are normalised together.
Dims row_sizes(const Tensor& input, size_t count) {
  Dims sizes(input.sizes().first(input.dim() - count));
  for (size_t i = 0; i < count; ++i) sizes.push_back(1);
  return sizes;
}

DType statistics_type(const Tensor& input) {
  return is_complex(input.dtype()) ? input.dtype() : compute_type(input.dtype());
}

Spec parameter_grad(bool wanted, IntList sizes, const Tensor& weight, const Tensor& input) {
  return {wanted ? Dims(sizes) : Dims{0}, weight.defined() ? weight.dtype() : input.dtype()};
}

}  // namespace

double default_eps(DType dtype) {
  bool wide = dtype == DType::Float64 || dtype == DType::Complex128;
  return wide ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}

void check_normalized_shape(const Tensor& input, IntList normalized_shape, const Tensor& weight, const Tensor& bias) {
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
  check_floating(input);
  check_normalized_shape(input, normalized_shape, weight, bias);
  Spec each{row_sizes(input, normalized_shape.size()), compute_type(input.dtype())};
  return {Spec{Dims(input.sizes()), input.dtype()}, each, each};
}

std::tuple<Spec, Spec> fused_rms_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight,
                                      std::optional<double>) {
  if (!is_differentiable(input.dtype()))
    TAEDA_FAIL(NotImplemented, "is for floating-point and complex tensors; got ", input.dtype());
  check_normalized_shape(input, normalized_shape, weight, {});
  return {Spec{Dims(input.sizes()), input.dtype()},
          Spec{row_sizes(input, normalized_shape.size()), statistics_type(input)}};
}

NormGrads layer_norm_grads(const Tensor& grad, const Tensor& input, IntList normalized_shape, const Tensor& mean,
                           const Tensor& rstd, const Tensor& weight, IntList output_mask) {
  check_gradient(grad, input);
  check_normalized_shape(input, normalized_shape, weight, {});
  const int64_t rows = numel_of(row_sizes(input, normalized_shape.size()));
  if (mean.defined()) check_statistics(mean, "mean", input, rows);
  check_statistics(rstd, "rstd", input, rows);
  return {Spec{output_mask[0] ? Dims(input.sizes()) : Dims{0}, input.dtype()},
          parameter_grad(output_mask[1], normalized_shape, weight, input),
          parameter_grad(output_mask[2], normalized_shape, weight, input)};
}

void check_groups(const Tensor& input, int64_t group) {
  TAEDA_CHECK(input.dim() >= 2, "input must have a batch and a channel dimension; got shape ", input.sizes());
  TAEDA_CHECK(group > 0 && input.sizes()[1] % group == 0, "the number of channels (", input.sizes()[1],
              ") must be a multiple of the number of groups (", group, ")");
  int64_t rows;  // of no channels there may be any number of groups
  TAEDA_CHECK(!__builtin_mul_overflow(input.sizes()[0], group, &rows), "there are too many groups: ", group);
}

Normalised group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t n, int64_t c, int64_t area,
                      int64_t group, double) {
  check_floating(input);
  TAEDA_CHECK(group > 0 && c % group == 0, "the number of channels (", c,
              ") must be a multiple of the number of groups (", group, ")");
  int64_t plane, count, rows;
  bool fits = n >= 0 && c >= 0 && area >= 0 && !__builtin_mul_overflow(c, area, &plane) &&
              !__builtin_mul_overflow(n, plane, &count) && !__builtin_mul_overflow(n, group, &rows);
  TAEDA_CHECK(fits && input.numel() == count, "N * C * HxW must be the number of elements, ", input.numel(), "; got ",
              n, ", ", c, ", ", area);
  const int64_t channels[] = {c};
  check_parameter(weight, "weight", input, channels);
  check_parameter(bias, "bias", input, channels);
  Spec each{{n, group}, compute_type(input.dtype())};
  bool split = input.dim() >= 2 && input.sizes()[0] == n && input.sizes()[1] == c;
  return {split ? like(input) : Spec{Dims(input.sizes()), input.dtype()}, each, each};
}

NormGrads group_norm_grads(const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& rstd,
                           const Tensor& weight, int64_t group, IntList output_mask) {
  check_gradient(grad, input);
  check_groups(input, group);
  check_statistics(mean, "mean", input, input.sizes()[0] * group);
  check_statistics(rstd, "rstd", input, input.sizes()[0] * group);
  Dims channels{input.sizes()[1]};
  check_parameter(weight, "weight", input, channels);
  return {output_mask[0] ? like(input) : Spec{Dims{0}, input.dtype()},
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

NormGrads batch_norm_grads(const Tensor& grad, const Tensor& input, const Tensor& weight, const Tensor& mean,
                           const Tensor& rstd, bool, IntList output_mask) {
  check_gradient(grad, input);
  TAEDA_CHECK(input.dim() >= 2, "input must have a batch and a channel dimension; got shape ", input.sizes());
  Dims channels{input.sizes()[1]};
  check_parameter(weight, "weight", input, channels);
  check_statistics(mean, "mean", input, channels[0]);
  check_statistics(rstd, "rstd", input, channels[0]);
  Spec to_input = like(input);
  if (!output_mask[0]) to_input = {Dims{0}, input.dtype()};
  return {to_input, parameter_grad(output_mask[1], channels, weight, input),
          parameter_grad(output_mask[2], channels, weight, input)};
}

}  // namespace taeda::shape
