// The bits of a value as another type's.
#pragma once
#include <bit>

namespace c10 {
using std::bit_cast;
}  // namespace c10
