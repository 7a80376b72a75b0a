// convolution and the gradient of its weight: which of the implementations does them.
#include "backend/cpu/conv/conv.h"

#include <algorithm>

#include "backend/cpu/libraries/onednn.h"
#include "backend/cpu/ops/conv.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/view.h"

namespace taeda::cpu {

namespace conv {

int64_t Problem::padding_end(size_t i) const {
  int64_t reach = dilation[i] * (weight.sizes()[i + 2] - 1) + 1;
  return (features.sizes()[i + 2] - 1) * stride[i] + reach - image.sizes()[i + 2] - padding[i];
}

namespace {

bool by_onednn(DType dtype) {
  return dtype == DType::Float32 ||
         ((dtype == DType::BFloat16 || dtype == DType::Float16) && onednn::has_native(dtype));
}

bool through_float(DType dtype) { return compute_type(dtype) != dtype && !by_onednn(dtype); }

void check_dtype(DType dtype) {
  TAEDA_CHECK_KIND(NotImplemented, dtype != DType::Bool, "is for numbers; got ", dtype, " tensors");
}

Tensor as_float(const Tensor& t) { return t.defined() ? ops::_to_copy(t, DType::Float32) : Tensor(); }

using Part = Tensor Problem::*;

// Runs `run` with the part that it makes in float, and rounds that into the caller's.
template <class F>
void in_float(Problem p, Part made, const F& run) {
  Tensor result = p.*made;
  for (Part part : {&Problem::image, &Problem::weight, &Problem::features})
    p.*part = part == made ? new_tensor_strided(result.sizes(), result.strides(), DType::Float32) : as_float(p.*part);
  run(p);
  ops::copy_(result, p.*made);
}

// Runs `run` with every part contiguous.
template <class F>
void contiguously(Problem p, Part made, const F& run) {
  Tensor result = p.*made;
  for (Part part : {&Problem::image, &Problem::weight, &Problem::features})
    p.*part =
        part == made && !result.is_contiguous() ? new_tensor(result.sizes(), result.dtype()) : ops::contiguous(p.*part);
  run(p);
  if (!(p.*made).is(result)) ops::copy_(result, p.*made);
}

void add_bias(const Tensor& out, const Tensor& bias) {
  if (!bias.defined()) return;
  std::vector<int64_t> sizes(out.dim(), 1);
  sizes[1] = bias.numel();
  ops::add_(out, ops::view(bias, sizes));
}

void forward(const Problem& p, const Tensor& bias) {
  DType dtype = p.image.dtype();
  if (through_float(dtype))
    return in_float(p, &Problem::features, [&](const Problem& q) { forward(q, as_float(bias)); });
  if (by_onednn(dtype)) return forward_onednn(p, bias.defined() ? ops::contiguous(bias) : bias);
  contiguously(p, &Problem::features, forward_columns);
  add_bias(p.features, bias);
}

void image(const Problem& p) {
  DType dtype = p.weight.dtype();
  if (through_float(dtype)) return in_float(p, &Problem::image, image);
  by_onednn(dtype) ? image_onednn(p) : contiguously(p, &Problem::image, image_columns);
}

void weight(const Problem& p) {
  DType dtype = p.image.dtype();
  if (through_float(dtype)) return in_float(p, &Problem::weight, weight);
  by_onednn(dtype) ? weight_onednn(p) : contiguously(p, &Problem::weight, weight_columns);
}

// Without the end of the image that no window reaches, where output_padding made that a stride or more.
Problem within_reach(Problem p) {
  shape::Dims sizes(p.image.sizes());
  for (size_t i = 0; i < p.rank(); ++i)
    if (p.padding_end(i) <= -p.stride[i]) sizes[i + 2] += p.padding_end(i);
  if (!std::ranges::equal(sizes, p.image.sizes()))
    p.image = new_alias(p.image, sizes, p.image.strides(), p.image.storage_offset());
  return p;
}

// Steps that are never taken may be of any size, but oneDNN counts them in 32 bits.
Problem with_short_steps(Problem p) {
  for (size_t i = 0; i < p.rank(); ++i) {
    if (p.features.sizes()[i + 2] == 1) p.stride[i] = std::min(p.stride[i], p.image.sizes()[i + 2] + p.padding[i] + 1);
    if (p.weight.sizes()[i + 2] == 1) p.dilation[i] = 1;
  }
  return p;
}

}  // namespace
}  // namespace conv

void convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride, IntList padding,
                 IntList dilation, bool transposed, IntList output_padding, int64_t groups, const Tensor& out) {
  conv::check_dtype(input.dtype());
  auto g = shape::conv_geometry(input, weight, stride, padding, dilation, transposed, output_padding, groups);
  if (out.numel() == 0) return;
  if (input.numel() == 0 || weight.numel() == 0) {
    ops::zero_(out);
    return conv::add_bias(out, bias);
  }
  if (!transposed)
    return conv::forward(conv::with_short_steps({input, weight, out, g.stride, g.padding, g.dilation, groups}), bias);
  conv::Problem p = conv::within_reach({out, weight, input, g.stride, g.padding, g.dilation, groups});
  if (!p.image.is(out)) ops::zero_(out);
  conv::image(conv::with_short_steps(p));
  conv::add_bias(out, bias);
}

void convolution_weight_grad(const Tensor& grad, const Tensor& input, IntList, IntList stride, IntList padding,
                             IntList dilation, int64_t groups, const Tensor& out) {
  conv::check_dtype(input.dtype());
  if (out.numel() == 0) return;
  if (input.numel() == 0 || grad.numel() == 0) {
    ops::zero_(out);
    return;
  }
  conv::weight(conv::with_short_steps(conv::within_reach({input, out, grad, stride, padding, dilation, groups})));
}

}  // namespace taeda::cpu
