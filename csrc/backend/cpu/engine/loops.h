// The pointwise engine: brings operands of any shape, strides and dtype to the contiguous loops of compute types that
// formulas are compiled to.
#pragma once
#include "backend/cpu/engine/isa.h"
#include "backend/cpu/engine/loop_table.h"
#include "shape/elementwise.h"
#include "taeda/core/parallel.h"

namespace taeda::cpu {

using shape::kMaxOperands;
using shape::kMaxScalars;
using shape::Operand;
using shape::Operands;

// A generated op: its rule and, by instruction set, the loops of its formula's variants ([variant][compute]).
struct Pointwise {
  shape::ElementwiseRule rule;
  const Loop* loops[kIsas];
};

// `variant` tells which of the formula's forms is meant (an absent optional argument, mode="tanh").
Tensor pointwise(const Pointwise& op, Operands in, std::span<const Scalar> scalars = {}, int variant = 0);
void pointwise_many(const Pointwise& op, Operands in, Tensor* results, std::span<const Scalar> scalars = {},
                    int variant = 0);
void pointwise_out(const Pointwise& op, Operands in, std::initializer_list<const Tensor*> outs, bool in_place,
                   std::span<const Scalar> scalars = {}, int variant = 0);

// --- for kernels written by hand
Compute compute_of(DType dtype);
DType dtype_of_compute(Compute compute);
void number_to(DType dtype, const Scalar& number, void* to);

// Any tensor operands at hand: results first. `wanted` is the dtype that the loop takes or gives for each.
struct Strided {
  char* data;
  const int64_t* strides;  // bytes, in the order of `sizes`
  DType dtype;
  DType wanted;
};
// Runs `loop` over all elements; sizes and strides innermost first.
void run_strided(Loop loop, const void* scalars, IntList sizes, std::span<const Strided> operands, int results);

}  // namespace taeda::cpu
