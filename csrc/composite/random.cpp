// Random tensors by filling fresh ones.
#include "shape/ops/random.h"
#include "composite/fresh.h"
#include "composite/number.h"
#include "shape/elementwise.h"
#include "taeda/ops/activation.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/random.h"
#include "taeda/ops/reduce.h"

namespace taeda::composite {

namespace {
using Gen = Ref<Generator>;
#define TAEDA_FACTORY \
  std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory
#define TAEDA_LIKE TAEDA_FACTORY, std::optional<MemoryFormat> memory_format

double one_number(const Tensor& t) {
  TAEDA_CHECK(t.numel() == 1, "expected a tensor of one element; got shape ", t.sizes());
  return number_of(t).as_double();
}

void check_deviations(const Tensor& std) {
  TAEDA_CHECK(!is_complex(std.dtype()), "deviations must be real; got ", std.dtype());
  if (std.numel() == 0 || std.device().type == DeviceType::Meta) return;
  TAEDA_CHECK(one_number(ops::any(ops::lt(std, Scalar(0)))) == 0, "no deviation may be negative");
}
}  // namespace

void random_(const Tensor& self, int64_t to, const Gen& generator) { ops::random_(self, 0, to, generator); }

Tensor rand(IntList size, const Gen& generator, TAEDA_FACTORY) {
  return filled(ops::empty(size, dtype, layout, device, pin_memory),
                [&](const Tensor& t) { ops::uniform_(t, 0, 1, generator); });
}
Tensor rand(IntList size, TAEDA_FACTORY) { return rand(size, Gen(), dtype, layout, device, pin_memory); }

Tensor randn(IntList size, const Gen& generator, TAEDA_FACTORY) {
  return filled(ops::empty(size, dtype, layout, device, pin_memory),
                [&](const Tensor& t) { ops::normal_(t, 0, 1, generator); });
}
Tensor randn(IntList size, TAEDA_FACTORY) { return randn(size, Gen(), dtype, layout, device, pin_memory); }

Tensor randint(int64_t low, int64_t high, IntList size, const Gen& generator, TAEDA_FACTORY) {
  return filled(ops::empty(size, dtype.value_or(DType::Int64), layout, device, pin_memory),
                [&](const Tensor& t) { ops::random_(t, low, high, generator); });
}
Tensor randint(int64_t low, int64_t high, IntList size, TAEDA_FACTORY) {
  return randint(low, high, size, Gen(), dtype, layout, device, pin_memory);
}
Tensor randint(int64_t high, IntList size, const Gen& generator, TAEDA_FACTORY) {
  return randint(0, high, size, generator, dtype, layout, device, pin_memory);
}
Tensor randint(int64_t high, IntList size, TAEDA_FACTORY) {
  return randint(0, high, size, Gen(), dtype, layout, device, pin_memory);
}

Tensor rand_like(const Tensor& self, const Gen& generator, TAEDA_LIKE) {
  return filled(ops::empty_like(self, dtype, layout, device, pin_memory, memory_format),
                [&](const Tensor& t) { ops::uniform_(t, 0, 1, generator); });
}
Tensor rand_like(const Tensor& self, TAEDA_LIKE) {
  return rand_like(self, Gen(), dtype, layout, device, pin_memory, memory_format);
}

Tensor randn_like(const Tensor& self, const Gen& generator, TAEDA_LIKE) {
  return filled(ops::empty_like(self, dtype, layout, device, pin_memory, memory_format),
                [&](const Tensor& t) { ops::normal_(t, 0, 1, generator); });
}
Tensor randn_like(const Tensor& self, TAEDA_LIKE) {
  return randn_like(self, Gen(), dtype, layout, device, pin_memory, memory_format);
}

Tensor randint_like(const Tensor& self, int64_t low, int64_t high, const Gen& generator, TAEDA_LIKE) {
  return filled(ops::empty_like(self, dtype, layout, device, pin_memory, memory_format),
                [&](const Tensor& t) { ops::random_(t, low, high, generator); });
}
Tensor randint_like(const Tensor& self, int64_t low, int64_t high, TAEDA_LIKE) {
  return randint_like(self, low, high, Gen(), dtype, layout, device, pin_memory, memory_format);
}
Tensor randint_like(const Tensor& self, int64_t high, const Gen& generator, TAEDA_LIKE) {
  return randint_like(self, 0, high, generator, dtype, layout, device, pin_memory, memory_format);
}
Tensor randint_like(const Tensor& self, int64_t high, TAEDA_LIKE) {
  return randint_like(self, 0, high, Gen(), dtype, layout, device, pin_memory, memory_format);
}
Tensor randint_like(const Tensor& self, const Tensor& high, const Gen& generator, TAEDA_LIKE) {
  auto end = static_cast<int64_t>(one_number(high));
  return randint_like(self, 0, end, generator, dtype, layout, device, pin_memory, memory_format);
}
Tensor randint_like(const Tensor& self, const Tensor& high, TAEDA_LIKE) {
  return randint_like(self, high, Gen(), dtype, layout, device, pin_memory, memory_format);
}

Tensor normal(double mean, double std, IntList size, const Gen& generator, TAEDA_FACTORY) {
  return filled(ops::empty(size, dtype, layout, device, pin_memory),
                [&](const Tensor& t) { ops::normal_(t, mean, std, generator); });
}
Tensor normal(const Tensor& mean, double std, const Gen& generator) {
  Tensor result = ops::empty_like(mean, {}, {}, {}, {}, MemoryFormat::Contiguous);
  ops::normal_(result, 0, std, generator);
  ops::add_(result, mean);
  return result;
}
Tensor normal(double mean, const Tensor& std, const Gen& generator) {
  check_deviations(std);
  Tensor result = ops::empty_like(std, {}, {}, {}, {}, MemoryFormat::Contiguous);
  ops::normal_(result, 0, 1, generator);
  ops::mul_(result, std);
  ops::add_(result, Scalar(mean));
  return result;
}
Tensor normal(const Tensor& mean, const Tensor& std, const Gen& generator) {
  check_deviations(std);
  Tensor result = ops::empty(shape::broadcast_sizes(mean.sizes(), std.sizes()), mean.dtype(), {}, mean.device());
  ops::normal_(result, 0, 1, generator);
  ops::mul_(result, std);
  ops::add_(result, mean);
  return result;
}

Tensor bernoulli(const Tensor& self, const Gen& generator) {
  return filled(ops::empty_like(self, {}, {}, {}, {}, MemoryFormat::Contiguous),
                [&](const Tensor& t) { ops::bernoulli_(t, self, generator); });
}
Tensor bernoulli(const Tensor& self, double p, const Gen& generator) {
  return filled(ops::empty_like(self, {}, {}, {}, {}, MemoryFormat::Contiguous),
                [&](const Tensor& t) { ops::bernoulli_(t, p, generator); });
}

// --- rrelu

Tensor rrelu(const Tensor& self, const Scalar& lower, const Scalar& upper, bool training, const Gen& generator) {
  TAEDA_CHECK(lower.as_double() <= upper.as_double(), "lower (", lower, ") must not exceed upper (", upper, ")");
  if (training) return std::get<0>(ops::_rrelu(self, lower, upper, generator));
  return ops::leaky_relu(ops::contiguous(self), Scalar((lower.as_double() + upper.as_double()) / 2));
}

Tensor rrelu_with_noise(const Tensor& self, const Tensor& noise, const Scalar& lower, const Scalar& upper,
                        bool training, const Gen& generator) {
  TAEDA_CHECK(std::ranges::equal(self.sizes(), noise.sizes()), "noise must have the shape of self ", self.sizes(),
              "; got ", noise.sizes());
  if (!training) return rrelu(self, lower, upper, false, generator);
  auto [output, slopes] = ops::_rrelu(self, lower, upper, generator);
  ops::copy_(noise, slopes);
  return output;
}

Tensor rrelu_with_noise_backward(const Tensor& grad_output, const Tensor& self, const Tensor& noise,
                                 const Scalar& lower, const Scalar& upper, bool training, bool) {
  double low = lower.as_double(), high = upper.as_double();
  if (training && high - low > 1e-6) return ops::mul(grad_output, noise);
  // Slopes are not negative: the result has the sign of self, so that it does not matter which of the two is given.
  return ops::where(ops::gt(self, Scalar(0)), grad_output, ops::mul(grad_output, Scalar((low + high) / 2)));
}

}  // namespace taeda::composite
