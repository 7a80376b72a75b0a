#include <torch/nn/modules/pooling.h>

#include "frontend/nn/printed.h"

namespace torch::nn {

namespace F = functional;

#define TAEDA_POOL(Name, function, ...)                                                   \
  void Name##Impl::reset() {}                                                             \
  Tensor Name##Impl::forward(const Tensor& input) { return F::function(input, options); } \
  void Name##Impl::pretty_print(std::ostream& stream) const {                             \
    Printed text(stream, #Name);                                                          \
    text __VA_ARGS__;                                                                     \
  }
#define TAEDA_INDEXED(Name, function)                                                \
  std::tuple<Tensor, Tensor> Name##Impl::forward_with_indices(const Tensor& input) { \
    return F::function##_with_indices(input, options);                               \
  }
#define TAEDA_WINDOW .arg("kernel_size", options.kernel_size()).arg("stride", options.stride())
#define TAEDA_POOLS(D)                                                                                   \
  TAEDA_POOL(AvgPool##D##d, avg_pool##D##d, TAEDA_WINDOW.arg("padding", options.padding()))              \
  TAEDA_POOL(MaxPool##D##d, max_pool##D##d,                                                              \
             TAEDA_WINDOW.arg("padding", options.padding())                                              \
                 .arg("dilation", options.dilation())                                                    \
                 .arg("ceil_mode", options.ceil_mode()))                                                 \
  TAEDA_INDEXED(MaxPool##D##d, max_pool##D##d)                                                           \
  TAEDA_POOL(AdaptiveMaxPool##D##d, adaptive_max_pool##D##d, .arg("output_size", options.output_size())) \
  TAEDA_INDEXED(AdaptiveMaxPool##D##d, adaptive_max_pool##D##d)                                          \
  TAEDA_POOL(AdaptiveAvgPool##D##d, adaptive_avg_pool##D##d, .arg("output_size", options.output_size())) \
  TAEDA_POOL(LPPool##D##d, lp_pool##D##d,                                                                \
             .arg("norm_type", options.norm_type()) TAEDA_WINDOW.arg("ceil_mode", options.ceil_mode()))  \
  void MaxUnpool##D##dImpl::reset() {}                                                                   \
  Tensor MaxUnpool##D##dImpl::forward(const Tensor& input, const Tensor& indices,                        \
                                      const std::optional<std::vector<int64_t>>& output_size) {          \
    return F::max_unpool##D##d(input, indices,                                                           \
                               F::MaxUnpool##D##dFuncOptions(options.kernel_size())                      \
                                   .stride(options.stride())                                             \
                                   .padding(options.padding())                                           \
                                   .output_size(output_size));                                           \
  }                                                                                                      \
  void MaxUnpool##D##dImpl::pretty_print(std::ostream& stream) const {                                   \
    Printed text(stream, "MaxUnpool" #D "d");                                                            \
    text TAEDA_WINDOW.arg("padding", options.padding());                                                 \
  }
TAEDA_POOLS(1)
TAEDA_POOLS(2)
TAEDA_POOLS(3)

#define TAEDA_FRACTIONAL(D)                                                                       \
  void FractionalMaxPool##D##dImpl::reset() {                                                     \
    TORCH_CHECK(options.output_size() || options.output_ratio(),                                  \
                "FractionalMaxPool" #D "d: takes output_size or output_ratio; got neither");      \
    TORCH_CHECK(!(options.output_size() && options.output_ratio()),                               \
                "FractionalMaxPool" #D "d: takes output_size or output_ratio; got both");         \
    if (options.output_ratio())                                                                   \
      for (double ratio : **options.output_ratio())                                               \
        TORCH_CHECK(ratio > 0 && ratio < 1, "output_ratio must be between 0 and 1; got ", ratio); \
  }                                                                                               \
  Tensor FractionalMaxPool##D##dImpl::forward(const Tensor& input) {                              \
    return F::fractional_max_pool##D##d(input, options);                                          \
  }                                                                                               \
  TAEDA_INDEXED(FractionalMaxPool##D##d, fractional_max_pool##D##d)                               \
  void FractionalMaxPool##D##dImpl::pretty_print(std::ostream& stream) const {                    \
    Printed(stream, "FractionalMaxPool" #D "d");                                                  \
  }
TAEDA_FRACTIONAL(2)
TAEDA_FRACTIONAL(3)

}  // namespace torch::nn
