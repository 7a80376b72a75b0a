#include "composite/quantized/packed.h"

#include "core/elements.h"
#include "core/quantized.h"
#include "taeda/core/fork.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/quantized.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/view.h"

namespace taeda::composite::packed {

const ClassType& class_named(const char* name, std::initializer_list<const char*> attributes) {
  static Mutex& mutex = *new Mutex;
  Lock lock(mutex);
  ClassType& type = class_type(str("__torch__.torch.classes.", name));
  for (const char* attribute : attributes)
    if (!type.find_attribute(attribute)) type.add_attribute({attribute, plain_type(TypeKind::Any)});
  return type;
}

Channels channels_of(const Tensor& weight, int64_t axis) {
  TAEDA_CHECK(is_quantized(weight) && weight.dtype() == DType::QInt8, "the weight must be quantised as qint8; got ",
              weight.dtype());
  const Quantizer& by = *quantizer_of(weight);
  check_channels(weight, by);
  int64_t count = weight.size(axis);
  std::vector<int64_t> rest;
  for (int64_t d = 0; d < weight.dim(); ++d)
    if (d != axis) rest.push_back(d);
  Channels c;
  c.sums = rest.empty() ? ops::_to_copy(integers(weight), DType::Int32)
                        : ops::sum(integers(weight), rest, false, DType::Int32);
  c.sums = ops::contiguous(c.sums);
  c.scales = new_tensor(IntList({count}), DType::Float32);
  Tensor zeros = new_tensor(IntList({count}), DType::Int32);
  TAEDA_CHECK(!by.is_per_channel() || (by.scheme == QScheme::PerChannelAffine && by.axis == axis),
              "a weight that is quantised by channel must be so along dimension ", axis, " with integer zero points");
  bool any = false;
  for (int64_t i = 0; i < count; ++i) {
    double scale = by.is_per_channel() ? elements<double>(by.scales)[i] : by.scale;
    int64_t zero = by.is_per_channel() ? elements<int64_t>(by.zero_points)[i] : by.zero_point;
    c.scales.data<float>()[i] = static_cast<float>(scale);
    zeros.data<int32_t>()[i] = static_cast<int32_t>(zero);
    any |= zero != 0;
  }
  if (any) c.zero_points = zeros;
  return c;
}

Factors factors_of(const Tensor& scales, const Tensor& bias, double x_scale, std::optional<double> result_scale) {
  TAEDA_CHECK(scales.dtype() == DType::Float32 && scales.is_contiguous(), "the scales must be contiguous float32; got ",
              scales.dtype());
  TAEDA_CHECK(!bias.defined() || (bias.dtype() == DType::Float32 && bias.dim() == 1 && bias.numel() == scales.numel() &&
                                  bias.is_contiguous()),
              "the bias must be contiguous float32 of ", scales.numel(), " elements");
  Factors f{new_tensor(scales.sizes(), DType::Float32), bias};
  if (bias.defined() && result_scale) f.bias = new_tensor(scales.sizes(), DType::Float32);
  float by_x = static_cast<float>(x_scale), by_result = static_cast<float>(result_scale.value_or(1));
  const float *of_weights = elements<float>(scales), *given = bias.defined() ? elements<float>(bias) : nullptr;
  float *factors = f.factors.data<float>(), *biases = given && result_scale ? f.bias.data<float>() : nullptr;
  for (int64_t i = 0, count = scales.numel(); i < count; ++i) {
    const float product = by_x * of_weights[i];
    factors[i] = result_scale ? product / by_result : product;
    if (biases) biases[i] = given[i] / product;
  }
  return f;
}

void check_quantized_input(const Tensor& x) {
  TAEDA_CHECK_KIND(NotImplemented, is_quantized(x), "takes a quantised tensor; got one of dtype ", x.dtype(),
                   ". A QuantStub, or quantize_per_tensor, must stand before it");
  TAEDA_CHECK(x.dtype() == DType::QUInt8 || x.dtype() == DType::QInt8, "takes quint8 or qint8; got ", x.dtype());
  per_tensor_quantizer(x);
}

void check_float_input(const Tensor& x) {
  TAEDA_CHECK_KIND(NotImplemented, !is_quantized(x), "takes a float32 tensor and quantises it itself; got ", x.dtype(),
                   ". A DeQuantStub, or dequantize(), must stand before it");
  TAEDA_CHECK(x.dtype() == DType::Float32, "takes a float32 tensor; got ", x.dtype());
}

Tensor part_of(const Instance& object, size_t slot) {
  Tensor part = object.slots[slot].to_tensor();
  TAEDA_CHECK(part.defined(), object.type->name(), " has no '", object.type->attributes()[slot].name,
              "'; pack it anew");
  return part;
}

Instance& object(const Value& value, const ClassType& type) {
  TAEDA_CHECK_TYPE(value.tag() == Value::Tag::Instance && value.to_instance().type == &type, "takes an object of ",
                   type.name());
  return value.to_instance();
}

}  // namespace taeda::composite::packed
