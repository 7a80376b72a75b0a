#include <torch/nn/init.h>

#include <cmath>

namespace torch::nn::init {

double calculate_gain(NonlinearityType nonlinearity, double param) {
  if (std::holds_alternative<enumtype::kTanh>(nonlinearity)) return 5.0 / 3.0;
  if (std::holds_alternative<enumtype::kReLU>(nonlinearity)) return std::sqrt(2.0);
  if (std::holds_alternative<enumtype::kLeakyReLU>(nonlinearity)) return std::sqrt(2.0 / (1 + param * param));
  return 1.0;
}

std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor) {
  TORCH_CHECK(tensor.dim() >= 2, "a tensor with fewer than 2 dimensions has no fan in and fan out; got ",
              tensor.sizes());
  int64_t field = tensor.dim() > 2 ? tensor[0][0].numel() : 1;
  return {tensor.size(1) * field, tensor.size(0) * field};
}

Tensor constant_(Tensor tensor, Scalar value) {
  NoGradGuard no_grad;
  return tensor.fill_(value);
}
Tensor ones_(Tensor tensor) { return constant_(std::move(tensor), 1); }
Tensor zeros_(Tensor tensor) { return constant_(std::move(tensor), 0); }
Tensor normal_(Tensor tensor, double mean, double std) {
  NoGradGuard no_grad;
  return tensor.normal_(mean, std);
}
Tensor uniform_(Tensor tensor, double low, double high) {
  NoGradGuard no_grad;
  return tensor.uniform_(low, high);
}
Tensor eye_(Tensor matrix) {
  NoGradGuard no_grad;
  TORCH_CHECK(matrix.dim() == 2, "eye_: only tensors of 2 dimensions; got ", matrix.sizes());
  return matrix.copy_(torch::eye(matrix.size(0), matrix.size(1), matrix.options()));
}

Tensor dirac_(Tensor tensor) {
  NoGradGuard no_grad;
  TORCH_CHECK(tensor.dim() >= 3 && tensor.dim() <= 5, "dirac_: only tensors of 3 to 5 dimensions; got ",
              tensor.sizes());
  tensor.zero_();
  int64_t count = std::min(tensor.size(0), tensor.size(1));
  for (int64_t d = 0; d < count; ++d) {
    Tensor at = tensor[d][d];
    while (at.dim() > 0) at = at.select(0, at.size(0) / 2);
    at.fill_(1);
  }
  return tensor;
}

// Saxe et al., Exact solutions to the nonlinear dynamics of learning in deep linear neural networks.
Tensor orthogonal_(Tensor tensor, double gain) {
  NoGradGuard no_grad;
  TORCH_CHECK(tensor.dim() >= 2, "orthogonal_: only tensors of 2 or more dimensions; got ", tensor.sizes());
  int64_t rows = tensor.size(0), columns = tensor.numel() / rows;
  Tensor flat = torch::randn({rows, columns}, tensor.options());
  if (rows < columns) flat = flat.t();
  auto [q, r] = at::linalg_qr(flat);
  q = q * r.diag().sign();
  if (rows < columns) q = q.t();
  tensor.view_as(q).copy_(q);
  return tensor.mul_(gain);
}

Tensor sparse_(Tensor tensor, double sparsity, double std) {
  NoGradGuard no_grad;
  TORCH_CHECK(tensor.dim() == 2, "sparse_: only tensors of 2 dimensions; got ", tensor.sizes());
  int64_t rows = tensor.size(0), columns = tensor.size(1);
  auto zeros = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  tensor.normal_(0, std);
  for (int64_t column = 0; column < columns; ++column) {
    Tensor chosen = torch::randperm(rows, tensor.options().dtype(kLong)).slice(0, 0, zeros);
    tensor.select(1, column).index_fill_(0, chosen, 0);
  }
  return tensor;
}

namespace {
double kaiming_std(const Tensor& tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  auto [in, out] = _calculate_fan_in_and_fan_out(tensor);
  int64_t fan = std::holds_alternative<enumtype::kFanIn>(mode) ? in : out;
  return calculate_gain(nonlinearity, a) / std::sqrt(static_cast<double>(fan));
}
double xavier_std(const Tensor& tensor, double gain) {
  auto [in, out] = _calculate_fan_in_and_fan_out(tensor);
  return gain * std::sqrt(2.0 / static_cast<double>(in + out));
}
}  // namespace

Tensor kaiming_normal_(Tensor tensor, double a) { return kaiming_normal_(std::move(tensor), a, torch::kFanIn); }
Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode) {
  return kaiming_normal_(std::move(tensor), a, mode, torch::kLeakyReLU);
}
Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  double std = kaiming_std(tensor, a, mode, nonlinearity);
  return normal_(std::move(tensor), 0, std);
}
Tensor kaiming_uniform_(Tensor tensor, double a) { return kaiming_uniform_(std::move(tensor), a, torch::kFanIn); }
Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode) {
  return kaiming_uniform_(std::move(tensor), a, mode, torch::kLeakyReLU);
}
Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  double bound = std::sqrt(3.0) * kaiming_std(tensor, a, mode, nonlinearity);
  return uniform_(std::move(tensor), -bound, bound);
}
Tensor xavier_normal_(Tensor tensor, double gain) {
  double std = xavier_std(tensor, gain);
  return normal_(std::move(tensor), 0, std);
}
Tensor xavier_uniform_(Tensor tensor, double gain) {
  double bound = std::sqrt(3.0) * xavier_std(tensor, gain);
  return uniform_(std::move(tensor), -bound, bound);
}

}  // namespace torch::nn::init
