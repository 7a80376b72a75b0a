// Numbers of quantised tensors, products, and sums and products with one number.
#include <cmath>
#include <limits>

#include "composite/ops/quantized_arithmetic.h"
#include "composite/quantized/packed.h"
#include "core/quantized.h"
#include "taeda/ops/activation.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/quantized.h"
#include "taeda/ops/quantized_arithmetic.h"

namespace taeda::composite::quantized {

namespace {

// The integers less the zero point, as floats.
Tensor distances(const Tensor& q) {
  const Quantizer& by = per_tensor_quantizer(q);
  return ops::dequantize(with_quantizer(integers(q), q.dtype(), make_ref<Quantizer>(1.0, by.zero_point)));
}

Tensor requantized(const Tensor& integers_as_floats, DType dtype, double scale, int64_t zero_point) {
  Tensor made = ops::quantize_per_tensor(integers_as_floats, 1.0, 0, dtype);
  return with_quantizer(integers(made), dtype, make_ref<Quantizer>(scale, zero_point));
}

Tensor with_relu(const Tensor& q, bool relu) { return relu ? ops::relu(q) : q; }

void check_operand(const Tensor& q) {
  if (is_quantized(q) && q.dtype() == DType::QInt32)
    per_tensor_quantizer(q);
  else
    packed::check_quantized_input(q);
}

}  // namespace

Tensor _values(const Tensor& qx) {
  check_operand(qx);
  return ops::dequantize(qx);
}

Tensor _product(const Tensor& qa, const Tensor& qb, double scale, int64_t zero_point, bool relu) {
  check_operand(qa);
  check_operand(qb);
  double factor = per_tensor_quantizer(qa).scale * per_tensor_quantizer(qb).scale / scale;
  Tensor product = ops::mul(ops::mul(distances(qa), distances(qb)), Scalar(factor));
  Tensor result = ops::quantize_per_tensor(relu ? ops::relu(product) : product, 1.0, zero_point, qa.dtype());
  return with_quantizer(integers(result), qa.dtype(), make_ref<Quantizer>(scale, zero_point));
}

// A sum moves the zero point, unless it would leave the integers' range: then the scale grows.
Tensor _add_number(const Tensor& qa, const Scalar& b, bool relu) {
  check_operand(qa);
  const Quantizer& by = per_tensor_quantizer(qa);
  QuantizedRange range = range_of(qa.dtype());
  double rounded = std::nearbyint(b.to<double>() / by.scale);
  TAEDA_CHECK(std::abs(rounded) <= std::numeric_limits<int32_t>::max(), "adds a number of as many steps of the scale ",
              by.scale, " as an int32 holds; got ", b);
  int64_t steps = static_cast<int64_t>(rounded), moved = by.zero_point - steps;
  double width = static_cast<double>(range.most - range.least);
  double scale = by.scale;
  int64_t zero = moved;
  if (moved < range.least) {
    scale = static_cast<double>(range.most - moved) / width * by.scale;
    zero = range.least;
  } else if (moved > range.most) {
    scale = static_cast<double>(moved - range.least) / width * by.scale;
    zero = range.most;
  } else {
    return with_relu(with_quantizer(ops::clone(integers(qa)), qa.dtype(), make_ref<Quantizer>(scale, zero)), relu);
  }
  Tensor numbers = ops::mul(ops::add(distances(qa), Scalar(static_cast<double>(steps))), Scalar(by.scale / scale));
  Tensor made = ops::quantize_per_tensor(numbers, 1.0, zero, qa.dtype());
  return with_relu(with_quantizer(integers(made), qa.dtype(), make_ref<Quantizer>(scale, zero)), relu);
}

// A product scales; by a negative number the integers turn round.
Tensor _mul_number(const Tensor& qa, const Scalar& b, bool relu) {
  check_operand(qa);
  const Quantizer& by = per_tensor_quantizer(qa);
  QuantizedRange range = range_of(qa.dtype());
  double factor = b.to<double>();
  Tensor ints = integers(qa), result;
  if (factor > 0) {
    result = with_quantizer(ops::clone(ints), qa.dtype(), make_ref<Quantizer>(by.scale * factor, by.zero_point));
  } else if (factor < 0) {
    Tensor floats = ops::add(ops::mul(ops::_to_copy(ints, DType::Float32), Scalar(-1.0)),
                             Scalar(static_cast<double>(range.most + range.least)));
    result = requantized(floats, qa.dtype(), by.scale * -factor, range.most - (by.zero_point - range.least));
  } else {
    result = requantized(ops::mul(distances(qa), Scalar(0.0)), qa.dtype(), 1.0, 0);
  }
  return with_relu(result, relu);
}

}  // namespace taeda::composite::quantized
