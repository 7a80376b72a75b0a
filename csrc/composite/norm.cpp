// The public names of normalisation.
#include "shape/ops/norm.h"
#include "shape/norm_rules.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/norm.h"
#include "taeda/ops/rearrange.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

using shape::Dims;

namespace {

using Three = std::tuple<Tensor, Tensor, Tensor>;

// PyTorch keeps statistics in the input's dtype unless a parameter is wider.
Three with_statistics_like(Three results, const Tensor& input, std::initializer_list<const Tensor*> parameters) {
  bool same = true;
  for (const Tensor* t : parameters) same &= !t->defined() || t->dtype() == input.dtype();
  auto& [result, mean, rstd] = results;
  if (!same || mean.dtype() == input.dtype()) return results;
  return {result, ops::to(mean, input.dtype()), ops::to(rstd, input.dtype())};
}

}  // namespace

Tensor layer_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight, const Tensor& bias, double eps,
                  bool) {
  return std::get<0>(ops::_native_layer_norm(input, normalized_shape, weight, bias, eps));
}
Three native_layer_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight, const Tensor& bias,
                        double eps) {
  return with_statistics_like(ops::_native_layer_norm(input, normalized_shape, weight, bias, eps), input,
                              {&weight, &bias});
}

Tensor rms_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight, std::optional<double> eps) {
  return std::get<0>(ops::_fused_rms_norm(input, normalized_shape, weight, eps));
}

Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps, bool) {
  TAEDA_CHECK(input.dim() >= 2, "input must have a batch and a channel dimension; got shape ", input.sizes());
  TAEDA_CHECK(num_groups > 0, "num_groups must be positive; got ", num_groups);
  int64_t n = input.size(0), c = input.size(1), area = 1;
  for (int64_t d = 2; d < input.dim(); ++d) area *= input.size(d);
  return std::get<0>(ops::_native_group_norm(input, weight, bias, n, c, area, num_groups, eps));
}
Three native_group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t n, int64_t c,
                        int64_t area, int64_t group, double eps) {
  return with_statistics_like(ops::_native_group_norm(input, weight, bias, n, c, area, group, eps), input,
                              {&weight, &bias});
}

Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                  const Tensor& running_var, bool training, double momentum, double eps, bool) {
  if (input.dim() == 1 && input.numel() == 0) return ops::clone(input);  // no samples, of however many channels
  Tensor result =
      std::get<0>(ops::_native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps));
  if (training)
    for (const Tensor& t : {running_mean, running_var})
      if (t.defined()) t->bump_version();
  return result;
}
Three native_batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                        const Tensor& running_var, bool training, double momentum, double eps) {
  TAEDA_CHECK(!training || input.numel() > 0, "training needs at least one element; got shape ", input.sizes());
  Three results = ops::_native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps);
  auto& [result, mean, rstd] = results;
  if (!training) {
    mean = ops::new_empty(mean, kValues<int64_t, 0>);
    rstd = ops::new_empty(rstd, kValues<int64_t, 0>);
  }
  return with_statistics_like(results, input, {&weight, &bias, &running_mean, &running_var});
}

Three _native_batch_norm_legit(const Tensor& input, const Tensor& weight, const Tensor& bias,
                               const Tensor& running_mean, const Tensor& running_var, bool training, double momentum,
                               double eps) {
  return ops::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps);
}

