// The names of convolution, and its gradients: three linear maps that are convolutions of one another.
#include "shape/ops/conv.h"
#include "shape/conv_rules.h"
#include "shape/view_rules.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/conv.h"
#include "taeda/ops/copy.h"
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

// --- the public names: a batch is added where there is none
namespace {

template <class F>
Tensor batched(const Tensor& input, const Tensor& weight, int64_t rank, const F& run) {
  TAEDA_CHECK(input.dim() == rank + 1 || input.dim() == rank + 2, "input must have a channel and ", rank,
              " spatial dimensions, with a batch before them or not; got shape ", input.sizes());
  TAEDA_CHECK(weight.dim() == rank + 2, "weight must have ", rank + 2, " dimensions; got shape ", weight.sizes());
  return input.dim() == rank + 2 ? run(input) : ops::squeeze(run(ops::unsqueeze(input, 0)), 0);
}

Tensor plain(const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride, IntList padding,
             IntList dilation, int64_t groups, int64_t rank) {
  return batched(input, weight, rank, [&](const Tensor& x) {
    return ops::convolution(x, weight, bias, stride, padding, dilation, false, kValues<int64_t, 0>, groups);
  });
}

Tensor transposed(const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride, IntList padding,
                  IntList output_padding, int64_t groups, IntList dilation, int64_t rank) {
  return batched(input, weight, rank, [&](const Tensor& x) {
    return ops::convolution(x, weight, bias, stride, padding, dilation, true, output_padding, groups);
  });
}

// 'same' may need one more element after than before: padding both sides by the larger half makes one position too many
// at the start of that dimension.
Tensor same(const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride, IntList dilation,
            int64_t groups, int64_t rank) {
  for (int64_t s : stride) TAEDA_CHECK(s == 1, "padding='same' is for stride 1; got stride ", stride);
  Dims both;
  for (int64_t i = 0; i < rank; ++i)
    both.push_back(shape::reach(weight.sizes()[i + 2], dilation[dilation.size() == 1 ? 0 : i]) / 2);
  Tensor result = plain(input, weight, bias, stride, both, dilation, groups, rank);
  MemoryFormat format = shape::suggested_format(result);
  for (int64_t i = -rank; i < 0; ++i) result = ops::slice(result, i, result.size(i) - input.size(i));
  return result.is_contiguous(format) ? result
                                      : ops::clone(result, input.dim() == rank + 2 ? format : MemoryFormat::Contiguous);
}

Tensor named_padding(const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride,
                     std::string_view padding, IntList dilation, int64_t groups, int64_t rank) {
  TAEDA_CHECK(padding == "same" || padding == "valid", "padding must be 'same', 'valid' or numbers; got '", padding,
              "'");
  TAEDA_CHECK(weight.dim() == rank + 2, "weight must have ", rank + 2, " dimensions; got shape ", weight.sizes());
  if (padding == "same") return same(input, weight, bias, stride, dilation, groups, rank);
  return plain(input, weight, bias, stride, kValues<int64_t, 0>, dilation, groups, rank);
}

}  // namespace

#define TAEDA_CONV(name, rank)                                                                                         \
  Tensor name(const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride, IntList padding,          \
              IntList dilation, int64_t groups) {                                                                      \
    return plain(input, weight, bias, stride, padding, dilation, groups, rank);                                        \
  }                                                                                                                    \
  Tensor name(const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride, std::string_view padding, \
              IntList dilation, int64_t groups) {                                                                      \
    return named_padding(input, weight, bias, stride, padding, dilation, groups, rank);                                \
  }
TAEDA_CONV(conv1d, 1)
TAEDA_CONV(conv2d, 2)
TAEDA_CONV(conv3d, 3)
#undef TAEDA_CONV

#define TAEDA_CONV_TRANSPOSE(name, rank)                                                                      \
  Tensor name(const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride, IntList padding, \
              IntList output_padding, int64_t groups, IntList dilation) {                                     \
    return transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, rank);          \
  }
TAEDA_CONV_TRANSPOSE(conv_transpose1d, 1)
TAEDA_CONV_TRANSPOSE(conv_transpose2d, 2)
TAEDA_CONV_TRANSPOSE(conv_transpose3d, 3)
#undef TAEDA_CONV_TRANSPOSE

Tensor im2col_backward(const Tensor& grad, IntList input_sizes, IntList kernel_size, IntList dilation, IntList padding,
                       IntList stride) {
  TAEDA_CHECK(input_sizes.size() >= 2, "the input must have at least 2 dimensions; got ", input_sizes);
  return ops::col2im(grad, input_sizes.last(2), kernel_size, dilation, padding, stride);
}

Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad) {
  TAEDA_CHECK(self.dim() == 3 && weight.dim() == 3, "input must be (T, N, C) and weight (K, C, C_out); got shapes ",
              self.sizes(), " and ", weight.sizes());
  Tensor moved =
      ops::convolution(ops::permute(self, kValues<int64_t, 1, 2, 0>), ops::permute(weight, kValues<int64_t, 2, 1, 0>),
                       bias, kValues<int64_t, 1>, IntList({pad}), kValues<int64_t, 1>, false, kValues<int64_t, 0>, 1);
  return ops::contiguous(ops::permute(moved, kValues<int64_t, 2, 0, 1>));
}

}  // namespace taeda::composite
