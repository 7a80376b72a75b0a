#include "shape/operands.h"

namespace taeda::shape {

namespace {

Category category_of(const Operand& operand) {
  return operand.tensor() ? category(operand.tensor()->dtype()) : operand.number().category();
}

}  // namespace

void check_alpha_of(Operands in, const Scalar& alpha) {
  Category result = Category::Bool;
  for (const Operand& operand : in) result = std::max(result, category_of(operand));
  TAEDA_CHECK(alpha.kind() != Scalar::Kind::Bool || result == Category::Bool,
              "alpha is a bool, which is for bool tensors only");
  TAEDA_CHECK(alpha.category() <= std::max(result, Category::Integral), "alpha is ", alpha, ", but the result holds ",
              result <= Category::Integral ? "whole" : "real", " numbers");
}

void check_subtraction(Operands in, const Scalar& alpha) {
  check_alpha(in, alpha);
  for (const Operand& operand : in)
    TAEDA_CHECK(category_of(operand) != Category::Bool,
                "truth values cannot be subtracted; for a mask say ~mask, ^ or logical_xor");
}

void check_power(Operands in) {
  if (in[1].tensor()) return;
  TAEDA_CHECK(category_of(in[0]) > Category::Integral || !in[1].number().is_integral() || in[1].number().as_int() >= 0,
              "whole numbers cannot be raised to a negative whole power; got exponent ", in[1].number());
}

void check_quotient(Operands in, const Scalar&) {
  TAEDA_CHECK(std::max(category_of(in[1]), category_of(in[2])) > Category::Integral,
              "tensor1 and tensor2 both hold whole numbers (", in[1].tensor()->dtype(), ", ", in[2].tensor()->dtype(),
              "); convert one of them to a floating-point dtype first");
}

void check_limits(Operands in, const Scalar& min_val, const Scalar& max_val) {
  TAEDA_CHECK(in[0].tensor()->dtype() != DType::UInt8 || (min_val.as_double() >= 0 && max_val.as_double() >= 0),
              "the limits of uint8 numbers must not be negative; got ", min_val, " and ", max_val);
}

void check_step(Operands, const Scalar& lambd) {
  TAEDA_CHECK(lambd.as_double() >= 0, "lambd must not be negative; got ", lambd);
}

void check_order(Operands, int64_t n) { TAEDA_CHECK(n >= 0, "the order n must not be negative; got ", n); }

}  // namespace taeda::shape
