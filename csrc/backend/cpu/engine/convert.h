// One strided loop per pair of element types: what feeds formulas that are compiled for few types, and copies.
#pragma once
#include "taeda/core/dtype.h"

namespace taeda::cpu {

// Converts n elements; steps are in bytes. Source and destination must not overlap unless they are the same elements.
using Convert = void (*)(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t n);
Convert converter(DType from, DType to);
// The same, where one of them is a dtype that is only stored.
Convert stored_converter(DType from, DType to);

// Writes n copies of the element of `size` bytes at `value`.
void fill_block(char* to, const char* value, int64_t size, int64_t n);

}  // namespace taeda::cpu
