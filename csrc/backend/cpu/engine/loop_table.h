// What a compiled formula looks like from outside.
#pragma once
#include <cstdint>

namespace taeda::cpu {

// Element types that formulas are compiled for; all others are converted to one of them block by block.
// Bool has bytes for elements, like U8, and formulas of its own. BF16 is F32 over elements stored as bfloat16: formulas
// have it that take less time than converting block by block.
enum class Compute : uint8_t { F32, F64, I32, I64, U8, C64, C128, Bool, BF16 };
constexpr int kComputes = 9;

// operands: outputs, then inputs, each contiguous with n elements. scalars: values of the compute type.
using Loop = void (*)(char* const* operands, int64_t n, const void* scalars);

}  // namespace taeda::cpu
