// For tests that look for reads and writes outside of tensors.
#pragma once
#include "taeda/core/error.h"

namespace taeda {

// From now on each block of memory on the CPU ends where a page ends, and the pages on both sides of it cannot be
// touched, nor can a freed block: who does dies at once. Slow, and for good.
TAEDA_API void cpu_guard_pages();

}  // namespace taeda
