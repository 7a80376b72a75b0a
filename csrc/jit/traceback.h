// Where a program was when it failed, as lines of its source.
#pragma once
#include "jit/code.h"

namespace taeda::jit {

// One frame: the file, the line, the function, and the line with a mark under the part that ran.
std::string frame_text(const Function& function, size_t instruction);

}  // namespace taeda::jit
