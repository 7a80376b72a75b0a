// Where memory of tensors begins: at multiples of this many bytes.
#pragma once
#include <cstddef>

namespace c10 {
constexpr size_t gAlignment = 64, gPagesize = 4096, gAlloc_threshold_thp = size_t{2} * 1024 * 1024;
}  // namespace c10
