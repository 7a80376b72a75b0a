// Made by taedagen from tests/taedagen/tiny/first.py.

#pragma once
#include "taeda/ops/defaults.h"

namespace taeda::ops {

TAEDA_API Tensor twice(const Tensor& self);
TAEDA_API void twice_(const Tensor& self);
TAEDA_API void twice_out(const Tensor& self, const Tensor& out);
TAEDA_API Tensor turned(const Tensor& self, int64_t dim0, int64_t dim1);
TAEDA_API Tensor stretch(const Tensor& self, double by = 1.5, std::optional<int64_t> power = std::optional<int64_t>());
TAEDA_API Tensor four_times(const Tensor& self);

}  // namespace taeda::ops
