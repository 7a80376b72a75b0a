// Words among options: torch::kMean, torch::kReflect. Each is a type of its own, so that a variant lists what an option
// may be.
#pragma once
#include <string>
#include <variant>

#include <ATen/core/Reduction.h>
#include <c10/util/Exception.h>

// clang-format off
#define TAEDA_FORALL_OPTION_WORDS(_)                                                                                   \
  _(Linear) _(Conv1D) _(Conv2D) _(Conv3D) _(ConvTranspose1D) _(ConvTranspose2D) _(ConvTranspose3D) _(Sigmoid) _(Tanh)  \
  _(ReLU) _(GELU) _(SiLU) _(Mish) _(LeakyReLU) _(FanIn) _(FanOut) _(Constant) _(Reflect) _(Replicate) _(Circular)      \
  _(Nearest) _(Bilinear) _(Bicubic) _(Trilinear) _(Area) _(NearestExact) _(Sum) _(Mean) _(Max) _(None) _(BatchMean)    \
  _(Zeros) _(Border) _(Reflection) _(RNN_TANH) _(RNN_RELU) _(LSTM) _(GRU) _(Valid) _(Same)
// clang-format on

namespace torch {
namespace enumtype {
#define TAEDA_OPTION_WORD(name)                \
  struct k##name {                             \
    static constexpr const char* word = #name; \
  };
TAEDA_FORALL_OPTION_WORDS(TAEDA_OPTION_WORD)
#undef TAEDA_OPTION_WORD

// "kMean" of a variant that holds it.
template <class Variant>
std::string get_enum_name(const Variant& words) {
  return std::visit([](const auto& word) { return std::string("k") + word.word; }, words);
}
// at::Reduction's number.
template <class Variant>
int64_t reduction_get_enum(const Variant& words) {
  std::string name = get_enum_name(words);
  if (name == "kNone") return at::Reduction::None;
  if (name == "kMean") return at::Reduction::Mean;
  if (name == "kSum") return at::Reduction::Sum;
  AT_ERROR(name, " is no way to reduce a loss: kNone, kMean and kSum are");
}
}  // namespace enumtype

#define TAEDA_OPTION_WORD(name) inline constexpr enumtype::k##name k##name{};
TAEDA_FORALL_OPTION_WORDS(TAEDA_OPTION_WORD)
#undef TAEDA_OPTION_WORD
}  // namespace torch
