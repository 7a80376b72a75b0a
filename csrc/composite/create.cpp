// Tensors filled with a number.
#include "shape/ops/create.h"
#include "composite/fresh.h"
#include "shape/spec.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"

namespace taeda::composite {

Tensor zeros(IntList size, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool> pin_memory) {
  return filled(ops::empty(size, dtype, layout, device, pin_memory), [](const Tensor& t) { ops::zero_(t); });
}

Tensor full(IntList size, const Scalar& fill_value, std::optional<DType> dtype, std::optional<Layout> layout,
            std::optional<Device> device, std::optional<bool> pin_memory) {
  DType own = fill_value.is_integral() ? DType::Int64 : fill_value.natural_dtype();
  return filled(ops::empty(size, dtype.value_or(own), layout, device, pin_memory),
                [&](const Tensor& t) { ops::fill_(t, fill_value); });
}

Tensor ones(IntList size, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
            std::optional<bool> pin_memory) {
  return composite::full(size, Scalar(1), dtype.value_or(default_dtype()), layout, device, pin_memory);
}

Tensor scalar_tensor(const Scalar& s, std::optional<DType> dtype, std::optional<Layout> layout,
                     std::optional<Device> device, std::optional<bool> pin_memory) {
  return composite::full({}, s, dtype.value_or(default_dtype()), layout, device, pin_memory);
}

Tensor empty_permuted(IntList size, IntList physical_layout, std::optional<DType> dtype, std::optional<Layout> layout,
                      std::optional<Device> device, std::optional<bool> pin_memory) {
  TAEDA_CHECK(size.size() == physical_layout.size(), "physical_layout ", physical_layout,
              " must name each dimension of size ", size, " once");
  shape::Dims strides(size);
  std::vector<bool> seen(size.size());
  int64_t step = 1;
  for (size_t i = size.size(); i-- > 0;) {
    int64_t d = physical_layout[i];
    TAEDA_CHECK(d >= 0 && d < static_cast<int64_t>(size.size()) && !seen[d], "physical_layout ", physical_layout,
                " must name each dimension of size ", size, " once");
    seen[d] = true;
    strides[d] = step;
    step *= std::max<int64_t>(size[d], 1);
  }
  return ops::empty_strided(size, strides, dtype, layout, device, pin_memory);
}

}  // namespace taeda::composite
