// The strides of a tensor whose elements follow each other.
#pragma once
#include <c10/util/SmallVector.h>

namespace c10 {

inline DimVector contiguous_strides(IntArrayRef sizes) {
  DimVector strides(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0; step *= sizes[i] > 1 ? sizes[i] : 1) strides[i] = step;
  return strides;
}

}  // namespace c10
