// Derivatives of activations of which each order is made of the ops below.
#include "shape/ops/activation.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/unary.h"

namespace taeda::composite {

Tensor gelu_bend(const Tensor& self, std::string_view approximate) {
  Tensor square = ops::square(self);
  if (approximate != "tanh")
    return ops::mul(ops::rsub(square, Scalar(2)),
                    ops::mul(ops::exp(ops::mul(square, Scalar(-0.5))), Scalar(0.3989422804014327)));
  // With t = tanh(u): (1 - t^2) (u' - x t u'^2 + x u'' / 2).
  Tensor slope = ops::mul(ops::add(ops::mul(square, Scalar(0.134145)), Scalar(1)), Scalar(0.7978845608028654));
  Tensor scaled = ops::mul(ops::add(ops::mul(square, Scalar(0.044715)), Scalar(1)), Scalar(0.7978845608028654));
  Tensor t = ops::tanh(ops::mul(self, scaled)), bent = ops::mul(square, Scalar(0.10703222440890037));
  Tensor turned = ops::mul(slope, ops::rsub(ops::mul(ops::mul(self, t), slope), Scalar(1)));
  return ops::mul(ops::rsub(ops::square(t), Scalar(1)), ops::add(turned, bent));
}

}  // namespace taeda::composite
