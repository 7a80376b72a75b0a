// What all classes of options use.
#pragma once
#include <torch/arg.h>
#include <torch/enum.h>
#include <torch/expanding_array.h>
#include <torch/types.h>

// Options whose only argument, or first one, is the constructor's, too.
#define TAEDA_OPTIONS_OF(Name, T, field) \
  Name(T field) : field##_(std::move(field)) {}

namespace torch::nn {
// How a loss over many elements becomes one number.
using LossReduction = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
// How borders are filled.
using PaddingMode = std::variant<enumtype::kZeros, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
}  // namespace torch::nn
