// The reduction engine: any dimensions, strides and dtypes, over the loops of reduce_table.h. The elements of an output
// are combined in a binary tree whose shape depends on sizes and strides only, so no bit depends on the threads.
#pragma once
#include <optional>

#include "backend/cpu/engine/isa.h"
#include "backend/cpu/engine/loops.h"
#include "backend/cpu/engine/reduce_table.h"
#include "shape/reduction.h"

namespace taeda::cpu {

struct Reduction {
  shape::ReductionRule rule;
  const ReduceLoops* const* loops[kIsas];  // [compute], null where there is none
};

// What the generated functions collect from an op's arguments.
using shape::Reduce;

void reduce(const Reduction& op, const Reduce& call, Tensor* results);
void reduce_out(const Reduction& op, const Reduce& call, std::initializer_list<const Tensor*> outs);

}  // namespace taeda::cpu
