// Tensors filled with a number.
#include "api/ops.h"
#include "shape/ops/create.h"

namespace taeda::composite {

namespace {
Tensor filled(IntList size, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
              std::optional<bool> pin_memory, const Scalar& value) {
  Tensor result = ops::empty(size, dtype, layout, device, pin_memory);
  value.equals(0) ? ops::zero_(result) : ops::fill_(result, value);
  return result;
}
}  // namespace

Tensor zeros(IntList size, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool> pin_memory) {
  return filled(size, dtype, layout, device, pin_memory, 0);
}

Tensor ones(IntList size, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
            std::optional<bool> pin_memory) {
  return filled(size, dtype, layout, device, pin_memory, 1);
}

}  // namespace taeda::composite
