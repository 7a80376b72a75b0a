#include <torch/nn/modules/conv.h>

#include <cmath>

#include <torch/nn/functional/padding.h>
#include <torch/nn/init.h>

#include "frontend/nn/printed.h"

namespace torch::nn {

namespace F = functional;

namespace {

template <size_t D>
detail::ConvNdOptions<D> common(const ConvOptions<D>& o) {
  return detail::ConvNdOptions<D>(o.in_channels(), o.out_channels(), o.kernel_size())
      .stride(o.stride())
      .padding(o.padding())
      .dilation(o.dilation())
      .groups(o.groups())
      .bias(o.bias())
      .padding_mode(o.padding_mode());
}
template <size_t D>
detail::ConvNdOptions<D> common(const ConvTransposeOptions<D>& o) {
  return detail::ConvNdOptions<D>(o.in_channels(), o.out_channels(), o.kernel_size())
      .stride(o.stride())
      .padding(o.padding())
      .dilation(o.dilation())
      .transposed(true)
      .output_padding(o.output_padding())
      .groups(o.groups())
      .bias(o.bias())
      .padding_mode(o.padding_mode());
}

template <size_t D>
const ExpandingArray<D>* numbers_of(const ConvPadding<D>& padding) {
  return std::get_if<ExpandingArray<D>>(&padding);
}

}  // namespace

template <size_t D, class Derived>
ConvNdImpl<D, Derived>::ConvNdImpl(detail::ConvNdOptions<D> options_) : options(std::move(options_)) {
  ConvNdImpl::reset();
}
template <size_t D, class Derived>
ConvNdImpl<D, Derived>::ConvNdImpl(const ConvOptions<D>& made_of) : ConvNdImpl(common(made_of)) {}
template <size_t D, class Derived>
ConvNdImpl<D, Derived>::ConvNdImpl(const ConvTransposeOptions<D>& made_of) : ConvNdImpl(common(made_of)) {}

template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::reset() {
  const auto& o = options;
  TORCH_CHECK(o.in_channels() > 0 && o.groups() > 0 && o.out_channels() > 0,
              "convolution: numbers of channels and groups are above 0; got in_channels ", o.in_channels(),
              ", out_channels ", o.out_channels(), " and groups ", o.groups());
  TORCH_CHECK(o.in_channels() % o.groups() == 0, "in_channels must be divisible by groups; got ", o.in_channels(),
              " and ", o.groups());
  TORCH_CHECK(o.out_channels() % o.groups() == 0, "out_channels must be divisible by groups; got ", o.out_channels(),
              " and ", o.groups());
  _reversed_padding_repeated_twice.clear();
  for (size_t i = D; i-- > 0;) {
    int64_t before = 0, after = 0;
    if (auto* numbers = numbers_of<D>(o.padding())) {
      before = after = (*numbers)[i];
    } else if (std::holds_alternative<enumtype::kSame>(o.padding())) {
      TORCH_CHECK(o.stride()[i] == 1, "convolution: padding 'same' keeps sizes, which stride ", o.stride()[i],
                  " does not");
      int64_t total = o.dilation()[i] * (o.kernel_size()[i] - 1);
      before = total / 2;
      after = total - before;
    }
    _reversed_padding_repeated_twice.push_back(before);
    _reversed_padding_repeated_twice.push_back(after);
  }
  std::vector<int64_t> sizes = o.transposed() ? std::vector<int64_t>{o.in_channels(), o.out_channels() / o.groups()}
                                              : std::vector<int64_t>{o.out_channels(), o.in_channels() / o.groups()};
  sizes.insert(sizes.end(), o.kernel_size()->begin(), o.kernel_size()->end());
  weight = this->register_parameter("weight", torch::empty(sizes));
  bias = o.bias() ? this->register_parameter("bias", torch::empty(o.out_channels()))
                  : this->register_parameter("bias", Tensor(), false);
  reset_parameters();
}
template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  double bound = 1 / std::sqrt(static_cast<double>(std::get<0>(init::_calculate_fan_in_and_fan_out(weight))));
  init::uniform_(bias, -bound, bound);
}
template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  const auto& o = options;
  Printed text(stream, c10::str(o.transposed() ? "ConvTranspose" : "Conv", D, "d"));
  text.bare(o.in_channels()).bare(o.out_channels()).arg("kernel_size", o.kernel_size()).arg("stride", o.stride());
  if (auto* numbers = numbers_of<D>(o.padding()))
    text.arg_unless("padding", *numbers, ExpandingArray<D>(0));
  else
    text.arg("padding", std::holds_alternative<enumtype::kSame>(o.padding()) ? "'same'" : "'valid'");
  text.arg_unless("dilation", o.dilation(), ExpandingArray<D>(1))
      .arg_unless("output_padding", o.output_padding(), ExpandingArray<D>(0))
      .arg_unless("groups", o.groups(), int64_t{1})
      .arg_unless("bias", o.bias(), true)
      .arg_unless("padding_mode", enumtype::get_enum_name(o.padding_mode()), std::string("kZeros"));
}

