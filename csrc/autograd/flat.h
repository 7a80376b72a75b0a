// Gradients that do not change with the input they are for, though that of a like op would: of pooling, of leaky_relu.
// The declaration says so (`flat`), and a program that differentiates them again gets zeros.
#pragma once
#include "taeda/autograd/record.h"

namespace taeda::autograd {

// While the gradient of input i itself is recorded: ties it to that input, for which its derivative is zero.
void tie_to_input(const Node& node, size_t i, Tensor& gradient);

}  // namespace taeda::autograd
