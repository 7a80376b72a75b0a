#include <torch/nn/modules/batchnorm.h>

#include <torch/nn/init.h>

#include "frontend/nn/printed.h"

namespace torch::nn {

namespace F = functional;

template <size_t D, class Derived, class Options>
NormImplBase<D, Derived, Options>::NormImplBase(const Options& options_) : options(options_) {
  NormImplBase::reset();
}
template <size_t D, class Derived, class Options>
void NormImplBase<D, Derived, Options>::reset() {
  auto parameter = [&](const char* name) {
    return options.affine() ? this->register_parameter(name, torch::empty(options.num_features()))
                            : this->register_parameter(name, {}, false);
  };
  weight = parameter("weight");
  bias = parameter("bias");
  if (options.track_running_stats()) {
    running_mean = this->register_buffer("running_mean", torch::zeros(options.num_features()));
    running_var = this->register_buffer("running_var", torch::ones(options.num_features()));
    num_batches_tracked = this->register_buffer("num_batches_tracked", torch::tensor(0, torch::dtype(torch::kLong)));
  } else {
    running_mean = this->register_buffer("running_mean", Tensor());
    running_var = this->register_buffer("running_var", Tensor());
    num_batches_tracked = this->register_buffer("num_batches_tracked", Tensor());
  }
  reset_parameters();
}
template <size_t D, class Derived, class Options>
void NormImplBase<D, Derived, Options>::reset_running_stats() {
  if (!options.track_running_stats()) return;
  running_mean.zero_();
  running_var.fill_(1);
  num_batches_tracked.zero_();
}
template <size_t D, class Derived, class Options>
void NormImplBase<D, Derived, Options>::reset_parameters() {
  reset_running_stats();
  if (!options.affine()) return;
  init::ones_(weight);
  init::zeros_(bias);
}
template <size_t D, class Derived, class Options>
void NormImplBase<D, Derived, Options>::pretty_print(std::ostream& stream) const {
  constexpr bool is_batch = std::is_same_v<Options, BatchNormOptions>;
  Printed text(stream, c10::str(is_batch ? "BatchNorm" : "InstanceNorm", D, "d"));
  text.bare(options.num_features()).arg("eps", options.eps());
  if constexpr (is_batch) {
    if (options.momentum())
      text.arg("momentum", *options.momentum());
    else
      text.arg("momentum", "None");
  } else {
    text.arg("momentum", options.momentum());
  }
  text.arg("affine", options.affine()).arg("track_running_stats", options.track_running_stats());
}

template <size_t D, class Derived>
Tensor BatchNormImplBase<D, Derived>::forward(const Tensor& input) {
  this->_check_input_dim(input);
  const BatchNormOptions& o = this->options;
  std::optional<double> momentum = o.momentum();
  if (this->is_training() && this->num_batches_tracked.defined()) {
    this->num_batches_tracked += 1;
    if (!momentum) momentum = 1.0 / this->num_batches_tracked.template item<double>();  // a plain mean of all batches
  }
  return F::batch_norm(input, this->running_mean, this->running_var,
                       F::BatchNormFuncOptions()
                           .weight(this->weight)
                           .bias(this->bias)
                           .training(this->is_training() || !o.track_running_stats())
                           .momentum(momentum)
                           .eps(o.eps()));
}

template <size_t D, class Derived>
Tensor InstanceNormImpl<D, Derived>::forward(const Tensor& input) {
  this->_check_input_dim(input);
  const InstanceNormOptions& o = this->options;
  auto run = [&](const Tensor& x) {
    return F::instance_norm(x, F::InstanceNormFuncOptions()
                                   .running_mean(this->running_mean)
                                   .running_var(this->running_var)
                                   .weight(this->weight)
                                   .bias(this->bias)
                                   .use_input_stats(this->is_training() || !o.track_running_stats())
                                   .momentum(o.momentum())
                                   .eps(o.eps()));
  };
  // Without a batch dimension: a batch of one.
  if (input.dim() == static_cast<int64_t>(D) + 1) return run(input.unsqueeze(0)).squeeze(0);
  return run(input);
}

#define TAEDA_NORM(Name, Base, D, Kind, least, most)                                                         \
  Name##D##dImpl::Name##D##dImpl(int64_t num_features) : Name##D##dImpl(Kind(num_features)) {}               \
  Name##D##dImpl::Name##D##dImpl(const Kind& options_) : Base<D, Name##D##dImpl>(options_) {}                \
  void Name##D##dImpl::_check_input_dim(const Tensor& input) {                                               \
    TORCH_CHECK(input.dim() >= least && input.dim() <= most,                                                 \
                #Name #D "d: expected a tensor of " #least " to " #most " dimensions; got ", input.sizes()); \
  }                                                                                                          \
  template class NormImplBase<D, Name##D##dImpl, Kind>;                                                      \
  template class Base<D, Name##D##dImpl>;
TAEDA_NORM(BatchNorm, BatchNormImplBase, 1, BatchNormOptions, 2, 3)
TAEDA_NORM(BatchNorm, BatchNormImplBase, 2, BatchNormOptions, 4, 4)
TAEDA_NORM(BatchNorm, BatchNormImplBase, 3, BatchNormOptions, 5, 5)
TAEDA_NORM(InstanceNorm, InstanceNormImpl, 1, InstanceNormOptions, 2, 3)
TAEDA_NORM(InstanceNorm, InstanceNormImpl, 2, InstanceNormOptions, 3, 4)
TAEDA_NORM(InstanceNorm, InstanceNormImpl, 3, InstanceNormOptions, 4, 5)

}  // namespace torch::nn
