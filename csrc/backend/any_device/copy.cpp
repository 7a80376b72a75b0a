// Copies between devices, and conversion through a fresh tensor and copy_.
#include <algorithm>

#include "backend/any_device/ops/copy.h"
#include "backend/any_device/transfer.h"
#include "backend/cpu/engine/strided_copy.h"
#include "core/elements.h"
#include "shape/create_rules.h"
#include "shape/elementwise.h"
#include "shape/view_rules.h"
#include "taeda/core/overlap.h"
#include "taeda/core/parallel.h"
#include "taeda/core/warn.h"
#include "taeda/ops/copy.h"

namespace taeda::any_device {

void copy_(const Tensor& self, const Tensor& src, bool) {
  if (self.is(src)) return;
  if (!std::ranges::equal(self.sizes(), src.sizes())) shape::expand(src, self.sizes(), false);
  if (self.device().type == DeviceType::Meta) return;
  TAEDA_CHECK_KIND(NotImplemented, src.device().type != DeviceType::Meta,
                   "a meta tensor has no elements to copy; make it real with to_empty() or empty_like() first");
  if (is_complex(src.dtype()) && !is_complex(self.dtype()) && self.dtype() != DType::Bool)
    warn("a copy from complex to real numbers drops the imaginary parts; take .real first to say so");
  check_no_internal_overlap(self);
  check_overlap(self, src);
  if (self.data() == src.data() && self.dtype() == src.dtype() && std::ranges::equal(self.strides(), src.strides()))
    return;
  if (!host_can_use(self) || !host_can_use(src)) return transfer(self, src);
  cpu::strided_copy(self, src);
}

void fill_(const Tensor& self, const Tensor& value) {
  TAEDA_CHECK(value.dim() == 0, "value must be a number or a 0-d tensor; got shape ", value.sizes());
  ops::copy_(self, value);
}

Tensor _to_copy(const Tensor& self, std::optional<DType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, std::optional<bool>, bool non_blocking,
                std::optional<MemoryFormat> memory_format) {
  shape::check_strided(layout);
  DType type = dtype.value_or(self.dtype());
  Device where = device.value_or(self.device());
  MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  // Dimensions of size 1 may have any stride, which a copy keeps.
  bool plain = format == MemoryFormat::Preserve && self.is_contiguous() &&
               std::ranges::find(self.sizes(), 1) == self.sizes().end();
  Tensor result = plain ? new_tensor(self.sizes(), type, where)
                        : new_tensor_strided(self.sizes(), shape::strides_for(self, format), type, where);
  BelowAutograd guard;  // and uncounted: nobody has seen the copy yet
  ops::copy_(result, self, non_blocking);
  return result;
}

Tensor _lazy_clone(const Tensor& self) {
  return from_storage(self->storage()->lazy_clone(), self.dtype(), self.sizes(), self.strides(), self.storage_offset());
}

Tensor _test_parallel_materialize(const Tensor& self, int64_t num_parallel, bool skip_first) {
  TAEDA_CHECK(num_parallel <= 1 << 16, "num_parallel is at most 65536; got ", num_parallel);
  parallel_for(0, num_parallel, 1, [&](int64_t begin, int64_t) {
    if (begin > 0 || !skip_first) self->storage()->materialize();
  });
  return Tensor(self->shallow_copy());
}

Scalar _local_scalar_dense(const Tensor& self) {
  TAEDA_CHECK(self.numel() == 1, "expected a tensor of one element; got shape ", self.sizes());
  Tensor here = self.is_cpu() ? self : ops::_to_copy(self, {}, {}, Device{});
  return read_number(here.dtype(), elements<char>(here));
}

}  // namespace taeda::any_device
