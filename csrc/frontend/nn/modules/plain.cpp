// Modules without parameters: each calls the function of its name.
#include <torch/nn/modules.h>

#include "frontend/nn/printed.h"
#include "frontend/nn/probability.h"

namespace torch::nn {

namespace F = functional;

// A module that passes its options on, and one whose function needs none.
#define TAEDA_PASS_ON(Name, ...) \
  void Name##Impl::reset() {}    \
  TAEDA_CALLS(Name, __VA_ARGS__)
#define TAEDA_CALLS(Name, function, ...)                                                  \
  Tensor Name##Impl::forward(const Tensor& input) { return F::function(input, options); } \
  void Name##Impl::pretty_print(std::ostream& stream) const {                             \
    Printed text(stream, #Name);                                                          \
    text __VA_ARGS__;                                                                     \
  }
#define TAEDA_BARE(Name, expression)                                     \
  Tensor Name##Impl::forward(const Tensor& input) { return expression; } \
  void Name##Impl::pretty_print(std::ostream& stream) const { Printed(stream, #Name); }
#define TAEDA_INPLACE .arg_unless("inplace", options.inplace(), false)

// --- activations
TAEDA_PASS_ON(ELU, elu, .arg("alpha", options.alpha()) TAEDA_INPLACE)
TAEDA_PASS_ON(SELU, selu, TAEDA_INPLACE)
TAEDA_PASS_ON(CELU, celu, .arg("alpha", options.alpha()) TAEDA_INPLACE)
TAEDA_PASS_ON(GLU, glu, .arg("dim", options.dim()))
TAEDA_PASS_ON(GELU, gelu, .arg_unless("approximate", options.approximate(), std::string("none")))
TAEDA_PASS_ON(Hardshrink, hardshrink, .bare(options.lambda()))
void HardtanhImpl::reset() {
  TORCH_CHECK(options.min_val() < options.max_val(), "Hardtanh: min_val is below max_val; got ", options.min_val(),
              " and ", options.max_val());
}
TAEDA_CALLS(Hardtanh, hardtanh, .arg("min_val", options.min_val()).arg("max_val", options.max_val()) TAEDA_INPLACE)
TAEDA_PASS_ON(LeakyReLU, leaky_relu, .arg("negative_slope", options.negative_slope()) TAEDA_INPLACE)
TAEDA_PASS_ON(ReLU, relu, TAEDA_INPLACE)
TAEDA_PASS_ON(ReLU6, relu6, TAEDA_INPLACE)
TAEDA_PASS_ON(Softplus, softplus, .arg("beta", options.beta()).arg("threshold", options.threshold()))
TAEDA_PASS_ON(Softshrink, softshrink, .bare(options.lambda()))
TAEDA_PASS_ON(Threshold, threshold, .arg("threshold", options.threshold()).arg("value", options.value()) TAEDA_INPLACE)
TAEDA_BARE(LogSigmoid, F::logsigmoid(input))
TAEDA_BARE(Sigmoid, input.sigmoid())
TAEDA_BARE(Softsign, F::softsign(input))
TAEDA_BARE(Tanh, input.tanh())
TAEDA_BARE(Tanhshrink, F::tanhshrink(input))
TAEDA_BARE(SiLU, F::silu(input))
TAEDA_BARE(Mish, F::mish(input))
TAEDA_BARE(Identity, input)

#define TAEDA_SOFTMAX(Name, function)                                                           \
  void Name##Impl::reset() {}                                                                   \
  Tensor Name##Impl::forward(const Tensor& input) { return F::function(input, options.dim()); } \
  void Name##Impl::pretty_print(std::ostream& stream) const { Printed(stream, #Name).arg("dim", options.dim()); }
TAEDA_SOFTMAX(Softmax, softmax)
TAEDA_SOFTMAX(Softmin, softmin)
TAEDA_SOFTMAX(LogSoftmax, log_softmax)
Tensor Softmax2dImpl::forward(const Tensor& input) {
  TORCH_CHECK(input.dim() == 4 || input.dim() == 3, "Softmax2d requires a 3D or 4D tensor as input; got ",
              input.sizes());
  return F::softmax(input, -3);
}
void Softmax2dImpl::pretty_print(std::ostream& stream) const { Printed(stream, "Softmax2d"); }

void RReLUImpl::reset() {}
Tensor RReLUImpl::forward(const Tensor& input) {
  return F::rrelu(input, F::RReLUFuncOptions()
                             .lower(options.lower())
                             .upper(options.upper())
                             .training(is_training())
                             .inplace(options.inplace()));
}
void RReLUImpl::pretty_print(std::ostream& stream) const {
  Printed text(stream, "RReLU");
  text.arg("lower", options.lower()).arg("upper", options.upper()) TAEDA_INPLACE;
}

// --- form alone
void FlattenImpl::reset() {}
Tensor FlattenImpl::forward(const Tensor& input) { return input.flatten(options.start_dim(), options.end_dim()); }
void FlattenImpl::pretty_print(std::ostream& stream) const {
  Printed(stream, "Flatten").arg("start_dim", options.start_dim()).arg("end_dim", options.end_dim());
}
void UnflattenImpl::reset() {}
Tensor UnflattenImpl::forward(const Tensor& input) {
  if (options.dimname().empty()) return input.unflatten(options.dim(), options.sizes());
  auto named = [](const std::string& name) { return at::Dimname::fromSymbol(c10::Symbol::dimname(name)); };
  std::vector<int64_t> sizes;
  std::vector<at::Dimname> names;
  for (const auto& [name, size] : options.namedshape()) {
    names.push_back(named(name));
    sizes.push_back(size);
  }
  return input.unflatten(named(options.dimname()), sizes, names);
}
void UnflattenImpl::pretty_print(std::ostream& stream) const {
  if (!options.dimname().empty()) {
    std::string shape;
    for (const auto& [name, size] : options.namedshape())
      shape += c10::str(shape.empty() ? "{\"" : ", {\"", name, "\", ", size, "}");
    Printed(stream, "Unflatten").arg("dim", "\"" + options.dimname() + "\"").arg("unflattened_size", "{" + shape + "}");
    return;
  }
  std::string sizes = c10::str(IntArrayRef(options.sizes()));
  sizes.front() = '{';
  sizes.back() = '}';
  Printed(stream, "Unflatten").arg("dim", options.dim()).arg("unflattened_size", sizes);
}
TAEDA_PASS_ON(PixelShuffle, pixel_shuffle, .arg("upscale_factor", options.upscale_factor()))
TAEDA_PASS_ON(PixelUnshuffle, pixel_unshuffle, .arg("downscale_factor", options.downscale_factor()))
#define TAEDA_BLOCKS                         \
  .arg("kernel_size", options.kernel_size()) \
      .arg("dilation", options.dilation())   \
      .arg("padding", options.padding())     \
      .arg("stride", options.stride())
TAEDA_PASS_ON(Fold, fold, .arg("output_size", options.output_size()) TAEDA_BLOCKS)
TAEDA_PASS_ON(Unfold, unfold, TAEDA_BLOCKS)

void UpsampleImpl::reset() {}
Tensor UpsampleImpl::forward(const Tensor& input) {
  F::InterpolateFuncOptions to;
  to.size(options.size()).scale_factor(options.scale_factor()).align_corners(options.align_corners());
  std::visit([&](const auto& word) { to.mode(word); }, options.mode());
  return F::interpolate(input, to);
}
void UpsampleImpl::pretty_print(std::ostream& stream) const {
  Printed text(stream, "Upsample");
  if (options.scale_factor())
    text.arg("scale_factor", ArrayRef<double>(*options.scale_factor()));
  else
    text.arg("size", IntArrayRef(options.size().value()));
  text.arg("mode", enumtype::get_enum_name(options.mode()));
}

// --- padding
#define TAEDA_PAD(Name, D, word)                                                              \
  void Name##D##dImpl::reset() {}                                                             \
  Tensor Name##D##dImpl::forward(const Tensor& input) {                                       \
    return F::pad(input, F::PadFuncOptions(IntArrayRef(options.padding()).vec()).mode(word)); \
  }                                                                                           \
  void Name##D##dImpl::pretty_print(std::ostream& stream) const {                             \
    Printed(stream, #Name #D "d").arg("padding", IntArrayRef(options.padding()));             \
  }
