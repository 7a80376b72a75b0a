// What a quantised tensor can be asked.
#include "composite/ops/quantized.h"
#include "core/quantized.h"
#include "taeda/ops/copy.h"

namespace taeda::composite {

namespace {

const Quantizer& by_channel(const Tensor& self) {
  const QuantizerRef& quantizer = quantizer_of(self);
  TAEDA_CHECK(quantizer->is_per_channel(), "is for tensors that are quantised by channel; this one has one scale, ",
              quantizer->scale);
  return *quantizer;
}

// The bytes of elements that share them.
Tensor bytes(const Tensor& self) {
  const Storage& storage = self->storage();
  return from_storage(storage, DType::UInt8, IntList({static_cast<int64_t>(storage->nbytes())}), IntList({1}), 0);
}

}  // namespace

Tensor int_repr(const Tensor& self) { return ops::clone(composite::_integers(self)); }

Tensor _integers(const Tensor& self) {
  quantizer_of(self);
  return elements_per_byte(self.dtype()) > 1 ? bytes(self) : integers(self);
}

double q_scale(const Tensor& self) { return per_tensor_quantizer(self).scale; }
int64_t q_zero_point(const Tensor& self) { return per_tensor_quantizer(self).zero_point; }
Tensor q_per_channel_scales(const Tensor& self) { return by_channel(self).scales; }
Tensor q_per_channel_zero_points(const Tensor& self) { return by_channel(self).zero_points; }
int64_t q_per_channel_axis(const Tensor& self) { return by_channel(self).axis; }
int64_t _qscheme(const Tensor& self) { return static_cast<int64_t>(quantizer_of(self)->scheme); }

}  // namespace taeda::composite
