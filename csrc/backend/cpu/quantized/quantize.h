// Between float32 and integers: rounding to nearest, ties to even, as the processor's vector instructions round.
#pragma once
#include <cmath>
#include <cstdint>

#include "core/multiversion.h"
#include "core/quantized.h"

namespace taeda::cpu {

// What turns a value into an integer of a quantised dtype.
struct Quantize {
  float inverse;  // of the scale
  float zero_point;
  float least, most;
  Quantize(double scale, int64_t zero_point, DType dtype)
      : inverse(1.0f / static_cast<float>(scale)), zero_point(static_cast<float>(zero_point)) {
    QuantizedRange range = range_of(dtype);
    least = static_cast<float>(range.least);
    most = static_cast<float>(range.most);
  }
};

// The zero point is added before the rounding, which decides ties: at once with the product (`fused`, as PyTorch does
// for one scale) or after it has been rounded to a float (as it does by channel). NaN becomes `most`.
template <class T, bool fused>
TAEDA_VERSIONED T quantized_element(float value, const Quantize& q) {
  float shifted = std::rint(fused ? std::fma(value, q.inverse, q.zero_point) : value * q.inverse + q.zero_point);
  if constexpr (sizeof(T) == 4)
    return shifted >= 2147483648.0f ? INT32_MAX : shifted > -2147483648.0f ? static_cast<T>(shifted) : INT32_MIN;
  shifted = shifted < q.most ? shifted : q.most;
  return static_cast<T>(static_cast<int32_t>(shifted > q.least ? shifted : q.least));
}

// from[0, count) to and back.
void quantize_run(const float* from, void* to, int64_t count, const Quantize& q, DType dtype, bool fused);
void dequantize_run(const void* from, float* to, int64_t count, float scale, int32_t zero_point, DType dtype);

}  // namespace taeda::cpu
