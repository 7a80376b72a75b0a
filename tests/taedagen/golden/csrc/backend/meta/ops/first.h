// Made by taedagen from tests/taedagen/tiny/first.py.
#pragma once
#include "taeda/ops/defaults.h"

namespace taeda::meta {
// tests/taedagen/tiny/first.py:6
Tensor twice(const Tensor& self);
void twice_(const Tensor& self);
void twice_out(const Tensor& self, const Tensor& out);
// tests/taedagen/tiny/first.py:27
Tensor stretch(const Tensor& self, double by, std::optional<int64_t> power);
}  // namespace taeda::meta
