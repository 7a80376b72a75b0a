#include "backend/cpu/quantized/quantize.h"

#include <algorithm>

#include "backend/cpu/ops/quantized.h"
#include "backend/cpu/quantized/ops/quantized.h"
#include "core/elements.h"
#include "shape/view_rules.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

namespace {

template <class T, bool fused>
TAEDA_VERSIONED void quantize_each(const float* from, T* to, int64_t count, const Quantize& q) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) to[i] = quantized_element<T, fused>(from[i], q);
}
template <class T>
TAEDA_VERSIONED void quantize_any(const float* from, T* to, int64_t count, const Quantize& q, bool fused) {
  fused ? quantize_each<T, true>(from, to, count, q) : quantize_each<T, false>(from, to, count, q);
}
TAEDA_MULTIVERSION(void quantize_elements(const float* from, int8_t* to, int64_t count, const Quantize& q, bool fused),
                   quantize_any(from, to, count, q, fused))
TAEDA_MULTIVERSION(void quantize_elements(const float* from, uint8_t* to, int64_t count, const Quantize& q, bool fused),
                   quantize_any(from, to, count, q, fused))
TAEDA_MULTIVERSION(void quantize_elements(const float* from, int32_t* to, int64_t count, const Quantize& q, bool fused),
                   quantize_any(from, to, count, q, fused))

template <class T>
TAEDA_VERSIONED void dequantize_any(const T* from, float* to, int64_t count, float scale, int32_t zero_point) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(static_cast<int32_t>(from[i]) - zero_point) * scale;
}
TAEDA_MULTIVERSION(void dequantize_elements(const int8_t* from, float* to, int64_t count, float scale, int32_t zero),
                   dequantize_any(from, to, count, scale, zero))
TAEDA_MULTIVERSION(void dequantize_elements(const uint8_t* from, float* to, int64_t count, float scale, int32_t zero),
                   dequantize_any(from, to, count, scale, zero))
TAEDA_MULTIVERSION(void dequantize_elements(const int32_t* from, float* to, int64_t count, float scale, int32_t zero),
                   dequantize_any(from, to, count, scale, zero))

// Calls body with a null pointer of the type of a quantised dtype's integers.
template <class F>
void with_integers(DType dtype, const F& body) {
  switch (integers_of(dtype)) {
    case DType::Int8:
      return body(static_cast<int8_t*>(nullptr));
    case DType::UInt8:
      return body(static_cast<uint8_t*>(nullptr));
    default:
      return body(static_cast<int32_t*>(nullptr));
  }
}

void check_values(const Tensor& self, DType dtype) {
  TAEDA_CHECK(self.dtype() == DType::Float32, "only float32 tensors can be quantised; got ", self.dtype());
  integers_of(dtype);
}

void check_zero_point(int64_t zero_point, DType dtype) {
  bool packed = dtype == DType::QUInt4x2 || dtype == DType::QUInt2x4;  // a whole byte is theirs
  QuantizedRange range = range_of(packed ? DType::QUInt8 : dtype);
  TAEDA_CHECK(zero_point >= range.least && zero_point <= range.most, "the zero point must be one of the integers of ",
              dtype, ", ", range.least, " to ", range.most, "; got ", zero_point);
}

// The same elements without gaps, in the order that a result has, too.
Tensor dense(const Tensor& self) { return self->is_non_overlapping_and_dense() ? self : ops::clone(self); }

// Two or four elements to a byte, the first in its lowest bits.
void pack(const uint8_t* from, uint8_t* to, int64_t count, int64_t per_byte) {
  int64_t bits = 8 / per_byte;
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = i % per_byte;
    if (place == 0) to[i / per_byte] = 0;
    to[i / per_byte] |= static_cast<uint8_t>(from[i] << (place * bits));
  }
}
void unpack(const uint8_t* from, uint8_t* to, int64_t count, int64_t per_byte) {
  int64_t bits = 8 / per_byte;
  for (int64_t i = 0; i < count; ++i)
    to[i] = static_cast<uint8_t>(from[i / per_byte] >> (i % per_byte * bits) & ((1 << bits) - 1));
}

// How often the index along an axis steps in dense memory: every `inner` elements, round after `channels`.
struct Channels {
  int64_t inner, channels;
  Channels(const Tensor& dense, int64_t axis) : inner(dense.stride(axis)), channels(dense.size(axis)) {
    if (channels == 1) inner = std::max<int64_t>(dense.numel(), 1);
  }
  // Calls run(begin, count, channel) for each piece of one channel.
  template <class F>
  void each(int64_t numel, const F& run) const {
    int64_t runs = inner ? numel / inner : 0;
    parallel_for(0, runs, std::max<int64_t>(kGrain / std::max<int64_t>(inner, 1), 1), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) run(i * inner, inner, i % channels);
    });
  }
};

