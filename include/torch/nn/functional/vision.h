// Sampling of images at given places, as functions, and its options.
#pragma once
#include <torch/nn/options_base.h>

namespace torch::nn::functional {

struct GridSampleFuncOptions {
  using mode_t = std::variant<enumtype::kBilinear, enumtype::kNearest>;
  using padding_mode_t = std::variant<enumtype::kZeros, enumtype::kBorder, enumtype::kReflection>;
  TAEDA_WORD_ARG(mode_t, mode, kBilinear);
  TAEDA_WORD_ARG(padding_mode_t, padding_mode, kZeros);
  TORCH_ARG(std::optional<bool>, align_corners) = std::nullopt;
};
TORCH_API Tensor affine_grid(const Tensor& theta, const IntArrayRef& size, bool align_corners = false);
TORCH_API Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options = {});

}  // namespace torch::nn::functional
