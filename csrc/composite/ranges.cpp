// Sequences whose bounds are given in other ways, and the identity matrix.
#include "shape/ops/ranges.h"
#include "composite/fresh.h"
#include "core/elements.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

Tensor arange(const Scalar& start, const Scalar& end, std::optional<DType> dtype, std::optional<Layout> layout,
              std::optional<Device> device, std::optional<bool> pin_memory) {
  return ops::arange(start, end, Scalar(1), dtype, layout, device, pin_memory);
}

Tensor arange(const Scalar& end, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
              std::optional<bool> pin_memory) {
  return ops::arange(Scalar(0), end, Scalar(1), dtype, layout, device, pin_memory);
}

namespace {
Scalar number_in(const Tensor& t) {
  TAEDA_CHECK(t.dim() == 0, "start and end must be numbers or 0-d tensors; got shape ", t.sizes());
  Tensor local = ops::_to_copy(t, is_complex(t.dtype()) ? DType::Complex128 : DType::Float64, std::nullopt,
                               Device{DeviceType::CPU});
  return is_complex(t.dtype()) ? Scalar(*elements<complex128>(local)) : Scalar(*elements<double>(local));
}
}  // namespace

Tensor linspace(const Tensor& start, const Tensor& end, int64_t steps, std::optional<DType> dtype,
                std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  return ops::linspace(number_in(start), number_in(end), steps, dtype, layout, device, pin_memory);
}

Tensor linspace(const Tensor& start, const Scalar& end, int64_t steps, std::optional<DType> dtype,
                std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  return ops::linspace(number_in(start), end, steps, dtype, layout, device, pin_memory);
}

Tensor linspace(const Scalar& start, const Tensor& end, int64_t steps, std::optional<DType> dtype,
                std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  return ops::linspace(start, number_in(end), steps, dtype, layout, device, pin_memory);
}

Tensor logspace(const Tensor& start, const Tensor& end, int64_t steps, double base, std::optional<DType> dtype,
                std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  return ops::logspace(number_in(start), number_in(end), steps, base, dtype, layout, device, pin_memory);
}

Tensor logspace(const Tensor& start, const Scalar& end, int64_t steps, double base, std::optional<DType> dtype,
                std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  return ops::logspace(number_in(start), end, steps, base, dtype, layout, device, pin_memory);
}

Tensor logspace(const Scalar& start, const Tensor& end, int64_t steps, double base, std::optional<DType> dtype,
                std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  return ops::logspace(start, number_in(end), steps, base, dtype, layout, device, pin_memory);
}

Tensor eye(int64_t n, int64_t m, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
           std::optional<bool> pin_memory) {
  TAEDA_CHECK(n >= 0 && m >= 0, "the numbers of rows and columns must not be negative; got ", n, " and ", m);
  return filled(ops::zeros(std::vector<int64_t>{n, m}, dtype, layout, device, pin_memory),
                [](const Tensor& t) { ops::fill_(ops::diagonal(t), Scalar(1)); });
}

Tensor eye(int64_t n, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
           std::optional<bool> pin_memory) {
  return composite::eye(n, n, dtype, layout, device, pin_memory);
}

}  // namespace taeda::composite
