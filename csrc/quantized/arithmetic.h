// Ops that run on the integers of quantised tensors, or on the numbers that these stand for.
#pragma once
#include "taeda/dispatch/op.h"

namespace taeda::quantized {

enum class Rule : uint8_t {
  None,
  Moves,     // elements to other places: on the integers, and the scale stays
  Computes,  // on the numbers; floats in the results are quantised as the first tensor is
  Asks,      // on the numbers; the results are not quantised
  Itself     // neither reads nor writes elements
};
// What serves an op, by its name without a namespace; overloads are served alike.
Rule rule_of(const Op& op);

// Runs the op as `rule` says: the arguments at the end of the stack give way to the results.
void run_by(Rule rule, const Op& op, KeySet dense_keys, Stack& stack);

}  // namespace taeda::quantized
