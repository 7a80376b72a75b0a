// Made by taedagen from tests/taedagen/tiny/first.py.
#pragma once
#include "shape/fused.h"
#include "shape/reduction.h"

namespace taeda::shape::rule {
inline constexpr ElementwiseRule twice = elementwise({
    .promotion = Promotion::ResultType, .operands = 1, .results = 1, .result = {Element::Common}, .dtypes = 0x50});
}  // namespace taeda::shape::rule

