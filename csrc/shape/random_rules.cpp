#include "shape/random_rules.h"

#include "shape/elementwise.h"
#include "shape/view_rules.h"

namespace taeda::shape {

Spec randperm(int64_t n, std::optional<DType> dtype, std::optional<Layout>, std::optional<Device>,
              std::optional<bool>) {
  TAEDA_CHECK(n >= 0, "the number of integers must not be negative; got ", n);
  DType type = dtype.value_or(DType::Int64);
  int64_t digits = type == DType::Float16 ? 11 : type == DType::BFloat16 ? 8 : type == DType::Float32 ? 24 : 53;
  int64_t bits = is_floating(type) ? digits : 8 * itemsize(type) - info(type).is_signed;
  TAEDA_CHECK(bits >= 63 || n <= (int64_t{1} << bits) + is_floating(type), n, " integers do not fit ", type);
  return {{n}, type};
}
Spec randperm(int64_t n, const Ref<Generator>&, std::optional<DType> dtype, std::optional<Layout> layout,
              std::optional<Device> device, std::optional<bool> pin_memory) {
  return randperm(n, dtype, layout, device, pin_memory);
}

Spec multinomial(const Tensor& self, int64_t num_samples, bool replacement, const Ref<Generator>&) {
  TAEDA_CHECK(self.dim() == 1 || self.dim() == 2, "the weights must have 1 or 2 dimensions; got ", self.dim());
  TAEDA_CHECK(is_floating(self.dtype()), "the weights must be of a floating-point dtype; got ", self.dtype());
  TAEDA_CHECK(num_samples > 0, "at least one sample must be drawn; got num_samples=", num_samples);
  int64_t categories = self.size(-1);
  TAEDA_CHECK(replacement || num_samples <= categories, "cannot draw ", num_samples, " of ", categories,
              " categories without replacement");
  if (self.dim() == 1) return {{num_samples}, DType::Int64};
  return {{self.size(0), num_samples}, DType::Int64};
}

Spec random_like(const Tensor& self, const Ref<Generator>&) { return {self.sizes(), self.dtype()}; }

Spec binomial(const Tensor& count, const Tensor& prob, const Ref<Generator>&) {
  TAEDA_CHECK_VALUE(is_floating(count.dtype()), "count must be of a floating-point dtype; got ", count.dtype());
  TAEDA_CHECK_VALUE(is_floating(prob.dtype()), "prob must be of a floating-point dtype; got ", prob.dtype());
  return {broadcast_sizes(count.sizes(), prob.sizes()), count.dtype()};
}

Spec random_pair(const Tensor& a, const Tensor& b) {
  TAEDA_CHECK(a.dtype() == b.dtype(), "the tensors must have one dtype; got ", a.dtype(), " and ", b.dtype());
  return {broadcast_sizes(a.sizes(), b.sizes()), a.dtype()};
}
Spec random_triple(const Tensor& a, const Tensor& b, const Tensor& c) {
  Spec spec = random_pair(a, b);
  TAEDA_CHECK(a.dtype() == c.dtype(), "the tensors must have one dtype; got ", a.dtype(), " and ", c.dtype());
  return {broadcast_sizes(spec.sizes, c.sizes()), a.dtype()};
}

std::array<Spec, 2> rrelu(const Tensor& self, const Scalar& lower, const Scalar& upper, const Ref<Generator>&) {
  TAEDA_CHECK(lower.as_double() <= upper.as_double(), "lower (", lower, ") must not exceed upper (", upper, ")");
  Spec spec{self.sizes(), self.dtype()};
  return {spec, spec};
}

std::array<Spec, 2> native_dropout(const Tensor& input, double p, std::optional<bool>) {
  TAEDA_CHECK(p >= 0 && p <= 1, "the probability must be from 0 to 1; got p=", p);
  TAEDA_CHECK(is_differentiable(input.dtype()), "is for floating-point and complex tensors; got ", input.dtype());
  Dims strides = strides_for(input, MemoryFormat::Preserve);
  return {Spec{input.sizes(), input.dtype(), strides}, Spec{input.sizes(), DType::Bool, strides}};
}

}  // namespace taeda::shape
