// Blocks of images to columns and back, as functions, and their options.
#pragma once
#include <torch/nn/options_base.h>

namespace torch::nn {

struct FoldOptions {
  FoldOptions(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : output_size_(std::move(output_size)), kernel_size_(std::move(kernel_size)) {}
  TORCH_ARG(ExpandingArray<2>, output_size);
  TORCH_ARG(ExpandingArray<2>, kernel_size);
  TORCH_ARG(ExpandingArray<2>, dilation) = 1;
  TORCH_ARG(ExpandingArray<2>, padding) = 0;
  TORCH_ARG(ExpandingArray<2>, stride) = 1;
};
struct UnfoldOptions {
  TAEDA_OPTIONS_OF(UnfoldOptions, ExpandingArray<2>, kernel_size)
  TORCH_ARG(ExpandingArray<2>, kernel_size);
  TORCH_ARG(ExpandingArray<2>, dilation) = 1;
  TORCH_ARG(ExpandingArray<2>, padding) = 0;
  TORCH_ARG(ExpandingArray<2>, stride) = 1;
};

namespace functional {
using FoldFuncOptions = FoldOptions;
using UnfoldFuncOptions = UnfoldOptions;
TORCH_API Tensor fold(const Tensor& input, const FoldFuncOptions& options);
TORCH_API Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options);
}  // namespace functional
}  // namespace torch::nn