namespace {

// Pads as the convolution itself cannot.
template <class PaddingMode>
Tensor padded(const Tensor& input, const std::vector<int64_t>& amounts, const PaddingMode& mode) {
  F::PadFuncOptions to(amounts);
  std::string word = enumtype::get_enum_name(mode);
  if (word == "kReflect") to.mode(kReflect);
  if (word == "kReplicate") to.mode(kReplicate);
  if (word == "kCircular") to.mode(kCircular);
  return F::pad(input, to);
}

// What output_padding gives an output of the wanted size.
template <size_t D>
std::vector<int64_t> output_padding(const Tensor& input, const std::optional<IntArrayRef>& output_size,
                                    const detail::ConvNdOptions<D>& o) {
  if (!output_size) return IntArrayRef(o.output_padding()).vec();
  IntArrayRef wanted = *output_size;
  if (wanted.size() == D + 2) wanted = wanted.slice(2);
  TORCH_CHECK(wanted.size() == D, "transposed convolution: output_size has ", D, " or ", D + 2, " sizes; got ", wanted);
  const auto& padding = std::get<ExpandingArray<D>>(o.padding());
  std::vector<int64_t> made;
  for (size_t i = 0; i < D; ++i) {
    int64_t least = (input.size(static_cast<int64_t>(i) + 2) - 1) * o.stride()[i] - 2 * padding[i] +
                    o.dilation()[i] * (o.kernel_size()[i] - 1) + 1;
    int64_t most = least + o.stride()[i] - 1;
    TORCH_CHECK(wanted[i] >= least && wanted[i] <= most, "transposed convolution: dimension ", i, " can become ", least,
                " to ", most, "; got the output size ", wanted);
    made.push_back(wanted[i] - least);
  }
  return made;
}

}  // namespace

#define TAEDA_CONV(D)                                                                                               \
  Conv##D##dImpl::Conv##D##dImpl(int64_t in, int64_t out, ExpandingArray<D> kernel_size)                            \
      : Conv##D##dImpl(Conv##D##dOptions(in, out, kernel_size)) {}                                                  \
  Conv##D##dImpl::Conv##D##dImpl(const Conv##D##dOptions& options_) : ConvNdImpl(options_) {}                       \
  Tensor Conv##D##dImpl::forward(const Tensor& input) {                                                             \
    F::Conv##D##dFuncOptions to;                                                                                    \
    to.bias(bias).stride(options.stride()).dilation(options.dilation()).groups(options.groups());                   \
    if (std::holds_alternative<enumtype::kZeros>(options.padding_mode()))                                           \
      return F::conv##D##d(input, weight, to.padding(options.padding()));                                           \
    return F::conv##D##d(padded(input, _reversed_padding_repeated_twice, options.padding_mode()), weight, to);      \
  }                                                                                                                 \
  ConvTranspose##D##dImpl::ConvTranspose##D##dImpl(int64_t in, int64_t out, ExpandingArray<D> kernel_size)          \
      : ConvTranspose##D##dImpl(ConvTranspose##D##dOptions(in, out, kernel_size)) {}                                \
  ConvTranspose##D##dImpl::ConvTranspose##D##dImpl(const ConvTranspose##D##dOptions& options_)                      \
      : ConvNdImpl(options_) {}                                                                                     \
  Tensor ConvTranspose##D##dImpl::forward(const Tensor& input, const std::optional<at::IntArrayRef>& output_size) { \
    TORCH_CHECK(std::holds_alternative<enumtype::kZeros>(options.padding_mode()),                                   \
                "ConvTranspose" #D "d: pads with zeros alone");                                                     \
    return F::conv_transpose##D##d(input, weight,                                                                   \
                                   F::ConvTranspose##D##dFuncOptions()                                              \
                                       .bias(bias)                                                                  \
                                       .stride(options.stride())                                                    \
                                       .padding(std::get<ExpandingArray<D>>(options.padding()))                     \
                                       .output_padding(output_padding(input, output_size, options))                 \
                                       .groups(options.groups())                                                    \
                                       .dilation(options.dilation()));                                              \
  }                                                                                                                 \
  template class Cloneable<Conv##D##dImpl>;                                                                         \
  template class Cloneable<ConvTranspose##D##dImpl>;                                                                \
  template class ConvNdImpl<D, Conv##D##dImpl>;                                                                     \
  template class ConvNdImpl<D, ConvTranspose##D##dImpl>;
TAEDA_CONV(1)
TAEDA_CONV(2)
TAEDA_CONV(3)

}  // namespace torch::nn
