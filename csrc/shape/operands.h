// What an elementwise op asks of its operands and numbers besides what its dtype rule says: the declarations' `check`.
#pragma once
#include "shape/elementwise.h"

namespace taeda::shape {

// RuntimeError for an alpha of a higher category than the result's, or a bool one for numbers.
void check_alpha_of(Operands in, const Scalar& alpha);
inline void check_alpha(Operands in, const Scalar& alpha) {
  if (alpha.kind() != Scalar::Kind::Int) check_alpha_of(in, alpha);
}
// The same, and RuntimeError for a bool operand.
void check_subtraction(Operands in, const Scalar& alpha);
// RuntimeError for whole numbers to the power of a negative whole number, unless both are tensors.
void check_power(Operands in);
// RuntimeError where both tensors of a quotient hold whole numbers.
void check_quotient(Operands in, const Scalar& value);
// RuntimeError for a negative limit of unsigned numbers.
void check_limits(Operands in, const Scalar& min_val, const Scalar& max_val);
// RuntimeError for a step that is negative or NaN.
void check_step(Operands in, const Scalar& lambd);
// RuntimeError for a negative order of a derivative.
void check_order(Operands in, int64_t n);

}  // namespace taeda::shape
