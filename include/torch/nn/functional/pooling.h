// Pooling as functions, and its options.
#pragma once
#include <torch/nn/options_base.h>

namespace torch::nn {

// The names for 1, 2 and 3 dimensions, of modules and, where they are the same, of functions.
#define TAEDA_POOL_NAMES(Name)              \
  using Name##1dOptions = Name##Options<1>; \
  using Name##2dOptions = Name##Options<2>; \
  using Name##3dOptions = Name##Options<3>;
#define TAEDA_POOL_FUNCTION_NAMES(Name)        \
  namespace functional {                       \
  using Name##1dFuncOptions = Name##1dOptions; \
  using Name##2dFuncOptions = Name##2dOptions; \
  using Name##3dFuncOptions = Name##3dOptions; \
  }

template <size_t D>
struct AvgPoolOptions {
  AvgPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  TORCH_ARG(ExpandingArray<D>, stride);
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
  TORCH_ARG(bool, ceil_mode) = false;
  TORCH_ARG(bool, count_include_pad) = true;
  TORCH_ARG(std::optional<int64_t>, divisor_override) = std::nullopt;
};
TAEDA_POOL_NAMES(AvgPool)
TAEDA_POOL_FUNCTION_NAMES(AvgPool)

template <size_t D>
struct MaxPoolOptions {
  MaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  TORCH_ARG(ExpandingArray<D>, stride);
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
  TORCH_ARG(ExpandingArray<D>, dilation) = 1;
  TORCH_ARG(bool, ceil_mode) = false;
};
TAEDA_POOL_NAMES(MaxPool)
TAEDA_POOL_FUNCTION_NAMES(MaxPool)

#define TAEDA_ADAPTIVE_POOL_OPTIONS(Name)                                   \
  template <class output_size_t>                                            \
  struct Name##Options {                                                    \
    TAEDA_OPTIONS_OF(Name##Options, output_size_t, output_size)             \
    TORCH_ARG(output_size_t, output_size);                                  \
  };                                                                        \
  using Name##1dOptions = Name##Options<ExpandingArray<1>>;                 \
  using Name##2dOptions = Name##Options<ExpandingArrayWithOptionalElem<2>>; \
  using Name##3dOptions = Name##Options<ExpandingArrayWithOptionalElem<3>>; \
  TAEDA_POOL_FUNCTION_NAMES(Name)
TAEDA_ADAPTIVE_POOL_OPTIONS(AdaptiveMaxPool)
TAEDA_ADAPTIVE_POOL_OPTIONS(AdaptiveAvgPool)
#undef TAEDA_ADAPTIVE_POOL_OPTIONS

template <size_t D>
struct MaxUnpoolOptions {
  MaxUnpoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  TORCH_ARG(ExpandingArray<D>, stride);
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
};
TAEDA_POOL_NAMES(MaxUnpool)

template <size_t D>
struct FractionalMaxPoolOptions {
  using ExpandingArrayDouble = torch::ExpandingArray<D, double>;
  FractionalMaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size) {}
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  TORCH_ARG(std::optional<ExpandingArray<D>>, output_size) = std::nullopt;
  TORCH_ARG(std::optional<ExpandingArrayDouble>, output_ratio) = std::nullopt;
  TORCH_ARG(torch::Tensor, _random_samples) = {};
};
using FractionalMaxPool2dOptions = FractionalMaxPoolOptions<2>;
using FractionalMaxPool3dOptions = FractionalMaxPoolOptions<3>;

template <size_t D>
struct LPPoolOptions {
  LPPoolOptions(double norm_type, ExpandingArray<D> kernel_size)
      : norm_type_(norm_type), kernel_size_(kernel_size), stride_(kernel_size) {}
  TORCH_ARG(double, norm_type);
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  TORCH_ARG(ExpandingArray<D>, stride);
  TORCH_ARG(bool, ceil_mode) = false;
};
TAEDA_POOL_NAMES(LPPool)
TAEDA_POOL_FUNCTION_NAMES(LPPool)

namespace functional {

using FractionalMaxPool2dFuncOptions = FractionalMaxPool2dOptions;
using FractionalMaxPool3dFuncOptions = FractionalMaxPool3dOptions;
template <size_t D>
struct MaxUnpoolFuncOptions {
  MaxUnpoolFuncOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  TORCH_ARG(ExpandingArray<D>, stride);
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
  TORCH_ARG(std::optional<std::vector<int64_t>>, output_size) = std::nullopt;
};
using MaxUnpool1dFuncOptions = MaxUnpoolFuncOptions<1>;
using MaxUnpool2dFuncOptions = MaxUnpoolFuncOptions<2>;
using MaxUnpool3dFuncOptions = MaxUnpoolFuncOptions<3>;

#define TAEDA_POOL(name, Options) TORCH_API Tensor name(const Tensor& input, const Options& options);
#define TAEDA_POOL_WITH_INDICES(name, Options) \
  TAEDA_POOL(name, Options)                    \
  TORCH_API std::tuple<Tensor, Tensor> name##_with_indices(const Tensor& input, const Options& options);
#define TAEDA_UNPOOL(name, Options) \
  TORCH_API Tensor name(const Tensor& input, const Tensor& indices, const Options& options);
TAEDA_POOL(avg_pool1d, AvgPool1dFuncOptions)
TAEDA_POOL(avg_pool2d, AvgPool2dFuncOptions)
TAEDA_POOL(avg_pool3d, AvgPool3dFuncOptions)
TAEDA_POOL_WITH_INDICES(max_pool1d, MaxPool1dFuncOptions)
TAEDA_POOL_WITH_INDICES(max_pool2d, MaxPool2dFuncOptions)
TAEDA_POOL_WITH_INDICES(max_pool3d, MaxPool3dFuncOptions)
TAEDA_POOL_WITH_INDICES(adaptive_max_pool1d, AdaptiveMaxPool1dFuncOptions)
TAEDA_POOL_WITH_INDICES(adaptive_max_pool2d, AdaptiveMaxPool2dFuncOptions)
TAEDA_POOL_WITH_INDICES(adaptive_max_pool3d, AdaptiveMaxPool3dFuncOptions)
TAEDA_POOL(adaptive_avg_pool1d, AdaptiveAvgPool1dFuncOptions)
TAEDA_POOL(adaptive_avg_pool2d, AdaptiveAvgPool2dFuncOptions)
TAEDA_POOL(adaptive_avg_pool3d, AdaptiveAvgPool3dFuncOptions)
TAEDA_UNPOOL(max_unpool1d, MaxUnpool1dFuncOptions)
TAEDA_UNPOOL(max_unpool2d, MaxUnpool2dFuncOptions)
TAEDA_UNPOOL(max_unpool3d, MaxUnpool3dFuncOptions)
TAEDA_POOL_WITH_INDICES(fractional_max_pool2d, FractionalMaxPool2dFuncOptions)
TAEDA_POOL_WITH_INDICES(fractional_max_pool3d, FractionalMaxPool3dFuncOptions)
TAEDA_POOL(lp_pool1d, LPPool1dFuncOptions)
TAEDA_POOL(lp_pool2d, LPPool2dFuncOptions)
TAEDA_POOL(lp_pool3d, LPPool3dFuncOptions)
#undef TAEDA_POOL
#undef TAEDA_POOL_WITH_INDICES
#undef TAEDA_UNPOOL

}  // namespace functional
}  // namespace torch::nn
#undef TAEDA_POOL_NAMES
#undef TAEDA_POOL_FUNCTION_NAMES
