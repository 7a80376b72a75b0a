// Quantised tensors made from numbers in tensors, from integers, and without elements.
#include "composite/ops/quantized.h"
#include "core/elements.h"
#include "core/quantized.h"
#include "shape/view_rules.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/fake_quantize.h"
#include "taeda/ops/quantized.h"

namespace taeda::composite {

namespace {

double number(const Tensor& t) { return ops::_local_scalar_dense(t).to<double>(); }
int64_t integer(const Tensor& t) { return ops::_local_scalar_dense(t).to<int64_t>(); }

// A dtype of quantised elements that is asked for, or that of `other`.
DType dtype_for(std::optional<DType> dtype, std::optional<DType> other = {}) {
  DType chosen = dtype.value_or(other.value_or(DType::QUInt8));
  integers_of(chosen);
  return chosen;
}

void check_integers(const Tensor& self, DType dtype) {
  TAEDA_CHECK(self.dtype() == integers_of(dtype), "a ", dtype, " tensor is made of ", integers_of(dtype),
              " elements; got ", self.dtype());
}

}  // namespace

Tensor quantize_per_tensor(const Tensor& self, const Tensor& scale, const Tensor& zero_point, DType dtype) {
  return ops::quantize_per_tensor(self, number(scale), integer(zero_point), dtype);
}

std::vector<Tensor> quantize_per_tensor(TensorList tensors, const Tensor& scales, const Tensor& zero_points,
                                        DType dtype) {
  TAEDA_CHECK(scales.numel() == static_cast<int64_t>(tensors.size()) && zero_points.numel() == scales.numel(),
              "scales and zero_points must have an element for each of the ", tensors.size(), " tensors; got ",
              scales.numel(), " and ", zero_points.numel());
  TAEDA_CHECK(scales.is_cpu() && zero_points.is_cpu(),
              "scales and zero_points must be on the CPU, as they are read; got ", scales.device(), " and ",
              zero_points.device());
  Tensor all_scales = ops::_to_copy(ops::contiguous(scales), DType::Float64);
  Tensor all_zeros = ops::_to_copy(ops::contiguous(zero_points), DType::Int64);
  std::vector<Tensor> results;
  for (size_t i = 0; i < tensors.size(); ++i)
    results.push_back(
        ops::quantize_per_tensor(tensors[i], elements<double>(all_scales)[i], elements<int64_t>(all_zeros)[i], dtype));
  return results;
}

Tensor quantize_per_tensor_dynamic(const Tensor& self, DType dtype, bool reduce_range) {
  TAEDA_CHECK(dtype == DType::QInt8 || dtype == DType::QUInt8, "the dtype must be qint8 or quint8; got ", dtype);
  double scale = 1;
  int64_t zero_point = 0;  // of no elements
  if (self.numel()) std::tie(scale, zero_point) = ops::_choose_qparams_per_tensor(self, reduce_range);
  int64_t shift = dtype == DType::QInt8 ? (reduce_range ? 64 : 128) : 0;
  return ops::quantize_per_tensor(self, scale, zero_point - shift, dtype);
}

Tensor _make_per_tensor_quantized_tensor(const Tensor& self, double scale, int64_t zero_point) {
  return ops::_as_quantized(ops::clone(self), quantized_of(self.dtype()), scale, zero_point);
}

Tensor _make_per_channel_quantized_tensor(const Tensor& self, const Tensor& scale, const Tensor& zero_point,
                                          int64_t axis) {
  return ops::_as_quantized(ops::clone(self), quantized_of(self.dtype()), scale, zero_point, axis);
}

Tensor _as_quantized(const Tensor& self, DType dtype, double scale, int64_t zero_point) {
  check_integers(self, dtype);
  return with_quantizer(self, dtype, make_ref<Quantizer>(scale, zero_point));
}

Tensor _as_quantized(const Tensor& self, DType dtype, const Tensor& scales, const Tensor& zero_points, int64_t axis) {
  check_integers(self, dtype);
  return with_quantizer(self, dtype, channel_quantizer(scales, zero_points, axis, self.sizes()));
}

Tensor _as_quantized(const Tensor& self, const Tensor& other) {
  per_tensor_quantizer(other);
  check_integers(self, other.dtype());
  return with_quantizer(self, other.dtype(), quantizer_of(other));
}

Tensor _empty_affine_quantized(IntList size, std::optional<DType> dtype, std::optional<Layout>,
                               std::optional<Device> device, std::optional<bool>, double scale, int64_t zero_point,
                               std::optional<MemoryFormat> memory_format) {
  return new_quantized(size, dtype_for(dtype), make_ref<Quantizer>(scale, zero_point),
                       memory_format.value_or(MemoryFormat::Contiguous), device.value_or(Device{}));
}

Tensor _empty_per_channel_affine_quantized(IntList size, const Tensor& scales, const Tensor& zero_points, int64_t axis,
                                           std::optional<DType> dtype, std::optional<Layout>,
                                           std::optional<Device> device, std::optional<bool>,
                                           std::optional<MemoryFormat> memory_format) {
  return new_quantized(size, dtype_for(dtype), channel_quantizer(scales, zero_points, axis, size),
                       memory_format.value_or(MemoryFormat::Contiguous), device.value_or(Device{}));
}

Tensor empty_quantized(IntList size, const Tensor& qtensor, std::optional<DType> dtype, std::optional<Layout>,
                       std::optional<Device> device, std::optional<bool>, std::optional<MemoryFormat> memory_format) {
  return new_quantized(size, dtype_for(dtype, qtensor.dtype()), quantizer_of(qtensor),
                       memory_format.value_or(MemoryFormat::Contiguous), device.value_or(qtensor.device()));
}

}  // namespace taeda::composite
