// The names of convolution, and its gradients: three linear maps that are convolutions of one another.
#include "composite/ops/conv.h"
#include "shape/conv_rules.h"
#include "shape/view_rules.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/conv.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

using shape::Dims;

// What a transposed convolution must add to its result to get the sizes that the convolution came from.
Dims rest_of(const Tensor& image, const Tensor& features, const Tensor& weight, const shape::ConvGeometry& g) {
  Dims rest;
  for (size_t i = 0; i < g.stride.size(); ++i)
    rest.push_back(image.sizes()[i + 2] - ((features.sizes()[i + 2] - 1) * g.stride[i] - 2 * g.padding[i] +
                                           g.dilation[i] * (weight.sizes()[i + 2] - 1) + 1));
  return rest;
}

// Where output_padding reached a whole stride, convolving back gives more positions than there were.
Tensor cut_to(Tensor t, const Tensor& like) {
  for (int64_t d = 2; d < t.dim(); ++d)
    if (t.size(d) > like.size(d)) t = ops::slice(t, d, 0, like.size(d), 1);
  return t;
}

Tensor bias_grad(const Tensor& grad) {
  std::vector<int64_t> dims{0};
  for (int64_t d = 2; d < grad.dim(); ++d) dims.push_back(d);
  return ops::sum(grad, dims);
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> convolution_backward(const Tensor& grad_output, const Tensor& input,
                                                        const Tensor& weight, std::optional<IntList>, IntList stride,
                                                        IntList padding, IntList dilation, bool transposed,
                                                        IntList output_padding, int64_t groups, IntList output_mask) {
  auto g = shape::conv_geometry(input, weight, stride, padding, dilation, transposed, output_padding, groups);
  TAEDA_CHECK(grad_output.dim() == input.dim(), "the gradient must have the input's ", input.dim(),
              " dimensions; got shape ", grad_output.sizes());
  Tensor conjugate = is_complex(weight.dtype()) ? ops::conj(weight) : weight;
  Tensor to_input, to_weight, to_bias;
  if (output_mask[0] && transposed)
    to_input = cut_to(ops::convolution(grad_output, conjugate, {}, g.stride, g.padding, g.dilation, false,
                                       kValues<int64_t, 0>, groups),
                      input);
  if (output_mask[0] && !transposed)
    to_input = ops::convolution(grad_output, conjugate, {}, g.stride, g.padding, g.dilation, true,
                                rest_of(input, grad_output, weight, g), groups);
  if (output_mask[1]) {
    Tensor image = is_complex(input.dtype()) ? ops::conj(transposed ? grad_output : input)
                   : transposed              ? grad_output
                                             : input;
    const Tensor& features = transposed ? input : grad_output;
    to_weight = ops::convolution_weight_grad(features, image, weight.sizes().subspan(2), g.stride, g.padding,
                                             g.dilation, groups);
    if (transposed && is_complex(input.dtype())) to_weight = ops::conj(to_weight);
  }
  if (output_mask[2]) to_bias = bias_grad(grad_output);
  return {to_input, to_weight, to_bias};
}

std::tuple<Tensor, Tensor, Tensor> _convolution_double_backward(const Tensor& ggI, const Tensor& ggW, const Tensor& ggb,
                                                                const Tensor& gO, const Tensor& weight,
                                                                const Tensor& self, IntList stride, IntList padding,
                                                                IntList dilation, bool transposed,
                                                                IntList output_padding, int64_t groups, IntList) {
  TAEDA_CHECK(gO.dim() > 1 && gO.dim() == weight.dim(),
              "the gradient and the weight must have as many dimensions, three at the least; got shapes ", gO.sizes(),
              " and ", weight.sizes());
  auto convolve = [&](const Tensor& input, const Tensor& kernel) {
    return ops::convolution(input, kernel, {}, stride, padding, dilation, transposed, output_padding, groups);
  };
  auto differentiate = [&](const Tensor& input, const Tensor& kernel, IntList wanted) {
    return ops::convolution_backward(gO, input, kernel, std::nullopt, stride, padding, dilation, transposed,
                                     output_padding, groups, wanted);
  };
  auto add = [](const Tensor& a, const Tensor& b) { return a.defined() ? ops::add(a, b) : b; };
  Tensor to_result, to_input, to_weight;
  if (ggI.defined()) {
    to_result = convolve(ggI, weight);
    to_weight = std::get<1>(differentiate(ggI, weight, kValues<int64_t, 0, 1, 0>));
  }
  if (ggW.defined()) {
    to_result = add(to_result, convolve(self, ggW));
    to_input = std::get<0>(differentiate(self, ggW, kValues<int64_t, 1, 0, 0>));
  }
  if (ggb.defined()) {
    std::vector<int64_t> along(static_cast<size_t>(gO.dim()), 1);
    along[1] = ggb.numel();
    to_result = add(to_result, ops::expand(ops::view(ggb, along), gO.sizes()));
  }
  return {to_result, to_input, to_weight};
}

std::tuple<Tensor, Tensor> convolution_weight_grad_backward(const Tensor& grad, const Tensor& features,
                                                            const Tensor& input, IntList stride, IntList padding,
                                                            IntList dilation, int64_t groups, IntList output_mask) {
  auto conj = [](const Tensor& t) { return is_complex(t.dtype()) ? ops::conj(t) : t; };
  TAEDA_CHECK(features.dim() == input.dim() && grad.dim() == input.dim(),
              "grad, features and input must have as many dimensions; got shapes ", grad.sizes(), ", ",
              features.sizes(), " and ", input.sizes());
  Tensor to_features, to_input;
  if (output_mask[0])
    to_features =
        cut_to(ops::convolution(conj(input), grad, {}, stride, padding, dilation, false, kValues<int64_t, 0>, groups),
               features);
  if (output_mask[1]) {
    auto g = shape::conv_geometry(input, grad, stride, padding, dilation, false, kValues<int64_t, 0>, groups);
    to_input = conj(ops::convolution(features, conj(grad), {}, stride, padding, dilation, true,
                                     rest_of(input, features, grad, g), groups));
  }
  return {to_features, to_input};
}

}  // namespace taeda::composite
