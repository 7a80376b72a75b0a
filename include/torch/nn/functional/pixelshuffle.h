// Channels to pixels and back, as functions, and their options.
#pragma once
#include <torch/nn/options_base.h>

namespace torch::nn {

struct PixelShuffleOptions {
  TAEDA_OPTIONS_OF(PixelShuffleOptions, int64_t, upscale_factor)
  TORCH_ARG(int64_t, upscale_factor);
};
struct PixelUnshuffleOptions {
  TAEDA_OPTIONS_OF(PixelUnshuffleOptions, int64_t, downscale_factor)
  TORCH_ARG(int64_t, downscale_factor);
};

namespace functional {
using PixelShuffleFuncOptions = PixelShuffleOptions;
using PixelUnshuffleFuncOptions = PixelUnshuffleOptions;
TORCH_API Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& options);
TORCH_API Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& options);
}  // namespace functional
}  // namespace torch::nn
