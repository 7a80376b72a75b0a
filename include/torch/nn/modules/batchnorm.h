// Batch and instance normalization.
#pragma once
#include <torch/nn/functional/batchnorm.h>
#include <torch/nn/functional/instancenorm.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {

// Parameters: weight, bias (features), if affine; buffers: running_mean, running_var, num_batches_tracked, if tracked.
template <size_t D, class Derived, class Options>
class NormImplBase : public Cloneable<Derived> {
 public:
  void reset() override;
  void reset_running_stats();
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Options options;
  Tensor weight, bias, running_mean, running_var, num_batches_tracked;

 protected:
  explicit NormImplBase(const Options& options_);
  virtual void _check_input_dim(const Tensor& input) = 0;
};
template <size_t D, class Derived>
class BatchNormImplBase : public NormImplBase<D, Derived, BatchNormOptions> {
 public:
  Tensor forward(const Tensor& input);

 protected:
  using NormImplBase<D, Derived, BatchNormOptions>::NormImplBase;
};
template <size_t D, class Derived>
class InstanceNormImpl : public NormImplBase<D, Derived, InstanceNormOptions> {
 public:
  Tensor forward(const Tensor& input);

 protected:
  using NormImplBase<D, Derived, InstanceNormOptions>::NormImplBase;
};

#define TAEDA_NORM_MODULE(Name, Base, D, Kind)                           \
  class Name##D##dImpl;                                                  \
  extern template class TORCH_API NormImplBase<D, Name##D##dImpl, Kind>; \
  extern template class TORCH_API Base<D, Name##D##dImpl>;               \
  class TORCH_API Name##D##dImpl : public Base<D, Name##D##dImpl> {      \
   public:                                                               \
    explicit Name##D##dImpl(int64_t num_features);                       \
    explicit Name##D##dImpl(const Kind& options_);                       \
                                                                         \
   protected:                                                            \
    void _check_input_dim(const Tensor& input) override;                 \
  };                                                                     \
  TORCH_MODULE(Name##D##d)
TAEDA_NORM_MODULE(BatchNorm, BatchNormImplBase, 1, BatchNormOptions);
TAEDA_NORM_MODULE(BatchNorm, BatchNormImplBase, 2, BatchNormOptions);
TAEDA_NORM_MODULE(BatchNorm, BatchNormImplBase, 3, BatchNormOptions);
TAEDA_NORM_MODULE(InstanceNorm, InstanceNormImpl, 1, InstanceNormOptions);
TAEDA_NORM_MODULE(InstanceNorm, InstanceNormImpl, 2, InstanceNormOptions);
TAEDA_NORM_MODULE(InstanceNorm, InstanceNormImpl, 3, InstanceNormOptions);
#undef TAEDA_NORM_MODULE

}  // namespace torch::nn
