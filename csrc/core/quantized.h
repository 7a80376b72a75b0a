// Quantised tensors: integers, and what makes numbers of them: value = (integer - zero_point) * scale.
#pragma once
#include "taeda/core/tensor.h"

namespace taeda {

// In the order of PyTorch's enumeration, which files may hold.
enum class QScheme : uint8_t {
  PerTensorAffine,
  PerChannelAffine,
  PerTensorSymmetric,
  PerChannelSymmetric,
  PerChannelAffineFloatQParams
};

// One pair for the whole tensor, or one for each index along `axis`. Never changed once tensors share it.
struct TAEDA_API Quantizer final : RefCounted {
  Quantizer(double scale, int64_t zero_point) : scale(scale), zero_point(zero_point) {}
  // scales: float64 and zero_points: int64, or both float32 (PerChannelAffineFloatQParams); as many as the axis has.
  Quantizer(Tensor scales, Tensor zero_points, int64_t axis);
  bool is_per_channel() const { return scales.defined(); }

  QScheme scheme = QScheme::PerTensorAffine;
  double scale = 1;
  int64_t zero_point = 0;
  Tensor scales, zero_points;
  int64_t axis = 0;
};
using QuantizerRef = Ref<const Quantizer>;

class TAEDA_API QuantizedImpl final : public TensorImpl {
 public:
  QuantizedImpl(Storage storage, DType dtype, Device device, QuantizerRef quantizer);
  const QuantizerRef& quantizer() const { return quantizer_; }
  void set_quantizer(QuantizerRef quantizer) { quantizer_ = std::move(quantizer); }
  Ref<TensorImpl> shallow_copy() const override;
  void take_data_of(const TensorImpl& other) override;  // RuntimeError unless that is quantised, too

 private:
  QuantizerRef quantizer_;
};

inline bool is_quantized(const Tensor& t) { return t.keys().has(Functionality::Quantized); }
// NotImplementedError for a tensor that is not quantised.
TAEDA_API const QuantizerRef& quantizer_of(const Tensor& t);
// The same where one scale serves the whole tensor; RuntimeError otherwise.
TAEDA_API const Quantizer& per_tensor_quantizer(const Tensor& t);
// Whether a quantizer has a scale for each index of its axis. A tensor of another shape has none, and only its integers
// can be read; check_channels raises RuntimeError for it.
TAEDA_API bool fits(const Tensor& t, const Quantizer& by);
TAEDA_API void check_channels(const Tensor& t, const Quantizer& by);

// The dtype of the integers that a quantised dtype holds; TypeError for any other.
TAEDA_API DType integers_of(DType quantized);
TAEDA_API DType quantized_of(DType integers);
struct QuantizedRange {
  int64_t least, most;
};
TAEDA_API QuantizedRange range_of(DType quantized);
// 2 and 4 for those of less than a byte, which lie in it from the lowest bits on.
inline int64_t elements_per_byte(DType dtype) {
  return dtype == DType::QUInt4x2 ? 2 : dtype == DType::QUInt2x4 ? 4 : 1;
}

// Memory is not initialised. RuntimeError for a dtype that is none of quantised elements.
TAEDA_API Tensor new_quantized(IntList sizes, DType dtype, QuantizerRef quantizer, IntList strides,
                               Device device = {DeviceType::CPU});
TAEDA_API Tensor new_quantized(IntList sizes, DType dtype, QuantizerRef quantizer,
                               MemoryFormat format = MemoryFormat::Contiguous, Device device = {DeviceType::CPU});
// The integers of a quantised tensor as a plain tensor over the same memory, and the reverse.
TAEDA_API Tensor integers(const Tensor& quantized);
TAEDA_API Tensor with_quantizer(const Tensor& integers, DType dtype, QuantizerRef quantizer);

// For a tensor of those sizes, in the dtypes that a Quantizer keeps. RuntimeError, IndexError where they do not fit.
TAEDA_API QuantizerRef channel_quantizer(const Tensor& scales, const Tensor& zero_points, int64_t axis, IntList sizes);

}  // namespace taeda
