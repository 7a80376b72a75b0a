// Convolutions.
#pragma once
#include <torch/nn/functional/conv.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {

// What convolutions of D dimensions share. Parameters: weight (out, in / groups, kernel...), transposed (in, out /
// groups, kernel...); bias (out) or undefined.
template <size_t D, class Derived>
class ConvNdImpl : public Cloneable<Derived> {
 public:
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  detail::ConvNdOptions<D> options;
  Tensor weight, bias;

 protected:
  explicit ConvNdImpl(detail::ConvNdOptions<D> options_);
  ConvNdImpl(const ConvOptions<D>& made_of);
  ConvNdImpl(const ConvTransposeOptions<D>& made_of);
  // How much `forward` pads by itself where the convolution cannot: the last dimension first, before and after.
  std::vector<int64_t> _reversed_padding_repeated_twice;
};

#define TAEDA_CONV_MODULE(D)                                                                                 \
  class TORCH_API Conv##D##dImpl : public ConvNdImpl<D, Conv##D##dImpl> {                                    \
   public:                                                                                                   \
    Conv##D##dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<D> kernel_size);          \
    explicit Conv##D##dImpl(const Conv##D##dOptions& options_);                                              \
    Tensor forward(const Tensor& input);                                                                     \
  };                                                                                                         \
  TORCH_MODULE(Conv##D##d);                                                                                  \
  class TORCH_API ConvTranspose##D##dImpl : public ConvNdImpl<D, ConvTranspose##D##dImpl> {                  \
   public:                                                                                                   \
    ConvTranspose##D##dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<D> kernel_size); \
    explicit ConvTranspose##D##dImpl(const ConvTranspose##D##dOptions& options_);                            \
    Tensor forward(const Tensor& input, const std::optional<at::IntArrayRef>& output_size = std::nullopt);   \
                                                                                                             \
   protected:                                                                                                \
    TAEDA_DEFAULT_ARGS;                                                                                      \
  };                                                                                                         \
  TORCH_MODULE(ConvTranspose##D##d)
TAEDA_COMPILED_MODULE(Conv1d);
TAEDA_COMPILED_MODULE(Conv2d);
TAEDA_COMPILED_MODULE(Conv3d);
TAEDA_COMPILED_MODULE(ConvTranspose1d);
TAEDA_COMPILED_MODULE(ConvTranspose2d);
TAEDA_COMPILED_MODULE(ConvTranspose3d);
extern template class TORCH_API ConvNdImpl<1, Conv1dImpl>;
extern template class TORCH_API ConvNdImpl<2, Conv2dImpl>;
extern template class TORCH_API ConvNdImpl<3, Conv3dImpl>;
extern template class TORCH_API ConvNdImpl<1, ConvTranspose1dImpl>;
extern template class TORCH_API ConvNdImpl<2, ConvTranspose2dImpl>;
extern template class TORCH_API ConvNdImpl<3, ConvTranspose3dImpl>;
TAEDA_CONV_MODULE(1);
TAEDA_CONV_MODULE(2);
TAEDA_CONV_MODULE(3);
#undef TAEDA_CONV_MODULE

}  // namespace torch::nn