void to_integers(const Tensor& values, void* to, DType dtype, const Quantizer& by) {
  const float* from = elements<float>(values);
  int64_t size = itemsize(dtype);
  auto at = [&](int64_t begin) { return static_cast<char*>(to) + begin * size; };
  if (!by.is_per_channel()) {
    Quantize q(by.scale, by.zero_point, dtype);
    return parallel_for(0, values.numel(), kGrain, [&](int64_t begin, int64_t end) {
      quantize_run(from + begin, at(begin), end - begin, q, dtype, true);
    });
  }
  check_channels(values, by);
  Channels channels(values, by.axis);
  if (by.scheme == QScheme::PerChannelAffineFloatQParams) {
    QuantizedRange range = range_of(dtype);
    return channels.each(values.numel(), [&](int64_t begin, int64_t count, int64_t channel) {
      float scale = elements<float>(by.scales)[channel], zero = elements<float>(by.zero_points)[channel];
      float inverse = scale == 0 ? 1.0f : 1.0f / scale;
      for (int64_t i = begin; i < begin + count; ++i) {
        auto q = std::clamp<int64_t>(std::lrint(from[i] * inverse + zero), range.least, range.most);
        with_integers(dtype, [&]<class T>(T*) { reinterpret_cast<T*>(to)[i] = static_cast<T>(q); });
      }
    });
  }
  std::vector<Quantize> all;
  for (int64_t c = 0; c < channels.channels; ++c)
    all.emplace_back(elements<double>(by.scales)[c], elements<int64_t>(by.zero_points)[c], dtype);
  channels.each(values.numel(), [&](int64_t begin, int64_t count, int64_t channel) {
    quantize_run(from + begin, at(begin), count, all[channel], dtype, false);
  });
}

void to_values(const void* from, DType dtype, const Tensor& values, const Quantizer& by) {
  float* to = values.data<float>();
  int64_t size = itemsize(dtype);
  auto at = [&](int64_t begin) { return static_cast<const char*>(from) + begin * size; };
  if (!by.is_per_channel()) {
    return parallel_for(0, values.numel(), kGrain, [&](int64_t begin, int64_t end) {
      dequantize_run(at(begin), to + begin, end - begin, static_cast<float>(by.scale),
                     static_cast<int32_t>(by.zero_point), dtype);
    });
  }
  check_channels(values, by);
  Channels channels(values, by.axis);
  bool floats = by.scheme == QScheme::PerChannelAffineFloatQParams;
  channels.each(values.numel(), [&](int64_t begin, int64_t count, int64_t channel) {
    if (!floats)
      return dequantize_run(at(begin), to + begin, count, static_cast<float>(elements<double>(by.scales)[channel]),
                            static_cast<int32_t>(elements<int64_t>(by.zero_points)[channel]), dtype);
    float scale = elements<float>(by.scales)[channel], zero = elements<float>(by.zero_points)[channel];
    with_integers(dtype, [&]<class T>(T*) {
      for (int64_t i = begin; i < begin + count; ++i)
        to[i] = (static_cast<float>(reinterpret_cast<const T*>(from)[i]) - zero) * scale;
    });
  });
}

Tensor quantized(const Tensor& self, DType dtype, QuantizerRef quantizer) {
  Tensor values = dense(self);
  Tensor result = new_quantized(values.sizes(), dtype, quantizer, values.strides());
  int64_t per_byte = elements_per_byte(dtype);
  if (values.numel() == 0) return result;
  if (per_byte == 1) {
    to_integers(values, result.data(), dtype, *quantizer);
    return result;
  }
  Tensor bytes = new_tensor(IntList({values.numel()}), DType::UInt8);
  to_integers(values, bytes.data(), dtype, *quantizer);
  pack(elements<uint8_t>(bytes), static_cast<uint8_t*>(result.data()), values.numel(), per_byte);
  return result;
}

}  // namespace

void quantize_run(const float* from, void* to, int64_t count, const Quantize& q, DType dtype, bool fused) {
  with_integers(dtype, [&]<class T>(T*) { quantize_elements(from, static_cast<T*>(to), count, q, fused); });
}
void dequantize_run(const void* from, float* to, int64_t count, float scale, int32_t zero_point, DType dtype) {
  with_integers(dtype,
                [&]<class T>(T*) { dequantize_elements(static_cast<const T*>(from), to, count, scale, zero_point); });
}

Tensor quantize_per_tensor(const Tensor& self, double scale, int64_t zero_point, DType dtype) {
  check_values(self, dtype);
  check_zero_point(zero_point, dtype);
  return quantized(self, dtype, make_ref<Quantizer>(scale, zero_point));
}

Tensor quantize_per_channel(const Tensor& self, const Tensor& scales, const Tensor& zero_points, int64_t axis,
                            DType dtype) {
  check_values(self, dtype);
  QuantizerRef quantizer = channel_quantizer(scales, zero_points, axis, self.sizes());
  if (quantizer->scheme == QScheme::PerChannelAffine)
    for (int64_t c = 0; c < quantizer->zero_points.numel(); ++c)
      check_zero_point(elements<int64_t>(quantizer->zero_points)[c], dtype);
  return quantized(self, dtype, quantizer);
}

}  // namespace taeda::cpu

namespace taeda::quantized_cpu {

Tensor dequantize(const Tensor& self) {
  const Quantizer& by = *quantizer_of(self);
  int64_t per_byte = elements_per_byte(self.dtype());
  Tensor source = self;
  if (per_byte == 1 && !self->is_non_overlapping_and_dense()) source = ops::clone(self);
  Tensor values = new_tensor_strided(source.sizes(), source.strides(), DType::Float32);
  if (values.numel() == 0) return values;
  if (per_byte == 1) {
    cpu::to_values(source.data(), source.dtype(), values, by);
    return values;
  }
  Tensor bytes = new_tensor(IntList({values.numel()}), DType::UInt8);
  cpu::unpack(static_cast<const uint8_t*>(self.data()), bytes.data<uint8_t>(), values.numel(), per_byte);
  cpu::to_values(bytes.data(), self.dtype(), values, by);
  return values;
}

}  // namespace taeda::quantized_cpu
