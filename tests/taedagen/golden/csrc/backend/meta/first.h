// Made by taedagen from tests/taedagen/tiny/first.py.
#pragma once
#include "taeda/ops/defaults.h"

namespace taeda::meta {
Tensor twice(const Tensor& self);
void twice_(const Tensor& self);
void twice_out(const Tensor& self, const Tensor& out);
}  // namespace taeda::meta