Three _native_batch_norm_legit(const Tensor& input, const Tensor& weight, const Tensor& bias, bool training,
                               double momentum, double eps) {
  return ops::native_batch_norm(input, weight, bias, Tensor(), Tensor(), training, momentum, eps);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> _batch_norm_with_update(const Tensor& input, const Tensor& weight,
                                                                   const Tensor& bias, const Tensor& running_mean,
                                                                   const Tensor& running_var, double momentum,
                                                                   double eps) {
  auto [result, mean, rstd] =
      ops::native_batch_norm(input, weight, bias, running_mean, running_var, true, momentum, eps);
  return {result, mean, rstd, ops::new_empty(input, kValues<int64_t, 0>, DType::UInt8)};
}

std::tuple<Tensor, Tensor> batch_norm_update_stats(const Tensor& input, const Tensor& running_mean,
                                                   const Tensor& running_var, double momentum) {
  int64_t channel = wrap_dim(1, input.dim());
  TAEDA_CHECK(input.numel() > 0, "input must have at least one element; got shape ", input.sizes());
  Dims others;
  for (int64_t d = 0; d < input.dim(); ++d)
    if (d != channel) others.push_back(d);
  const Tensor& running = running_mean.defined() ? running_mean : running_var;
  DType dtype = running.defined() ? running.dtype() : input.dtype();
  DType wide = promote(dtype, DType::Float32);  // half types are rounded once, at the end
  auto [var, mean] = ops::var_mean(ops::to(input, wide), IntList(others), Scalar(0));
  double count = static_cast<double>(input.numel() / input.size(channel));
  Scoped grad_off(t_state.grad_mode, false);
  auto move = [&](const Tensor& statistic, const Tensor& batch, double factor) {
    if (!statistic.defined()) return;
    Tensor kept = ops::mul(ops::to(statistic, wide), Scalar(1 - momentum));
    ops::copy_(statistic, ops::add(kept, batch, Scalar(momentum * factor)));
  };
  move(running_mean, mean, 1);
  move(running_var, var, count / (count - 1));
  return {ops::to(mean, dtype), ops::to(var, dtype)};
}

// Samples become channels of one sample, each with its copy of the running statistics.
Tensor instance_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                     const Tensor& running_var, bool use_input_stats, double momentum, double eps, bool) {
  TAEDA_CHECK(input.dim() >= 2, "input must have a batch and a channel dimension; got shape ", input.sizes());
  TAEDA_CHECK(use_input_stats || (running_mean.defined() && running_var.defined()),
              "without use_input_stats, running_mean and running_var are needed");
  int64_t n = input.size(0), c = input.size(1);
  if (use_input_stats && !running_mean.defined() && !running_var.defined())
    return group_norm(ops::contiguous(input), c, weight, bias, eps, true);
  Dims flat(input.sizes());
  flat[0] = 1;
  flat[1] = n * c;
  const int64_t times[] = {n};
  auto spread = [&](const Tensor& t) { return t.defined() ? ops::repeat(t, times) : t; };
  Tensor mean = spread(running_mean), var = spread(running_var);
  Tensor result = batch_norm(ops::reshape(input, flat), spread(weight), spread(bias), mean, var, use_input_stats,
                             momentum, eps, true);
  auto gather = [&](const Tensor& running, const Tensor& spread_out) {
    if (!running.defined() || !use_input_stats) return;
    Scoped grad_off(t_state.grad_mode, false);
    ops::copy_(running, ops::mean(ops::view(spread_out, Dims{n, c}), kValues<int64_t, 0>));
  };
  gather(running_mean, mean);
  gather(running_var, var);
  return ops::reshape(result, input.sizes());
}

Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  TAEDA_CHECK(p.as_double() > 0, "the norm's order must be positive; got p=", p);
  TAEDA_CHECK(maxnorm.as_double() >= 0, "maxnorm must not be negative; got ", maxnorm);
  TAEDA_CHECK(self.dim() >= 2, "the tensor must have at least 2 dimensions; got shape ", self.sizes());
  dim = wrap_dim(dim, self.dim());
  Dims others;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (d != dim) others.push_back(d);
  Tensor norm = ops::linalg_vector_norm(self, p, IntList(others), true);
  Tensor factor = ops::mul(ops::reciprocal(ops::add(norm, Scalar(1e-7))), maxnorm);
  return ops::contiguous(ops::mul(self, ops::where(ops::gt(norm, maxnorm), factor, Scalar(1.0))));
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  DType dtype = promote(x1.dtype(), x2.dtype());
  TAEDA_CHECK(is_differentiable(dtype), "is for floating-point tensors; got ", x1.dtype(), " and ", x2.dtype());
  std::vector<Tensor> both = ops::broadcast_tensors(std::array<Tensor, 2>{ops::to(x1, dtype), ops::to(x2, dtype)});
  auto unit = [&](const Tensor& x) {
    return ops::div(x, ops::clamp_min(ops::linalg_vector_norm(x, 2, Dims{dim}, true), Scalar(eps)));
  };
  return ops::sum(ops::mul(unit(both[0]), unit(both[1])), Dims{dim});
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  Tensor difference = ops::add(ops::sub(x1, x2), Scalar(eps));
  return ops::linalg_vector_norm(difference, Scalar(p), Dims{-1}, keepdim);
}

}  // namespace taeda::composite
