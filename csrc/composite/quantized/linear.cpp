// Linear layers over packed weights.
#include <cmath>

#include "composite/ops/quantized_linear.h"
#include "composite/quantized/packed.h"
#include "core/quantized.h"
#include "taeda/ops/activation.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/linalg.h"
#include "taeda/ops/quantized.h"
#include "taeda/ops/quantized_linear.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::composite::quantized {

using namespace packed;

namespace {

enum LinearSlot { kLinearWeight, kLinearBias, kLinearPacked, kLinearSums, kLinearZeroPoints, kLinearScales };

const ClassType& linear_class() {
  static const ClassType& type = class_named("quantized.LinearPackedParamsBase",
                                             {"_weight", "_bias", "_packed", "_sums", "_zero_points", "_scales"});
  return type;
}

struct LinearParams {
  const Instance& object;
  explicit LinearParams(const Value& value) : object(packed::object(value, linear_class())) {}
  Tensor at(LinearSlot slot) const { return part_of(object, slot); }
  Tensor optional(LinearSlot slot) const { return object.slots[slot].to_tensor(); }
  bool is_half() const { return object.slots[kLinearPacked].is_none(); }
};

LinearParams quantised_params(const Value& value) {
  LinearParams params(value);
  TAEDA_CHECK(!params.is_half(), "takes a weight that linear_prepack packed; this one is linear_prepack_fp16's");
  return params;
}

Tensor matrix(const Tensor& x, const LinearParams& p) {
  Tensor weight = p.at(kLinearWeight);
  TAEDA_CHECK(weight.dim() == 2, "the weight must be a matrix (out, in); got shape ", weight.sizes());
  TAEDA_CHECK(x.dim() > 0 && x.size(-1) == weight.size(1), "the last dimension of the input (shape ", x.sizes(),
              ") must be the weight's number of inputs, ", weight.size(1));
  int64_t rows = 1;
  for (int64_t size : x.sizes().first(x.sizes().size() - 1)) rows *= size;
  return ops::contiguous(ops::reshape(x, IntList({rows, x.size(-1)})));
}

std::vector<int64_t> result_sizes(const Tensor& x, const LinearParams& p) {
  std::vector<int64_t> sizes(x.sizes().begin(), x.sizes().end());
  sizes.back() = p.at(kLinearWeight).size(0);
  return sizes;
}

// x: plain integers of that scale and zero point. A result's scale makes integers of x's dtype.
Tensor product(const Tensor& x, double scale, int64_t zero_point, const LinearParams& p, const Quantizer* result,
               bool relu) {
  Factors f = factors_of(p.at(kLinearScales), p.optional(kLinearBias), scale,
                         result ? std::optional<double>(result->scale) : std::nullopt);
  Tensor y = ops::quantized::_matmul(matrix(x, p), integers(p.at(kLinearWeight)), p.at(kLinearPacked), zero_point,
                                     p.at(kLinearSums), p.optional(kLinearZeroPoints), f.factors, f.bias,
                                     result ? std::optional<DType>(x.dtype()) : std::nullopt,
                                     result ? result->zero_point : 0, relu);
  return ops::view(y, result_sizes(x, p));
}

Tensor linear_to_quantised(const Tensor& x, const Value& w, double scale, int64_t zero_point, bool relu) {
  check_quantized_input(x);
  auto quantizer = make_ref<Quantizer>(scale, zero_point);
  const Quantizer& of_x = per_tensor_quantizer(x);
  Tensor y = product(integers(x), of_x.scale, of_x.zero_point, quantised_params(w), quantizer.get(), relu);
  return with_quantizer(y, x.dtype(), quantizer);
}

// The result as float32, of an x that is quantised already.
Tensor linear_to_float(const Tensor& x, const Value& w, bool relu) {
  const Quantizer& by = per_tensor_quantizer(x);
  return product(integers(x), by.scale, by.zero_point, quantised_params(w), nullptr, relu);
}

Tensor linear_of_floats(const Tensor& x, const Value& w, bool reduce_range, bool relu) {
  check_float_input(x);
  return linear_to_float(ops::quantize_per_tensor_dynamic(x, DType::QUInt8, reduce_range), w, relu);
}

Tensor dynamic_half(const Tensor& x, const Value& w) {
  check_float_input(x);
  LinearParams p(w);
  TAEDA_CHECK(p.is_half(), "takes a weight that linear_prepack_fp16 packed; this one is linear_prepack's");
  return ops::linear(x, p.at(kLinearWeight), p.optional(kLinearBias));
}

Value new_params(std::initializer_list<Value> slots) {
  auto made = make_ref<Instance>(&linear_class());
  made->slots.assign(slots);
  return made;
}

void check_bias(const Tensor& bias, const Tensor& weight) {
  TAEDA_CHECK(weight.dim() == 2, "the weight must be a matrix (out, in); got shape ", weight.sizes());
  TAEDA_CHECK(!bias.defined() || (bias.dim() == 1 && bias.numel() == weight.size(0) && bias.dtype() == DType::Float32),
              "the bias must be a float32 vector of ", weight.size(0), " elements");
}

std::tuple<Tensor, Tensor> linear_parts(const Value& w) {
  LinearParams p(w);
  return {p.at(kLinearWeight), p.optional(kLinearBias)};
}

}  // namespace

