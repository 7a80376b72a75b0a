// Copies, conversions and fills of quantised tensors.
#include "quantized/ops/copy.h"
#include "core/quantized.h"
#include "quantized/ops/create.h"
#include "shape/create_rules.h"
#include "shape/view_rules.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/quantized.h"
#include "taeda/ops/view.h"

namespace taeda::quantized {

namespace {

// Its elements share bytes, and move only together.
bool is_packed(const Tensor& t) { return elements_per_byte(t.dtype()) > 1; }

Tensor packed_clone(const Tensor& self) {
  Tensor result = new_quantized(self.sizes(), self.dtype(), quantizer_of(self));
  ops::copy_(ops::_integers(result), ops::_integers(self));
  return result;
}

Tensor quantised_as(const Tensor& values, const Tensor& like) {
  const Quantizer& by = *quantizer_of(like);
  Tensor floats = ops::_to_copy(values, DType::Float32);
  if (by.is_per_channel())
    return ops::quantize_per_channel(ops::expand(floats, like.sizes()), by.scales, by.zero_points, by.axis,
                                     like.dtype());
  return ops::quantize_per_tensor(floats, by.scale, by.zero_point, like.dtype());
}

}  // namespace

Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  if (is_packed(self)) return packed_clone(self);
  return with_quantizer(ops::clone(integers(self), memory_format), self.dtype(), quantizer_of(self));
}

void copy_(const Tensor& self, const Tensor& src, bool non_blocking) {
  TAEDA_CHECK(is_quantized(self), "a ", self.dtype(),
              " tensor does not take the elements of a quantised one; dequantize() that first");
  if (!is_quantized(src)) return ops::copy_(integers(self), integers(quantised_as(src, self)), non_blocking);
  TAEDA_CHECK(self.dtype() == src.dtype(), "quantised tensors are copied to others of their dtype; got ", src.dtype(),
              " for ", self.dtype());
  if (is_packed(self)) return ops::copy_(ops::_integers(self), ops::_integers(src));
  ops::copy_(integers(self), integers(src), non_blocking);
  static_cast<QuantizedImpl*>(self.impl())->set_quantizer(quantizer_of(src));
}

Tensor _to_copy(const Tensor& self, std::optional<DType> dtype, std::optional<Layout>, std::optional<Device> device,
                std::optional<bool>, bool non_blocking, std::optional<MemoryFormat> memory_format) {
  TAEDA_CHECK(!dtype || *dtype == self.dtype(), "a ", self.dtype(), " tensor does not become a ", *dtype,
              " one; dequantize() gives float32, int_repr() the integers");
  TAEDA_CHECK_KIND(NotImplemented, !device || *device == self.device(), "quantised tensors stay on their device, ",
                   self.device(), "; got ", *device);
  (void)non_blocking;
  return quantized::clone(self, memory_format);
}

Scalar _local_scalar_dense(const Tensor& self) { return ops::_local_scalar_dense(ops::dequantize(self)); }

void fill_(const Tensor& self, const Scalar& value) { ops::copy_(self, ops::full(IntList(), value, DType::Float32)); }

void fill_(const Tensor& self, const Tensor& value) {
  TAEDA_CHECK(value.dim() == 0, "value must be a number or a 0-d tensor; got shape ", value.sizes());
  ops::copy_(self, value);
}

Tensor empty_like(const Tensor& self, std::optional<DType> dtype, std::optional<Layout>, std::optional<Device> device,
                  std::optional<bool>, std::optional<MemoryFormat> memory_format) {
  if (dtype && !is_quantized(*dtype)) return ops::empty_like(integers(self), dtype, {}, device, {}, memory_format);
  TAEDA_CHECK(!dtype || *dtype == self.dtype(), "empty_like keeps the dtype of a quantised tensor, ", self.dtype(),
              "; got ", *dtype);
  MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  if (is_packed(self)) return new_quantized(self.sizes(), self.dtype(), quantizer_of(self));
  return new_quantized(self.sizes(), self.dtype(), quantizer_of(self), shape::strides_for(integers(self), format));
}

Tensor full_like(const Tensor& self, const Scalar& fill_value, std::optional<DType> dtype, std::optional<Layout> layout,
                 std::optional<Device> device, std::optional<bool> pin_memory,
                 std::optional<MemoryFormat> memory_format) {
  Tensor result = ops::empty_like(self, dtype, layout, device, pin_memory, memory_format);
  ops::fill_(result, fill_value);
  return result;
}

Tensor ones_like(const Tensor& self, std::optional<DType> dtype, std::optional<Layout> layout,
                 std::optional<Device> device, std::optional<bool> pin_memory,
                 std::optional<MemoryFormat> memory_format) {
  return ops::full_like(self, Scalar(int64_t{1}), dtype, layout, device, pin_memory, memory_format);
}

}  // namespace taeda::quantized
