// Where a program is, as lines of its source.
#pragma once
#include "taeda/core/error.h"

#include "jit/code.h"

namespace taeda::jit {

// One frame: the file, the line, the function, and the line with a mark under the part that ran.
std::string frame_text(const Function& function, size_t instruction);
// The file, the line and the function; no line where nobody knows it. The texts are the function's.
SourceLocation place_of(const Function& function, size_t instruction);

}  // namespace taeda::jit
