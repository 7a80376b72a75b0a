// Pooling.
#pragma once
#include <torch/nn/functional/pooling.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {

// A module with forward_with_indices, too, whose indices MaxUnpool takes.
#define TAEDA_INDEXED_POOL(Name)                                          \
  class TORCH_API Name##Impl : public Cloneable<Name##Impl> {             \
   public:                                                                \
    TAEDA_MADE_OF(Name);                                                  \
    void reset() override;                                                \
    void pretty_print(std::ostream& stream) const override;               \
    Tensor forward(const Tensor& input);                                  \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input); \
  };                                                                      \
  TORCH_MODULE(Name)
// One that undoes it.
#define TAEDA_UNPOOL(Name)                                                                 \
  class TORCH_API Name##Impl : public Cloneable<Name##Impl> {                              \
   public:                                                                                 \
    TAEDA_MADE_OF(Name);                                                                   \
    void reset() override;                                                                 \
    void pretty_print(std::ostream& stream) const override;                                \
    Tensor forward(const Tensor& input, const Tensor& indices,                             \
                   const std::optional<std::vector<int64_t>>& output_size = std::nullopt); \
                                                                                           \
   protected:                                                                              \
    TAEDA_DEFAULT_ARGS;                                                                    \
  };                                                                                       \
  TORCH_MODULE(Name)
#define TAEDA_POOL_MODULES(D)                                     \
  TAEDA_PLAIN_MODULE(AvgPool##D##d, const Tensor& input);         \
  TAEDA_INDEXED_POOL(MaxPool##D##d);                              \
  TAEDA_INDEXED_POOL(AdaptiveMaxPool##D##d);                      \
  TAEDA_PLAIN_MODULE(AdaptiveAvgPool##D##d, const Tensor& input); \
  TAEDA_UNPOOL(MaxUnpool##D##d);                                  \
  TAEDA_PLAIN_MODULE(LPPool##D##d, const Tensor& input)
TAEDA_POOL_MODULES(1);
TAEDA_POOL_MODULES(2);
TAEDA_POOL_MODULES(3);
TAEDA_INDEXED_POOL(FractionalMaxPool2d);
TAEDA_INDEXED_POOL(FractionalMaxPool3d);
#undef TAEDA_INDEXED_POOL
#undef TAEDA_UNPOOL
#undef TAEDA_POOL_MODULES

}  // namespace torch::nn
