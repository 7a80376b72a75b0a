// The element loops of optimiser steps, by instruction set and element type.
#pragma once
#include "backend/cpu/engine/isa.h"
#include "taeda/core/dtype.h"

namespace taeda::cpu::optim {

constexpr int kMostOperands = 5;

// What is the same for all elements of a tensor. The gradient is multiplied by `factor` (the sign, and what undoes the
// scaling); `decay` is added to it in units of the parameter, `shrink` multiplies the parameter itself.
struct Step {
  double lr, factor = 1, decay = 0, shrink = 1;
  double beta1 = 0, beta2 = 0, eps = 0, root_correction = 1;  // Adam; beta1 is SGD's momentum
  double fresh = 1;                                           // SGD: the share of the gradient in the buffer
  double direct = 0;       // SGD: the share of the gradient in the update, 1 for Nesterov's
  double keep_scaled = 1;  // what the stored gradient is multiplied by
};

enum class Rule : uint8_t { Sgd, SgdFirst, SgdMomentum, Adam, AdamMax, Adagrad };
constexpr int kRules = 6;

// Elements from..to of: parameter, gradient, then the states of the rule.
using Loop = void (*)(const Step& step, void* const* operands, int64_t from, int64_t to);
struct Loops {
  Loop of[kRules][4];  // by type: float, double, Half, BFloat16
};

}  // namespace taeda::cpu::optim
