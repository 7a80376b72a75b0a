// What the composites of losses share.
#pragma once
#include "taeda/core/tensor.h"

namespace taeda::composite {

enum Reduction : int64_t { kNone, kMean, kSum };

Tensor reduced(const Tensor& values, int64_t reduction);

}  // namespace taeda::composite
