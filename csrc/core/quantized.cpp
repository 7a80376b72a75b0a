#include "core/quantized.h"

#include "core/elements.h"

namespace taeda {

namespace {

KeySet quantized_keys(Device device) {
  KeySet keys = KeySet(device.type) | Functionality::Quantized | kAutogradKeys;
  return t_state.inference_mode ? keys - kAutogradKeys : keys;
}

}  // namespace

Quantizer::Quantizer(Tensor scales, Tensor zero_points, int64_t axis)
    : scheme(scales.dtype() == DType::Float32 ? QScheme::PerChannelAffineFloatQParams : QScheme::PerChannelAffine),
      scales(std::move(scales)),
      zero_points(std::move(zero_points)),
      axis(axis) {}

QuantizedImpl::QuantizedImpl(Storage storage, DType dtype, Device device, QuantizerRef quantizer)
    : TensorImpl(std::move(storage), dtype, device, quantized_keys(device)), quantizer_(std::move(quantizer)) {}

Ref<TensorImpl> QuantizedImpl::shallow_copy() const {
  auto copy = make_ref<QuantizedImpl>(storage(), dtype(), device(), quantizer_);
  copy->set_keys(keys() - (KeySet(Functionality::Python) | KeySet(Functionality::PythonSnapshot)));
  copy->set_geometry(sizes(), strides(), storage_offset());
  return copy;
}

void QuantizedImpl::take_data_of(const TensorImpl& other) {
  TAEDA_CHECK(other.keys().has(Functionality::Quantized),
              "a quantised tensor takes the data of a quantised one only; got a ", other.dtype(), " tensor");
  TensorImpl::take_data_of(other);
  quantizer_ = static_cast<const QuantizedImpl&>(other).quantizer_;
}

const QuantizerRef& quantizer_of(const Tensor& t) {
  TAEDA_CHECK_KIND(NotImplemented, is_quantized(t), "is for quantised tensors; got one of dtype ", t.dtype(),
                   "; quantize_per_tensor makes a quantised one");
  return static_cast<const QuantizedImpl*>(t.impl())->quantizer();
}

const Quantizer& per_tensor_quantizer(const Tensor& t) {
  const QuantizerRef& quantizer = quantizer_of(t);
  TAEDA_CHECK(!quantizer->is_per_channel(),
              "is for tensors that are quantised with one scale; this one has a scale for each index of dimension ",
              quantizer->axis);
  return *quantizer;
}

bool fits(const Tensor& t, const Quantizer& by) {
  return !by.is_per_channel() || (by.axis < t.dim() && t.size(by.axis) == by.scales.numel());
}

void check_channels(const Tensor& t, const Quantizer& by) {
  TAEDA_CHECK(fits(t, by), "has scales for ", by.scales.numel(), " indices of dimension ", by.axis,
              ", which its shape ", t.sizes(), " lacks");
}

DType integers_of(DType quantized) {
  switch (quantized) {
    case DType::QInt8:
      return DType::Int8;
    case DType::QInt32:
      return DType::Int32;
    case DType::QUInt8:
    case DType::QUInt4x2:
    case DType::QUInt2x4:
      return DType::UInt8;
    default:
      TAEDA_FAIL(Runtime, "takes a quantised dtype (qint8, quint8, qint32, quint4x2, quint2x4); got ", quantized);
  }
}

DType quantized_of(DType integers) {
  switch (integers) {
    case DType::Int8:
      return DType::QInt8;
    case DType::UInt8:
      return DType::QUInt8;
    case DType::Int32:
      return DType::QInt32;
    default:
      TAEDA_FAIL(Runtime, "quantised tensors are made of int8, uint8 or int32; got ", integers);
  }
}

QuantizedRange range_of(DType quantized) {
  switch (quantized) {
    case DType::QInt8:
      return {-128, 127};
    case DType::QUInt8:
      return {0, 255};
    case DType::QUInt4x2:
      return {0, 15};
    case DType::QUInt2x4:
      return {0, 3};
    default:
      integers_of(quantized);
      return {INT32_MIN, INT32_MAX};
  }
}

Tensor new_quantized(IntList sizes, DType dtype, QuantizerRef quantizer, IntList strides, Device device) {
  integers_of(dtype);
  int64_t elements = extent(sizes, strides, 0), several = elements_per_byte(dtype), bytes;
  bool fits = !__builtin_mul_overflow(elements / several + (elements % several != 0), itemsize(dtype), &bytes);
  TAEDA_CHECK(fits, "sizes ", sizes, " need more bytes than 64 bits can count");
  auto impl =
      make_ref<QuantizedImpl>(new_storage(static_cast<size_t>(bytes), device), dtype, device, std::move(quantizer));
  impl->set_geometry(sizes, strides, 0);
  return Tensor(std::move(impl));
}

Tensor new_quantized(IntList sizes, DType dtype, QuantizerRef quantizer, MemoryFormat format, Device device) {
  return new_quantized(sizes, dtype, std::move(quantizer), contiguous_strides(sizes, format), device);
}

Tensor integers(const Tensor& quantized) {
  quantizer_of(quantized);
  TAEDA_CHECK(elements_per_byte(quantized.dtype()) == 1, "elements of ", quantized.dtype(),
              " share bytes, and cannot be read one by one; dequantize() first");
  auto impl = make_ref<TensorImpl>(quantized->storage(), integers_of(quantized.dtype()), quantized.device(),
                                   new_tensor_keys(quantized.device().type));
  impl->set_geometry(quantized.sizes(), quantized.strides(), quantized.storage_offset());
  return Tensor(std::move(impl));
}

Tensor with_quantizer(const Tensor& integers, DType dtype, QuantizerRef quantizer) {
  auto impl = make_ref<QuantizedImpl>(integers->storage(), dtype, integers.device(), std::move(quantizer));
  impl->set_geometry(integers.sizes(), integers.strides(), integers.storage_offset());
  return Tensor(std::move(impl));
}

namespace {

template <class To>
Tensor converted(const Tensor& from) {
  Tensor result = new_tensor(from.sizes(), dtype_of<To>);
  visit(from.dtype(), [&]<class T>() {
    const T* data = elements<T>(from);
    for (int64_t i = 0; i < from.numel(); ++i) result.data<To>()[i] = convert<To>(data[i * from.strides()[0]]);
  });
  return result;
}

}  // namespace

QuantizerRef channel_quantizer(const Tensor& scales, const Tensor& zero_points, int64_t axis, IntList sizes) {
  int64_t dim = static_cast<int64_t>(sizes.size());
  TAEDA_CHECK(axis >= 0 && axis < dim, "axis must be from 0 to ", dim - 1, " for a tensor of shape ", sizes, "; got ",
              axis);
  TAEDA_CHECK(scales.dim() == 1 && zero_points.dim() == 1, "scales and zero_points must be vectors; got shapes ",
              scales.sizes(), " and ", zero_points.sizes());
  TAEDA_CHECK(scales.numel() == sizes[axis] && zero_points.numel() == sizes[axis],
              "scales and zero_points must have an element for each index of dimension ", axis, ", of which there are ",
              sizes[axis], "; got ", scales.numel(), " and ", zero_points.numel());
  TAEDA_CHECK(scales.is_cpu() && zero_points.is_cpu(), "scales and zero_points must be on the CPU");
  if (is_floating(zero_points.dtype()))
    return make_ref<Quantizer>(converted<float>(scales), converted<float>(zero_points), axis);
  return make_ref<Quantizer>(converted<double>(scales), converted<int64_t>(zero_points), axis);
}

}  // namespace taeda
