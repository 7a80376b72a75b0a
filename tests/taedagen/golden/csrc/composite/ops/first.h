// Made by taedagen from tests/taedagen/tiny/first.py.
#pragma once
#include "taeda/ops/defaults.h"

namespace taeda::composite {
// tests/taedagen/tiny/first.py:32
Tensor four_times(const Tensor& self);
}  // namespace taeda::composite
