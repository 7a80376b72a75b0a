// Ops of the most frequent signatures are called without boxes: the tensors go from registers to the kernel.
#pragma once
#include "jit/code.h"

namespace taeda::jit {

// The way to call a site's op on its operands; null where it goes through boxes.
Direct direct_call(const Site& site);

}  // namespace taeda::jit
