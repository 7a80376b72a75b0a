// Gradients of pointwise ops in one pass: what a node tries before it calls the ops that its derivative is made of.
#pragma once
#include "backend/cpu/engine/loops.h"

namespace taeda::cpu {

// Makes `results` with one kernel and returns true where calls of ops would go straight to real loops on this backend.
// False, with nothing done, while grad mode is on (the gradient's own history consists of ops), for complex operands,
// other backends and layouts, and while anything else would see the calls: a mode, a subclass, a transform, a recorder.
bool fused(const Pointwise& op, std::initializer_list<Operand> in, std::initializer_list<Tensor*> results,
           std::initializer_list<Scalar> scalars = {});

}  // namespace taeda::cpu
