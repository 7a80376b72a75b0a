#include "backend/cpu/quantized/epilogue.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/multiversion.h"

namespace taeda::cpu {

namespace {

struct Row {
  const int32_t* from;
  const int32_t *sums, *zeros;
  const float *factors, *bias;
  int64_t columns;
  int32_t x_zero, off;  // off: the row's sum less depth * x_zero
  int32_t zero, least, most;
};

template <class T, bool with_bias, bool with_zeros>
TAEDA_VERSIONED void round_any(const Row& r, T* to) {
  float least = static_cast<float>(r.least - r.zero), most = static_cast<float>(r.most - r.zero);
#pragma omp simd
  for (int64_t i = 0; i < r.columns; ++i) {
    int32_t sum = r.from[i] - r.x_zero * r.sums[i];
    if constexpr (with_zeros) sum -= r.zeros[i] * r.off;
    float value = static_cast<float>(sum);
    if constexpr (with_bias) value += r.bias[i];
    value = std::rint(value * r.factors[i]);
    value = value < most ? value : most;
    value = value > least ? value : least;
    to[i] = static_cast<T>(static_cast<int32_t>(value) + r.zero);
  }
}

template <class T>
TAEDA_VERSIONED void round_row_any(const Row& r, T* to) {
  if (r.zeros) return r.bias ? round_any<T, true, true>(r, to) : round_any<T, false, true>(r, to);
  r.bias ? round_any<T, true, false>(r, to) : round_any<T, false, false>(r, to);
}
TAEDA_MULTIVERSION(void round_row(const Row& r, uint8_t* to), round_row_any(r, to))
TAEDA_MULTIVERSION(void round_row(const Row& r, int8_t* to), round_row_any(r, to))

template <bool with_bias, bool with_zeros>
TAEDA_VERSIONED void scale_any(const Row& r, float* to, bool floor) {
  const float least = floor ? 0.0f : -std::numeric_limits<float>::infinity();
#pragma omp simd
  for (int64_t i = 0; i < r.columns; ++i) {
    int32_t sum = r.from[i] - r.x_zero * r.sums[i];
    if constexpr (with_zeros) sum -= r.zeros[i] * r.off;
    float value = static_cast<float>(sum) * r.factors[i];
    if constexpr (with_bias) value += r.bias[i];
    to[i] = value < least ? least : value;
  }
}
TAEDA_VERSIONED void scale_row_any(const Row& r, float* to, bool floor) {
  if (r.zeros) return r.bias ? scale_any<true, true>(r, to, floor) : scale_any<false, true>(r, to, floor);
  r.bias ? scale_any<true, false>(r, to, floor) : scale_any<false, false>(r, to, floor);
}
TAEDA_MULTIVERSION(void scale_row(const Row& r, float* to, bool floor), scale_row_any(r, to, floor))

}  // namespace

void Epilogue::row(const int32_t* from, void* to, int64_t first, int64_t columns, int32_t row_sum) const {
  Row r{from,
        sums + first,
        zeros ? zeros + first : nullptr,
        factors + first,
        bias ? bias + first : nullptr,
        columns,
        x_zero,
        static_cast<int32_t>(row_sum - depth * x_zero),
        zero,
        0,
        255};
  if (result == DType::Int32) return static_cast<void>(std::copy_n(from, columns, static_cast<int32_t*>(to)));
  if (result == DType::Float32) return scale_row(r, static_cast<float*>(to), floor);
  if (result == DType::Int8) r.least = -128, r.most = 127;
  if (floor) r.least = std::max(r.least, zero);
  result == DType::UInt8 ? round_row(r, static_cast<uint8_t*>(to)) : round_row(r, static_cast<int8_t*>(to));
}

void check_packed(const Tensor& packed, int64_t bytes) {
  TAEDA_CHECK(itemsize(packed.dtype()) * packed.numel() == bytes && packed.is_contiguous() && packed.is_cpu(),
              "the packed weight must be the ", bytes, " bytes that packing this weight gives; got shape ",
              packed.sizes(), " of ", packed.dtype());
}

Epilogue epilogue_of(int64_t columns, int64_t x_zero, const Tensor& sums, const Tensor& zeros, const Tensor& factors,
                     const Tensor& bias, std::optional<DType> dtype, int64_t zero, bool floor) {
  for (const Tensor* t : {&sums, &zeros, &factors, &bias})
    TAEDA_CHECK(!t->defined() || (t->numel() == columns && t->is_contiguous()),
                "what belongs to the columns must have an element for each of the ", columns, "; got ", t->sizes());
  for (const Tensor* t : {&sums, &zeros})
    TAEDA_CHECK(!t->defined() || t->dtype() == DType::Int32, "sums and zero points must be int32; got ", t->dtype());
  for (const Tensor* t : {&factors, &bias})
    TAEDA_CHECK(!t->defined() || t->dtype() == DType::Float32, "factors and bias must be float32; got ", t->dtype());
  TAEDA_CHECK(sums.defined() && factors.defined(), "there must be sums and factors");
  if (dtype)
    TAEDA_CHECK(*dtype == DType::UInt8 || *dtype == DType::Int8 || *dtype == DType::Int32,
                "results are float32, uint8, int8 or int32; got ", *dtype);
  Epilogue e;
  e.x_zero = static_cast<int32_t>(x_zero);
  e.sums = elements<int32_t>(sums);
  e.zeros = zeros.defined() ? elements<int32_t>(zeros) : nullptr;
  e.factors = elements<float>(factors);
  e.bias = bias.defined() ? elements<float>(bias) : nullptr;
  e.result = dtype.value_or(DType::Float32);
  e.zero = static_cast<int32_t>(zero);
  e.floor = floor;
  return e;
}

}  // namespace taeda::cpu
