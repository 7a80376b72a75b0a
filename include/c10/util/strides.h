// The strides of a tensor whose elements follow each other.
#pragma once
#include <taeda/core/tensor.h>

#include <c10/util/SmallVector.h>

namespace c10 {

inline DimVector contiguous_strides(IntArrayRef sizes) {
  const std::vector<int64_t> strides = ::taeda::contiguous_strides(sizes);
  return DimVector(strides.begin(), strides.end());
}

}  // namespace c10
