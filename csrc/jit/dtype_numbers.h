// In programs dtypes, layouts and memory formats are ints: PyTorch's numbers, as its archives hold them.
#pragma once
#include "taeda/dispatch/op.h"

namespace taeda::jit {

TAEDA_API int64_t number_of(DType dtype);
TAEDA_API DType dtype_numbered(int64_t number);  // ValueError if there is none
TAEDA_API int64_t number_of(Layout layout);
TAEDA_API Layout layout_numbered(int64_t number);
inline int64_t number_of(MemoryFormat format) { return static_cast<int64_t>(format); }
TAEDA_API MemoryFormat memory_format_numbered(int64_t number);

// What an op takes for the int that a program holds; other values stay.
TAEDA_API void to_argument(Value& value, ArgType type);
// What a program holds for what an op gave.
TAEDA_API void to_program(Value& value);

}  // namespace taeda::jit
