// Rules of ops that draw random numbers.
#pragma once
#include "shape/spec.h"
#include "taeda/core/generator.h"

namespace taeda::shape {

Spec randperm(int64_t n, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
              std::optional<bool> pin_memory);
Spec randperm(int64_t n, const Ref<Generator>& generator, std::optional<DType> dtype, std::optional<Layout> layout,
              std::optional<Device> device, std::optional<bool> pin_memory);
Spec multinomial(const Tensor& self, int64_t num_samples, bool replacement, const Ref<Generator>& generator);
Spec random_like(const Tensor& self, const Ref<Generator>& generator);
Spec binomial(const Tensor& count, const Tensor& prob, const Ref<Generator>& generator);
// Elementwise over floating tensors of one dtype.
Spec random_pair(const Tensor& a, const Tensor& b);
Spec random_triple(const Tensor& a, const Tensor& b, const Tensor& c);
std::array<Spec, 2> rrelu(const Tensor& self, const Scalar& lower, const Scalar& upper,
                          const Ref<Generator>& generator);
std::array<Spec, 2> native_dropout(const Tensor& input, double p, std::optional<bool> train);

}  // namespace taeda::shape
