// Elementwise reductions of memory, for all dtypes that there are reductions of.
#pragma once
#include "taeda/distributed/process_group.h"

namespace taeda::distributed {

// A Type error where there is no such reduction of elements of that dtype.
void check_reduction(DType dtype, ReduceKind kind);
// into[i] = into[i] op from[i]; of Avg the sum. The half types go through float.
void combine(DType dtype, ReduceKind kind, void* into, const void* from, int64_t count);
// The last step of Avg.
void divide(DType dtype, void* values, int64_t count, int64_t by);

}  // namespace taeda::distributed
