// What dropout is told.
#pragma once
#include <c10/util/Exception.h>

namespace torch::nn {

inline void check_probability(double p, const char* who) {
  TORCH_CHECK(p >= 0 && p <= 1, who, ": p is the share of elements that become zero, from 0 to 1; got ", p);
}

}  // namespace torch::nn
