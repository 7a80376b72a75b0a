// Packed weights: objects of classes that programs know by PyTorch's names, whose attributes are plain values.
#pragma once
#include <string>

#include "taeda/dispatch/collections.h"

namespace taeda::composite::packed {

// The class of `__torch__.torch.classes.<name>`, with these attributes.
const ClassType& class_named(const char* name, std::initializer_list<const char*> attributes);

// What kernels need of a weight beside its integers, by output channel.
struct Channels {
  Tensor sums;         // int32: of each channel's weights
  Tensor zero_points;  // int32; undefined where all are 0
  Tensor scales;       // float32
};
// Of a qint8 weight whose output channels lie along `axis`. RuntimeError for another dtype, or another axis of scales.
Channels channels_of(const Tensor& weight, int64_t axis);
// x's scale times each channel's, and that over the result's scale; the bias in sums where there is a result's scale.
struct Factors {
  Tensor factors, bias;
};
Factors factors_of(const Tensor& scales, const Tensor& bias, double x_scale, std::optional<double> result_scale);

// A quantised tensor as an input; NotImplementedError that says which module is missing otherwise.
void check_quantized_input(const Tensor& x);
void check_float_input(const Tensor& x);
// What an attribute holds, which programs may set; RuntimeError for one that they took away.
Tensor part_of(const Instance& object, size_t slot);
// The object that `value` holds of a class of that name.
Instance& object(const Value& value, const ClassType& type);
// Whether `value` holds a linear weight of floats that are rounded to float16.
bool is_half_linear(const Value& value);

}  // namespace taeda::composite::packed
