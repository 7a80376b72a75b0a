// Dropout in one pass: the mask by the generator, then the input by the mask.

#include "backend/cpu/ops/dropout.h"
#include "backend/cpu/ops/random.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

void native_dropout(const Tensor& input, double p, std::optional<bool> train, const Tensor& out, const Tensor& mask) {
  bool is_training = train.value_or(true);
  if (is_training)
    bernoulli_(mask, 1 - p, {});
  else
    ops::fill_(mask, Scalar(true));
  native_dropout_backward_out(input, mask, !is_training ? 1 : p == 1 ? 0 : 1 / (1 - p), out);
}

}  // namespace taeda::cpu
