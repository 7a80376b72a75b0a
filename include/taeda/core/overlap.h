// Which elements share memory: within one tensor, and between what is written and what is read.
#pragma once
#include "taeda/core/tensor.h"

namespace taeda {

enum class InternalOverlap : uint8_t { No, Yes, Unknown };
TAEDA_API InternalOverlap internal_overlap(const Tensor& t);

// Full: element for element the same places. Unknown where one of the tensors leaves gaps or overlaps itself.
enum class Overlap : uint8_t { Full, Partial, None, Unknown };
TAEDA_API Overlap overlap_of(const Tensor& a, const Tensor& b);

// RuntimeError if two elements of `out` share memory.
TAEDA_API void check_no_internal_overlap(const Tensor& out);
// RuntimeError if writing `out` while reading `in` would read what was written already.
TAEDA_API void check_overlap(const Tensor& out, const Tensor& in);

}  // namespace taeda
