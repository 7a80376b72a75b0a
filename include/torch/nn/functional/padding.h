// Padding as a function, and its options.
#pragma once
#include <torch/nn/options_base.h>

namespace torch::nn {

// Of D dimensions: how much before and after each, the last dimension first.
#define TAEDA_PAD_OPTIONS(Name)                                                  \
  template <size_t D>                                                            \
  struct Name##Options {                                                         \
    TAEDA_OPTIONS_OF(Name##Options, ExpandingArray<D * 2>, padding)              \
    Name##Options(std::initializer_list<int64_t> padding) : padding_(padding) {} \
    Name##Options(int64_t padding) : padding_(padding) {}                        \
    TORCH_ARG(ExpandingArray<D * 2>, padding);                                   \
  };                                                                             \
  using Name##1dOptions = Name##Options<1>;                                      \
  using Name##2dOptions = Name##Options<2>;                                      \
  using Name##3dOptions = Name##Options<3>;
TAEDA_PAD_OPTIONS(ReflectionPad)
TAEDA_PAD_OPTIONS(ReplicationPad)
TAEDA_PAD_OPTIONS(ZeroPad)
#undef TAEDA_PAD_OPTIONS
template <size_t D>
struct ConstantPadOptions {
  ConstantPadOptions(ExpandingArray<D * 2> padding, double value) : padding_(std::move(padding)), value_(value) {}
  TORCH_ARG(ExpandingArray<D * 2>, padding);
  TORCH_ARG(double, value);
};
using ConstantPad1dOptions = ConstantPadOptions<1>;
using ConstantPad2dOptions = ConstantPadOptions<2>;
using ConstantPad3dOptions = ConstantPadOptions<3>;

namespace functional {

struct PadFuncOptions {
  using mode_t = std::variant<enumtype::kConstant, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
  template <class = void>
  TAEDA_OPTIONS_OF(PadFuncOptions, std::vector<int64_t>, pad)
  TORCH_ARG(std::vector<int64_t>, pad);
  TAEDA_WORD_ARG(mode_t, mode, kConstant);
  TORCH_ARG(double, value) = 0;
};
TORCH_API Tensor pad(const Tensor& input, const PadFuncOptions& options);

}  // namespace functional
}  // namespace torch::nn