#define TAEDA_PADS(D)                                                                                     \
  TAEDA_PAD(ReflectionPad, D, kReflect)                                                                   \
  TAEDA_PAD(ReplicationPad, D, kReplicate)                                                                \
  TAEDA_PAD(ZeroPad, D, kConstant)                                                                        \
  void ConstantPad##D##dImpl::reset() {}                                                                  \
  Tensor ConstantPad##D##dImpl::forward(const Tensor& input) {                                            \
    return F::pad(input, F::PadFuncOptions(IntArrayRef(options.padding()).vec()).value(options.value())); \
  }                                                                                                       \
  void ConstantPad##D##dImpl::pretty_print(std::ostream& stream) const {                                  \
    Printed(stream, "ConstantPad" #D "d")                                                                 \
        .arg("padding", IntArrayRef(options.padding()))                                                   \
        .arg("value", options.value());                                                                   \
  }
TAEDA_PADS(1)
TAEDA_PADS(2)
TAEDA_PADS(3)

// --- dropout
#define TAEDA_DROPOUT(Name, function, Options)                                                                 \
  void Name##Impl::reset() { check_probability(options.p(), #Name); }                                          \
  Tensor Name##Impl::forward(const Tensor& input) {                                                            \
    return F::function(input, F::Options().p(options.p()).training(is_training()).inplace(options.inplace())); \
  }                                                                                                            \
  void Name##Impl::pretty_print(std::ostream& stream) const {                                                  \
    Printed(stream, #Name).arg("p", options.p()).arg("inplace", options.inplace());                            \
  }
TAEDA_DROPOUT(Dropout, dropout, DropoutFuncOptions)
TAEDA_DROPOUT(Dropout2d, dropout2d, Dropout2dFuncOptions)
TAEDA_DROPOUT(Dropout3d, dropout3d, Dropout3dFuncOptions)
TAEDA_DROPOUT(AlphaDropout, alpha_dropout, AlphaDropoutFuncOptions)
TAEDA_DROPOUT(FeatureAlphaDropout, feature_alpha_dropout, FeatureAlphaDropoutFuncOptions)

// --- distances
#define TAEDA_DISTANCE(Name, function, ...)                                \
  void Name##Impl::reset() {}                                              \
  Tensor Name##Impl::forward(const Tensor& input1, const Tensor& input2) { \
    return F::function(input1, input2, options);                           \
  }                                                                        \
  void Name##Impl::pretty_print(std::ostream& stream) const {              \
    Printed text(stream, #Name);                                           \
    text __VA_ARGS__;                                                      \
  }
TAEDA_DISTANCE(CosineSimilarity, cosine_similarity, .arg("dim", options.dim()).arg("eps", options.eps()))
TAEDA_DISTANCE(PairwiseDistance, pairwise_distance,
               .arg("p", options.p()).arg("eps", options.eps()).arg("keepdim", options.keepdim()))

}  // namespace torch::nn
