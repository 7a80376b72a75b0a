// Functions of one element by way of a table.
#include "composite/ops/quantized_table.h"
#include "core/quantized.h"
#include "taeda/ops/quantized.h"
#include "taeda/ops/quantized_table.h"
#include "taeda/ops/ranges.h"

namespace taeda::composite::quantized {

Tensor _levels(const Tensor& qx) {
  const Quantizer& by = per_tensor_quantizer(qx);
  if (itemsize(qx.dtype()) != 1) return ops::dequantize(qx);
  QuantizedRange range = range_of(qx.dtype());
  Tensor all = ops::arange(Scalar(range.least), Scalar(range.most + 1), Scalar(int64_t{1}), integers_of(qx.dtype()));
  return ops::dequantize(with_quantizer(all, qx.dtype(), make_ref<Quantizer>(by.scale, by.zero_point)));
}

Tensor _look_up(const Tensor& qx, const Tensor& values, double scale, int64_t zero_point) {
  Tensor results = ops::quantize_per_tensor(values, scale, zero_point, qx.dtype());
  if (itemsize(qx.dtype()) != 1) return results;
  return with_quantizer(ops::quantized::_map(integers(qx), integers(results)), qx.dtype(), quantizer_of(results));
}

}  // namespace taeda::composite::quantized