Value linear_prepack(const Tensor& W, const Tensor& B) {
  check_bias(B, W);
  Tensor weight = ops::contiguous(W), bias = B.defined() ? ops::contiguous(ops::detach(B)) : B;
  Channels c = channels_of(weight, 0);
  return new_params(
      {weight, bias, ops::quantized::_pack_matrix(integers(weight)), c.sums, Value(c.zero_points), c.scales});
}

Value linear_prepack_fp16(const Tensor& W, const Tensor& B) {
  check_bias(B, W);
  TAEDA_CHECK(W.dtype() == DType::Float32, "the weight must be float32; got ", W.dtype());
  Tensor weight = ops::detach(W);
  Tensor rounded = ops::_to_copy(ops::_to_copy(ops::clamp(weight, Scalar(-65504.0), Scalar(65504.0)), DType::Float16),
                                 DType::Float32);
  return new_params({rounded, B.defined() ? ops::detach(B) : B, Value(), Value(), Value(), Value()});
}

std::tuple<Tensor, Tensor> linear_unpack(const Value& W_prepack) { return linear_parts(W_prepack); }
std::tuple<Tensor, Tensor> linear_unpack_fp16(const Value& W_prepack) { return linear_parts(W_prepack); }

Tensor linear(const Tensor& X, const Value& W, double scale, int64_t zero_point) {
  return linear_to_quantised(X, W, scale, zero_point, false);
}
Tensor linear_relu(const Tensor& X, const Value& W, double scale, int64_t zero_point) {
  return linear_to_quantised(X, W, scale, zero_point, true);
}
Tensor linear_leaky_relu(const Tensor& X, const Value& W, double scale, int64_t zero_point, double negative_slope) {
  check_quantized_input(X);
  return ops::quantize_per_tensor(ops::leaky_relu(linear_to_float(X, W, false), Scalar(negative_slope)), scale,
                                  zero_point, X.dtype());
}
Tensor linear_tanh(const Tensor& X, const Value& W, double scale, int64_t zero_point) {
  check_quantized_input(X);
  return ops::quantize_per_tensor(ops::tanh(linear_to_float(X, W, false)), scale, zero_point, X.dtype());
}

Tensor linear_dynamic(const Tensor& X, const Value& W, bool reduce_range) {
  return linear_of_floats(X, W, reduce_range, false);
}
Tensor linear_relu_dynamic(const Tensor& X, const Value& W, bool reduce_range) {
  return linear_of_floats(X, W, reduce_range, true);
}
Tensor linear_dynamic_fp16(const Tensor& X, const Value& W) { return dynamic_half(X, W); }
Tensor linear_relu_dynamic_fp16(const Tensor& X, const Value& W) { return ops::relu(dynamic_half(X, W)); }
Tensor linear_dynamic_fp16_unpacked_weight(const Tensor& X, const Tensor& weight, const Tensor& bias) {
  return dynamic_half(X, quantized::linear_prepack_fp16(weight, bias));
}

Tensor linear_with_input_q_dq_qweight_dq_output_fp32(const Tensor& X, double scale, int64_t zero_point,
                                                     const Value& W) {
  check_float_input(X);
  return linear_to_float(ops::quantize_per_tensor(X, scale, zero_point, DType::QUInt8), W, false);
}
Tensor linear_with_input_q_dq_qweight_dq_relu_output_fp32(const Tensor& X, double scale, int64_t zero_point,
                                                          const Value& W) {
  check_float_input(X);
  return linear_to_float(ops::quantize_per_tensor(X, scale, zero_point, DType::QUInt8), W, true);
}

}  // namespace taeda::composite::quantized

bool taeda::composite::packed::is_half_linear(const Value& value) { return quantized::LinearParams(value).is_half(); }
