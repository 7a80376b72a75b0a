// What PyTorch's modules share their classes through; here classes are the process's.
#pragma once

namespace torch::jit {
struct CompilationUnit {};
}  // namespace torch::jit
