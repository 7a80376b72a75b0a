// Ops of other libraries that have kernels for data and no derivative, called with tensors that want a gradient.
#pragma once
#include "taeda/dispatch/op.h"

namespace taeda::autograd {

// What such a call does: nothing; leads its results to a node that warns and passes no gradient on; raises.
enum class Undifferentiated : uint8_t { Nothing, Warn, Error };
TAEDA_API Undifferentiated undifferentiated_mode();
TAEDA_API void set_undifferentiated_mode(Undifferentiated mode);

// A kernel under Autograd for an op that is known to have no derivative: a backward pass through it raises.
TAEDA_API void call_without_derivative(const Op& op, KeySet keys, Stack& stack);
// A kernel under ADInplaceOrView: counts the writes that the schema announces.
TAEDA_API void call_counting_writes(const Op& op, KeySet keys, Stack& stack);

}  // namespace taeda::autograd
